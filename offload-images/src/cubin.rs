//! NVIDIA cubins: their kernels and the resources of each.
//!
//! A cubin is an ELF file. NVIDIA publishes no description of it; its tools name the fields
//! (<https://docs.nvidia.com/cuda/cuda-binary-utilities/index.html>), LLVM lists the flags of the header
//! (<https://github.com/llvm/llvm-project/blob/main/llvm/include/llvm/BinaryFormat/ELF.h>), and `CuAssembler` the
//! attributes (<https://github.com/cloudcores/CuAssembler/blob/master/CuAsm/CuNVInfo.py>).
//! Both layouts are read: the one with ELF ABI version 7 (toolkits up to 12.9), and the one with version 8 (13.0 and
//! later, and 12.8 and later for `sm_100` and up). No cubin records spilled bytes: only `ptxas -v` prints them.
//!
//! ```
//! use offload_images::cubin;
//!
//! let error = cubin::info(b"not an image").unwrap_err();
//! assert_eq!(error.to_string(), "this is not a cubin: it starts with other bytes");
//! ```

mod arch;
mod attribute;
mod kernel;

use object::LittleEndian as LE;
use object::elf::{EM_CUDA, SHT_SYMTAB, SectionType};
use object::read::elf::FileHeader;

pub use self::kernel::{CubinKernel, Parameter};
use crate::cuda;
use crate::elf::{Elf, Format, Symbols};
use offload_format::Error;

/// The architecture, kernels and undefined symbols of a cubin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cubin {
    /// The number of the architecture: 90 for `sm_90`.
    pub sm: u32,
    /// Whether it is architecture-specific (`sm_90a`), if the file records it.
    pub accelerated: Option<bool>,
    /// Whether it is family-specific (`sm_100f`), from the note with the assembler's command line. The header has no flag
    /// for it, and other tools may omit the note.
    pub family: bool,
    /// `EI_ABIVERSION`: 7 or 8.
    pub abi_version: u8,
    /// The toolkit's version times ten, as `129` for 12.9; recorded for each kernel.
    pub toolkit: Option<u32>,
    /// Whether it is relocatable (`ptxas -c`): it has to be linked before it can be loaded.
    pub relocatable: bool,
    /// The kernels, in the order of their code.
    pub kernels: Vec<CubinKernel>,
    /// Undefined symbols, without the weak ones; see [`Cubin::unresolved`].
    pub undefined: Vec<String>,
}

impl Cubin {
    /// The name of the architecture, as far as the file records it: `sm_90a`.
    pub fn arch(&self) -> String {
        let suffix = match (self.accelerated, self.family) {
            (Some(true), _) => "a",
            (_, true) => "f",
            _ => "",
        };
        format!("sm_{}{suffix}", self.sm)
    }

    /// The undefined symbols that the driver does not define either (it has `vprintf`, `malloc`, `free` and
    /// `__assertfail`). A cubin made for execution has none.
    pub fn unresolved(&self) -> impl Iterator<Item = &str> {
        self.undefined.iter().map(String::as_str).filter(|symbol| !cuda::is_system_call(symbol))
    }
}

/// Reads the architecture and the kernels of `image`.
///
/// # Errors
/// [`Magic`](offload_format::ErrorKind::Magic) if it is no cubin, [`Version`](offload_format::ErrorKind::Version) for a layout that this
/// release does not know, [`Truncated`](offload_format::ErrorKind::Truncated) if a part is missing,
/// [`Unsupported`](offload_format::ErrorKind::Unsupported) or [`Invalid`](offload_format::ErrorKind::Invalid) for an attribute of unknown
/// form and [`Text`](offload_format::ErrorKind::Text) for names that are not text.
pub fn info(image: &[u8]) -> Result<Cubin, Error> {
    let file = Elf::parse(image, &FORMAT)?;
    if file.header.e_machine(LE) != EM_CUDA {
        return Err(FORMAT.mismatch());
    }
    let symbols = file.symbols(SHT_SYMTAB)?;
    let (kernels, toolkit) = kernel::read(&file, &symbols)?;
    let arch = arch::read(&file, toolkit)?;
    Ok(Cubin {
        sm: arch.sm,
        accelerated: arch.accelerated,
        family: arch.family,
        abi_version: arch.abi_version,
        toolkit,
        relocatable: kernel::is_relocatable(&file),
        kernels,
        undefined: undefined(&symbols),
    })
}

/// `CUDA_GLOBAL`, `CUDA_LOCAL`, `CUDA_SHARED` and `CUDA_RESERVED_SHARED` by their names in `cuobjdump -elf`: a file for
/// linking has them where one for execution has `SHT_NOBITS`.
const NOBITS: [SectionType; 4] =
    [SectionType(0x7000_0007), SectionType(0x7000_0009), SectionType(0x7000_000a), SectionType(0x7000_0015)];

const FORMAT: Format = Format { name: "a cubin", nobits: &NOBITS };

/// The undefined symbols, without the toolkit's own, such as `.nv.reservedSmem.cap`.
fn undefined(symbols: &Symbols<'_>) -> Vec<String> {
    symbols.undefined().filter(|name| !name.starts_with(".nv.")).map(str::to_string).collect()
}
