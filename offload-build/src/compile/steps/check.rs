//! Verification of each image: the expected kernels are there, and no symbol is undefined.

use std::collections::{BTreeMap, BTreeSet};

use object::read::archive::ArchiveFile;
use object::read::elf::ElfFile64;
use object::read::{ExportTarget, NameOrOrdinal, Object, ObjectSection, ObjectSymbol};
use object::{BinaryFormat, LittleEndian};
use offload_format::pack::KernelInfo;
use offload_format::section::{READS_FAILURES_PREFIX, RUN_PREFIX};
use offload_format::{AmdArch, Target};
use offload_images::describe::{self, Description};
use offload_images::ptx::Ptx;
use offload_images::{code_object as code_object_format, cubin as cubin_format, zebin};

use crate::compile::steps::action::{expect_kernels, unresolved};
use crate::error::{Error, Result};
use crate::toolchain::remedy;

/// LLVM bitcode.
pub(crate) fn bitcode(bytes: &[u8]) -> Result<()> {
    starts_with(bytes, b"BC\xC0\xDE", "LLVM bitcode")
}

pub(crate) fn ir_text(bytes: &[u8]) -> Result<()> {
    starts_with(bytes, b"; ModuleID", "LLVM IR")?;
    if bytes.ends_with(b"\n") { Ok(()) } else { Err(Error::new("it is truncated")) }
}

pub(crate) fn elf(bytes: &[u8]) -> Result<()> {
    starts_with(bytes, b"\x7fELF", "an ELF object")
}

/// An object for another system than Linux.
pub(crate) fn object_for_cpu(bytes: &[u8]) -> Result<()> {
    let file = parse_for_cpu(bytes)?;
    match file.format() {
        BinaryFormat::Coff | BinaryFormat::MachO => Ok(()),
        format => Err(Error::new(format!("it is of format {format:?}"))),
    }
}

fn starts_with(bytes: &[u8], magic: &[u8], what: &str) -> Result<()> {
    if bytes.starts_with(magic) { Ok(()) } else { Err(Error::new(format!("it is not {what}"))) }
}

/// An Intel native image, or an archive of them, with these kernels.
pub(crate) fn intel(bytes: &[u8], kernels: &[&str]) -> Result<()> {
    if !bytes.starts_with(b"!<arch>\n") {
        return expect_zebin(bytes, kernels);
    }
    let mut images = 0;
    for member in ArchiveFile::parse(bytes).map_err(broken_archive)?.members() {
        let data = member.map_err(broken_archive)?.data(bytes).map_err(broken_archive)?;
        // Padding members are spaces.
        if data.starts_with(b"\x7fELF") {
            expect_zebin(data, kernels)?;
            images += 1;
        }
    }
    if images == 0 { Err(Error::new("its archive holds no image")) } else { Ok(()) }
}

fn broken_archive(error: object::read::Error) -> Error {
    Error::new(format!("its archive is broken: {error}"))
}

fn expect_zebin(bytes: &[u8], kernels: &[&str]) -> Result<()> {
    let names = zebin::kernels(bytes)?;
    expect_kernels(
        names.iter().map(String::as_str).filter(|name| !name.starts_with(READS_FAILURES_PREFIX)),
        kernels,
    )
}

/// PTX with these kernels that calls nothing but what the driver has, and what is `left` for it to link.
pub(crate) fn ptx(bytes: &[u8], kernels: &[&str], left: &[&str]) -> Result<()> {
    let module = Ptx::parse(bytes)?;
    expect_kernels(module.kernels().iter().map(|kernel| kernel.name), kernels)?;
    match module.unresolved().find(|name| !left.contains(name)) {
        None => Ok(()),
        Some(name) if name.starts_with("__nv_") => {
            let hint = format!("NVIDIA's libdevice has it, and is not installed: {}", remedy::libdevice());
            Err(unresolved(name, "NVIDIA's libdevice").with_hint(hint))
        }
        Some(name) => Err(unresolved(name, "libclc")),
    }
}

/// A cubin with these kernels.
pub(crate) fn cubin(bytes: &[u8], kernels: &[&str]) -> Result<()> {
    let cubin = cubin_format::info(bytes)?;
    expect_kernels(cubin.kernels.iter().map(|kernel| kernel.name.as_str()), kernels)
}

/// A relocatable AMD object that needs nothing else.
pub(crate) fn amd_object(bytes: &[u8]) -> Result<()> {
    let file = parse_elf(bytes)?;
    let mut undefined =
        file.symbols().filter(|symbol| symbol.is_undefined()).filter_map(|symbol| symbol.name().ok());
    match undefined.find(|name| !name.is_empty()) {
        None => Ok(()),
        Some(name) => Err(unresolved(name, "libclc")),
    }
}

/// An AMD code object for `processor` with these kernels.
pub(crate) fn code_object(bytes: &[u8], processor: &AmdArch, kernels: &[&str]) -> Result<()> {
    let object = code_object_format::info(bytes)?;
    if object.target_id != processor.to_string() {
        return Err(Error::new(format!("it is for `{}`", object.target_id)));
    }
    let launchable = object.kernels.iter().filter(|kernel| kernel.has_descriptor);
    expect_kernels(launchable.map(|kernel| kernel.name.as_str()), kernels)?;
    match object.undefined.first() {
        None => Ok(()),
        Some(name) => Err(unresolved(name, "libclc")),
    }
}

/// Reads an image for `target`; one with undefined functions or without kernels is refused.
pub(crate) fn described(target: &Target, bytes: &[u8]) -> Result<Description> {
    let (described, what) = match target {
        Target::Spirv64(_) => (describe::spirv(bytes)?, "the SPIR-V module"),
        Target::Nvptx(_) => (describe::ptx(bytes)?, "the PTX module"),
        Target::Cubin(_) => (describe_cubin(bytes)?, "the cubin"),
        Target::Amdgcn(_) => (describe::code_object(bytes)?, "the code object"),
        Target::Intel(_) => (describe::zebin(bytes)?, "the native image"),
        other => return Err(Error::new(format!("images of `{other}` cannot be read"))),
    };
    if let Some(name) = described.undefined.first() {
        return Err(Error::new(format!("{what} leaves the function `{name}` undefined")));
    }
    if described.kernels.is_empty() {
        return Err(Error::new("the image has no kernel"));
    }
    Ok(described)
}

fn describe_cubin(bytes: &[u8]) -> Result<Description> {
    let described = describe::cubin(bytes)?;
    if described.undefined.is_empty() && cubin_format::info(bytes)?.relocatable {
        return Err(Error::new("the cubin is not linked").with_hint("compile it without `-c` or `-rdc=true`"));
    }
    Ok(described)
}

/// `kernel`, as the source describes it, with what an image tells of registers and memory.
pub(crate) fn with_resources(kernel: &KernelInfo, resources: KernelInfo) -> KernelInfo {
    let mut info = resources;
    info.name = kernel.name.clone();
    info.args = kernel.args.clone();
    info.required_work_group = kernel.required_work_group;
    info.has_barrier = kernel.has_barrier;
    info
}

/// A shared object with an entry for each kernel that needs nothing but the C library.
pub(crate) fn host(bytes: &[u8], kernels: &[&str]) -> Result<()> {
    let file = parse_for_cpu(bytes)?;
    let exports = exports(&file)?;
    expect_kernels(exports.iter().filter_map(|export| export.name.strip_prefix(RUN_PREFIX)), kernels)?;
    // The linkers of Windows and macOS resolve all names.
    if file.format() != BinaryFormat::Elf {
        return Ok(());
    }
    let undefined = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    let mut names = undefined.filter_map(|symbol| symbol.name().ok()).filter(|name| !name.is_empty());
    match names.find(|name| !C_LIBRARY.contains(name)) {
        None => Ok(()),
        Some(name) => Err(unresolved(name, "PoCL's function library")),
    }
}

/// What an object leaves to other ones.
pub(crate) fn undefined_symbols(bytes: &[u8]) -> Result<BTreeSet<String>> {
    let file = parse_for_cpu(bytes)?;
    let undefined = file.symbols().filter(|symbol| symbol.is_undefined());
    let mut names = BTreeSet::new();
    names.extend(
        undefined.filter_map(|symbol| symbol.name().ok().map(|name| c_name(&file, name).to_string())),
    );
    Ok(names)
}

/// The name that C has for a symbol: macOS puts a `_` before it.
fn c_name<'n>(file: &object::File<'_>, name: &'n str) -> &'n str {
    match file.format() {
        BinaryFormat::MachO => name.strip_prefix('_').unwrap_or(name),
        _ => name,
    }
}

/// What code generation may call of the C library and its mathematics, beside what printing and asserting use.
pub(crate) const C_LIBRARY: [&str; 56] = [
    "_setjmp",
    "_longjmp",
    "__tls_get_addr",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "strlen",
    // Of a sine and a cosine of one angle.
    "sincos",
    "sincosf",
    "snprintf",
    "fma",
    "fmaf",
    "fmax",
    "fmaxf",
    "fmin",
    "fminf",
    "frexp",
    "frexpf",
    "floor",
    "floorf",
    "ceil",
    "ceilf",
    "trunc",
    "truncf",
    "rint",
    "rintf",
    "round",
    "roundf",
    "roundeven",
    "roundevenf",
    "nearbyint",
    "nearbyintf",
    "sqrt",
    "sqrtf",
    "fmod",
    "fmodf",
    "exp",
    "expf",
    "exp2",
    "exp2f",
    "log",
    "logf",
    "log2",
    "log2f",
    "log10",
    "log10f",
    "pow",
    "powf",
    "sin",
    "sinf",
    "cos",
    "cosf",
    "ldexp",
    "ldexpf",
    "fabs",
];

/// For each kernel the sizes of its arguments, from the table that the wrapper exports.
pub(crate) fn host_argument_sizes(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u32>>> {
    let file = parse_for_cpu(bytes)?;
    let mut sizes = BTreeMap::new();
    for export in exports(&file)? {
        let Some(kernel) = export.name.strip_prefix("__offload_args_") else { continue };
        let numbers = argument_table(&file, export.address);
        let numbers = numbers
            .ok_or_else(|| Error::new(format!("the argument table of kernel `{kernel}` is missing")))?;
        sizes.insert(kernel.to_string(), numbers);
    }
    Ok(sizes)
}

/// A symbol that others see.
struct Exported {
    name: String,
    address: u64,
}

fn exports(file: &object::File<'_>) -> Result<Vec<Exported>> {
    let mut found = Vec::new();
    for export in file.exports().map_err(broken_for_cpu)? {
        let export = export.map_err(broken_for_cpu)?;
        let NameOrOrdinal::Name(name) = export.name() else { continue };
        let ExportTarget::Address { address } = export.target() else { continue };
        let name = String::from_utf8_lossy(name);
        found.push(Exported { name: c_name(file, &name).to_string(), address });
    }
    Ok(found)
}

/// The numbers of the table at `address`, before which their count stands.
fn argument_table(file: &object::File<'_>, address: u64) -> Option<Vec<u32>> {
    let table = file.sections().find_map(|section| {
        let count = section.data_range(address, 4).ok()??;
        let count = u64::from(u32::from_le_bytes(count.try_into().ok()?));
        section.data_range(address, count.checked_add(1)?.checked_mul(4)?).ok()?
    })?;
    let mut numbers = Vec::new();
    for word in table.chunks_exact(4).skip(1) {
        numbers.push(u32::from_le_bytes(word.try_into().ok()?));
    }
    Some(numbers)
}

/// Code for AMD GPUs has 64 bits and is little-endian.
fn parse_elf(bytes: &[u8]) -> Result<ElfFile64<'_, LittleEndian>> {
    ElfFile64::parse(bytes).map_err(|error| Error::new(format!("it is not an ELF library: {error}")))
}

/// An object or a library for a CPU: ELF, COFF and PE for Windows, or Mach-O.
fn parse_for_cpu(bytes: &[u8]) -> Result<object::File<'_>> {
    object::File::parse(bytes).map_err(broken_for_cpu)
}

fn broken_for_cpu(error: object::read::Error) -> Error {
    Error::new(format!("it is neither an object nor a library: {error}"))
}
