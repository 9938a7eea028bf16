//! The kernels of a cubin, put together from its sections, symbols and attributes.

use std::collections::{BTreeMap, BTreeSet};

use object::LittleEndian as LE;
use object::elf::ET_REL;
use object::read::elf::{FileHeader, SectionHeader, Sym};

use super::attribute::{self, Attribute, Data};
use crate::elf::{Elf, Symbols};
use offload_format::Error;

/// `EIATTR_MAX_THREADS`.
const MAX_THREADS: u8 = 0x05;
/// `EIATTR_REQNTID`.
const REQNTID: u8 = 0x10;
/// `EIATTR_FRAME_SIZE`.
const FRAME_SIZE: u8 = 0x11;
/// `EIATTR_MIN_STACK_SIZE`.
const MIN_STACK_SIZE: u8 = 0x12;
/// The stack of a kernel that recurses.
const UNKNOWN: u32 = u32::MAX;
/// `EIATTR_KPARAM_INFO`.
const KPARAM_INFO: u8 = 0x17;
/// `EIATTR_CBANK_PARAM_SIZE`.
const CBANK_PARAM_SIZE: u8 = 0x19;
/// `EIATTR_REGCOUNT`.
const REGCOUNT: u8 = 0x2f;
/// `EIATTR_CUDA_API_VERSION`.
const CUDA_API_VERSION: u8 = 0x37;
/// `STO_CUDA_ENTRY` in `st_other`: a kernel and not a function that kernels call.
const ENTRY: u8 = 0x10;
/// What the system keeps of shared memory in each block, in bytes; "Shared Memory" of
/// <https://docs.nvidia.com/cuda/hopper-tuning-guide/index.html>.
const RESERVED: u64 = 1024;
/// The symbol of a cubin for an architecture that reserves; the section `.nv.shared.reserved.0` is lost by linking.
const RESERVES: &str = ".nv.reservedSmem.offset0";

/// What a cubin says about a kernel. `None`: this version of the toolkit does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CubinKernel {
    /// The kernel.
    pub name: String,
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Shared memory in bytes that the kernel declares, as `ptxas -v` prints it; see
    /// [`CubinKernel::reserved_shared_memory`].
    pub shared_memory: u64,
    /// Shared memory in bytes that the system keeps for itself in each block (`sm_90` and later), 0 before linking;
    /// `cuobjdump` adds it to the kernel's own.
    pub reserved_shared_memory: u64,
    /// Stack frame in bytes of a thread, without what called functions add: arrays and spills.
    pub stack_frame: Option<u64>,
    /// Stack in bytes of a thread with that of called functions; none if the kernel recurses.
    pub stack_size: Option<u64>,
    /// Size of constant bank 0 in bytes: driver's data and parameters.
    pub constant_bank: Option<u64>,
    /// The parameters, in order.
    pub parameters: Option<Vec<Parameter>>,
    /// `.maxntid`: the most threads that a block may have in each dimension.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the required size of a block.
    pub required_work_group: Option<[u32; 3]>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Where it lies, in bytes from the first; `0xffff` for textures, surfaces and samplers.
    pub offset: u64,
    /// Its size in bytes, 0 for textures, surfaces and samplers.
    pub size: u64,
}

/// The kernels, in the order of their code, and the toolkit's version times ten.
pub(super) fn read(file: &Elf<'_>, symbols: &Symbols<'_>) -> Result<(Vec<CubinKernel>, Option<u32>), Error> {
    let functions = functions(file, symbols)?;
    let reserves = symbols.named().any(|symbol| symbol.name == RESERVES) && !is_relocatable(file);
    let reserved = if reserves { RESERVED } else { 0 };
    let mut toolkit = None;
    let mut kernels = Vec::new();
    for name in entries(file, symbols) {
        let used = functions.get(name).copied().unwrap_or_default();
        let mut kernel = CubinKernel {
            name: name.to_string(),
            registers: used.registers,
            stack_frame: used.frame,
            stack_size: used.stack,
            constant_bank: size(file, ".nv.constant0.", name),
            ..CubinKernel::default()
        };
        let shared = size(file, ".nv.shared.", name).unwrap_or(0);
        // The section of a kernel counts what is reserved; one that has none needs no shared memory at all.
        kernel.reserved_shared_memory = reserved.min(shared);
        kernel.shared_memory = shared.saturating_sub(reserved);
        toolkit = toolkit.max(attributes(file, &mut kernel)?);
        kernels.push(kernel);
    }
    Ok((kernels, toolkit))
}

/// The names of the code sections that hold a kernel.
fn entries<'a>(file: &Elf<'a>, symbols: &Symbols<'a>) -> Vec<&'a str> {
    let marked = symbols.named().filter(|symbol| symbol.entry.st_other().0 & ENTRY != 0);
    let marked: BTreeSet<&str> = marked.map(|symbol| symbol.name).collect();
    let code = file.sections.iter().filter_map(|section| section.name.strip_prefix(".text."));
    code.filter(|name| marked.contains(name)).collect()
}

#[derive(Clone, Copy, Default)]
struct Used {
    registers: Option<u32>,
    frame: Option<u64>,
    stack: Option<u64>,
}

/// The attributes of `.nv.info`, by function.
fn functions<'a>(file: &Elf<'a>, symbols: &Symbols<'a>) -> Result<BTreeMap<&'a str, Used>, Error> {
    let mut functions = BTreeMap::<&str, Used>::new();
    let section = file.section(".nv.info").map_or(&[][..], |section| section.data);
    for attribute in attribute::records(section) {
        let attribute = attribute?;
        if !matches!(attribute.number, REGCOUNT | FRAME_SIZE | MIN_STACK_SIZE) {
            continue;
        }
        let (index, value) = (attribute.word(0)?, attribute.word(1)?);
        let malformed = || Error::invalid("the symbol of an attribute of the cubin", index.into());
        let used = functions.entry(symbols.name_at(index).ok_or_else(malformed)?).or_default();
        match attribute.number {
            REGCOUNT => used.registers = Some(value),
            FRAME_SIZE => used.frame = Some(value.into()),
            _ => used.stack = (value != UNKNOWN).then_some(value.into()),
        }
    }
    Ok(functions)
}

/// Reads `.nv.info.<kernel>`; the result is the toolkit's version times ten.
fn attributes(file: &Elf<'_>, kernel: &mut CubinKernel) -> Result<Option<u32>, Error> {
    let Some(section) = file.section(&format!(".nv.info.{}", kernel.name)) else { return Ok(None) };
    let mut toolkit = None;
    let mut bytes = 0;
    let mut parameters = BTreeMap::new();
    for attribute in attribute::records(section.data) {
        let attribute = attribute?;
        match (attribute.number, &attribute.data) {
            (MAX_THREADS, _) => kernel.max_threads = Some(attribute.three()?),
            (REQNTID, _) => kernel.required_work_group = Some(attribute.three()?),
            (CUDA_API_VERSION, _) => toolkit = Some(attribute.word(0)?),
            (CBANK_PARAM_SIZE, Data::Half(size)) => bytes = *size,
            (KPARAM_INFO, _) => {
                let (ordinal, parameter) = parameter(&attribute)?;
                parameters.insert(ordinal, parameter);
            }
            _ => {}
        }
    }
    // A later toolkit may describe parameters in another way.
    let described = !parameters.is_empty() || bytes == 0;
    kernel.parameters = described.then(|| parameters.into_values().collect());
    Ok(toolkit)
}

/// Index, ordinal and offset; then bits of which the upper 14 are the size.
fn parameter(attribute: &Attribute<'_>) -> Result<(u16, Parameter), Error> {
    let [low, high, offset_low, offset_high] = attribute.word(1)?.to_le_bytes();
    let offset = u16::from_le_bytes([offset_low, offset_high]).into();
    let parameter = Parameter { offset, size: u64::from(attribute.word(2)? >> 18) };
    Ok((u16::from_le_bytes([low, high]), parameter))
}

/// The size in bytes of the section `prefix` + `kernel`.
fn size(file: &Elf<'_>, prefix: &str, kernel: &str) -> Option<u64> {
    Some(file.section(&format!("{prefix}{kernel}"))?.header.sh_size(LE))
}

/// Whether the cubin was made for linking.
pub(super) fn is_relocatable(file: &Elf<'_>) -> bool {
    file.header.e_type(LE) == ET_REL
}
