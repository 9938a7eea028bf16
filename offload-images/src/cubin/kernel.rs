//! Kernels of a cubin, from its sections, symbols and attributes.

use std::collections::{BTreeMap, BTreeSet};

use object::LittleEndian as LE;
use object::elf::ET_REL;
use object::read::elf::{FileHeader, SectionHeader, Sym};

use super::attribute::{self, Attribute, AttributeValue};
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
/// The stack size of a recursive kernel.
const UNKNOWN_STACK_SIZE: u32 = u32::MAX;
/// `EIATTR_KPARAM_INFO`.
const KPARAM_INFO: u8 = 0x17;
/// `EIATTR_CBANK_PARAM_SIZE`.
const CBANK_PARAM_SIZE: u8 = 0x19;
/// `EIATTR_REGCOUNT`.
const REGCOUNT: u8 = 0x2f;
/// `EIATTR_CUDA_API_VERSION`.
const CUDA_API_VERSION: u8 = 0x37;
/// `STO_CUDA_ENTRY` in `st_other`: a kernel, not a device function.
const STO_ENTRY: u8 = 0x10;
/// Shared memory that the system reserves in each block, in bytes; "Shared Memory" of
/// <https://docs.nvidia.com/cuda/hopper-tuning-guide/index.html>.
const RESERVED_SHARED_MEMORY: u64 = 1024;
/// The symbol that marks a cubin for an architecture with reserved shared memory: linking drops the section
/// `.nv.shared.reserved.0`.
const RESERVED_SYMBOL: &str = ".nv.reservedSmem.offset0";

/// The resources of a kernel. A field is `None` if the toolkit that wrote the cubin does not record it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CubinKernel {
    /// The name of the kernel.
    pub name: String,
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Shared memory in bytes that the kernel declares, as `ptxas -v` prints it; see
    /// [`CubinKernel::reserved_shared_memory`].
    pub shared_memory: u64,
    /// Shared memory in bytes that the system reserves in each block (`sm_90` and later), 0 before linking; `cuobjdump`
    /// adds it to the kernel's own.
    pub reserved_shared_memory: u64,
    /// Stack frame in bytes of a thread, for arrays and spills, without called functions.
    pub stack_frame: Option<u64>,
    /// Stack in bytes of a thread, called functions included; `None` if the kernel is recursive.
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
    /// Its offset in bytes from the first parameter; `0xffff` for textures, surfaces and samplers.
    pub offset: u64,
    /// Its size in bytes, 0 for textures, surfaces and samplers.
    pub size: u64,
}

/// The kernels, in the order of their code, and the toolkit's version times ten.
pub(super) fn read(file: &Elf<'_>, symbols: &Symbols<'_>) -> Result<(Vec<CubinKernel>, Option<u32>), Error> {
    let functions = functions(file, symbols)?;
    let has_reserved = symbols.named().any(|symbol| symbol.name == RESERVED_SYMBOL) && !is_relocatable(file);
    let reserved = if has_reserved { RESERVED_SHARED_MEMORY } else { 0 };
    let mut toolkit = None;
    let mut kernels = Vec::new();
    for name in entries(file, symbols) {
        let resources = functions.get(name).copied().unwrap_or_default();
        let mut kernel = CubinKernel {
            name: name.to_string(),
            registers: resources.registers,
            stack_frame: resources.frame,
            stack_size: resources.stack,
            constant_bank: size(file, ".nv.constant0.", name),
            ..CubinKernel::default()
        };
        let shared = size(file, ".nv.shared.", name).unwrap_or(0);
        // The section includes the reserved bytes; a kernel without shared memory has no section.
        kernel.reserved_shared_memory = reserved.min(shared);
        kernel.shared_memory = shared.saturating_sub(reserved);
        toolkit = toolkit.max(attributes(file, &mut kernel)?);
        kernels.push(kernel);
    }
    Ok((kernels, toolkit))
}

/// The names of the code sections that hold a kernel.
fn entries<'a>(file: &Elf<'a>, symbols: &Symbols<'a>) -> Vec<&'a str> {
    let mut kernels = BTreeSet::new();
    for symbol in symbols.named() {
        if symbol.entry.st_other().0 & STO_ENTRY != 0 {
            kernels.insert(symbol.name);
        }
    }
    let code = file.sections.iter().filter_map(|section| section.name.strip_prefix(".text."));
    code.filter(|name| kernels.contains(name)).collect()
}

#[derive(Clone, Copy, Default)]
struct FunctionResources {
    registers: Option<u32>,
    frame: Option<u64>,
    stack: Option<u64>,
}

/// The attributes of `.nv.info`, by function.
fn functions<'a>(
    file: &Elf<'a>,
    symbols: &Symbols<'a>,
) -> Result<BTreeMap<&'a str, FunctionResources>, Error> {
    let mut functions = BTreeMap::<&str, FunctionResources>::new();
    let section = file.section(".nv.info").map_or(&[][..], |section| section.data);
    for attribute in attribute::records(section) {
        let attribute = attribute?;
        if !matches!(attribute.number, REGCOUNT | FRAME_SIZE | MIN_STACK_SIZE) {
            continue;
        }
        let index = attribute.word(0)?;
        let value = attribute.word(1)?;
        let name = symbols
            .name_at(index)
            .ok_or_else(|| Error::invalid("the symbol of an attribute of the cubin", index.into()))?;
        let resources = functions.entry(name).or_default();
        match attribute.number {
            REGCOUNT => resources.registers = Some(value),
            FRAME_SIZE => resources.frame = Some(value.into()),
            _ => resources.stack = (value != UNKNOWN_STACK_SIZE).then_some(value.into()),
        }
    }
    Ok(functions)
}

/// Reads `.nv.info.<kernel>` into `kernel`, and returns the toolkit's version times ten.
fn attributes(file: &Elf<'_>, kernel: &mut CubinKernel) -> Result<Option<u32>, Error> {
    let Some(section) = file.section(&format!(".nv.info.{}", kernel.name)) else { return Ok(None) };
    let mut toolkit = None;
    let mut bytes = 0;
    let mut parameters = BTreeMap::new();
    for attribute in attribute::records(section.data) {
        let attribute = attribute?;
        match (attribute.number, &attribute.value) {
            (MAX_THREADS, _) => kernel.max_threads = Some(attribute.three()?),
            (REQNTID, _) => kernel.required_work_group = Some(attribute.three()?),
            (CUDA_API_VERSION, _) => toolkit = Some(attribute.word(0)?),
            (CBANK_PARAM_SIZE, AttributeValue::Half(size)) => bytes = *size,
            (KPARAM_INFO, _) => {
                let (ordinal, parameter) = parameter(&attribute)?;
                parameters.insert(ordinal, parameter);
            }
            _ => {}
        }
    }
    // A later toolkit may record parameters in another attribute.
    let described = !parameters.is_empty() || bytes == 0;
    kernel.parameters = described.then(|| parameters.into_values().collect());
    Ok(toolkit)
}

/// Decodes `EIATTR_KPARAM_INFO`: index, ordinal, offset, and bits of which the upper 14 are the size.
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

/// Whether the cubin has to be linked.
pub(super) fn is_relocatable(file: &Elf<'_>) -> bool {
    file.header.e_type(LE) == ET_REL
}
