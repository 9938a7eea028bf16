//! AMD code objects: their kernels and the resources of each.
//!
//! A code object is an ELF file with notes in `MessagePack`; both are described in
//! <https://llvm.org/docs/AMDGPUUsage.html#code-object>. Versions 3 to 6 are read.
//!
//! ```
//! use offload_images::code_object;
//!
//! let error = code_object::info(b"not an image").unwrap_err();
//! assert_eq!(error.to_string(), "this is not a code object: it starts with other bytes");
//! ```

mod argument;
mod kernel;
mod metadata;
mod target_id;

use std::collections::BTreeSet;

use object::LittleEndian as LE;
use object::elf::{EM_AMDGPU, SHT_DYNSYM, SHT_SYMTAB};
use object::read::elf::{FileHeader, Sym};

pub use self::argument::{AddressSpace, Argument, ValueKind};
pub use self::kernel::CodeObjectKernel;
use crate::elf::{Elf, Format};
use offload_format::Error;

/// The target, kernels and undefined symbols of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeObject {
    /// The target ID (<https://llvm.org/docs/AMDGPUUsage.html#target-id>): `gfx90a:sramecc+:xnack-`.
    pub target_id: String,
    /// The version of a generic processor as `gfx11-generic`: a device runs it if it supports this one or a later.
    pub generic_version: Option<u8>,
    /// The version of the code object: 3 to 6.
    pub version: u8,
    /// The kernels, in the order of the notes.
    pub kernels: Vec<CodeObjectKernel>,
    /// Symbols that are used and not defined: a code object made for execution has none.
    pub undefined: Vec<String>,
}

/// Reads the target and the kernels of `image`.
///
/// # Errors
/// [`Magic`](offload_format::ErrorKind::Magic) if it is no code object, [`Version`](offload_format::ErrorKind::Version) for a version that
/// this release does not know, [`Unsupported`](offload_format::ErrorKind::Unsupported) for an unknown processor,
/// [`Truncated`](offload_format::ErrorKind::Truncated) if a part is missing, [`Text`](offload_format::ErrorKind::Text) if the notes are
/// malformed.
pub fn info(image: &[u8]) -> Result<CodeObject, Error> {
    let file = Elf::parse(image, &FORMAT)?;
    if file.header.e_machine(LE) != EM_AMDGPU {
        return Err(FORMAT.mismatch());
    }
    let metadata = metadata::read(&file)?;
    let target = target_id::read(&file, metadata.target.as_deref())?;
    let symbols = Symbols::read(&file)?;
    let kernels = metadata.kernels.into_iter().map(|kernel| {
        let has_descriptor = symbols.defined.contains(kernel.symbol.as_str());
        CodeObjectKernel { has_descriptor, ..kernel.info }
    });
    Ok(CodeObject {
        target_id: target.text,
        generic_version: target.generic_version,
        version: target.version,
        kernels: kernels.collect(),
        undefined: symbols.undefined.into_iter().map(str::to_string).collect(),
    })
}

const FORMAT: Format = Format { name: "a code object", nobits: &[] };

struct Symbols<'a> {
    defined: BTreeSet<&'a str>,
    undefined: Vec<&'a str>,
}

impl<'a> Symbols<'a> {
    /// Reads the dynamic symbols, which a loader uses, or the symbol table of a relocatable file.
    fn read(file: &Elf<'a>) -> Result<Symbols<'a>, Error> {
        let dynamic = file.symbols(SHT_DYNSYM)?;
        let table = if dynamic.named().next().is_some() { dynamic } else { file.symbols(SHT_SYMTAB)? };
        let mut defined = BTreeSet::new();
        for symbol in table.named() {
            if !symbol.entry.is_undefined(LE) {
                defined.insert(symbol.name);
            }
        }
        Ok(Symbols { defined, undefined: table.undefined().collect() })
    }
}
