//! The search for device images in programs, libraries, objects and archives of every linker and tool chain.
//!
//! Nothing is decoded: the result is byte ranges, each with its [`FileKind`]. A container in a section may be followed by
//! others of its kind; its reader steps from one to the next by recorded sizes.
//!
//! | container | found by |
//! |---|---|
//! | packs of this project | `.lrodata.offload`, `offload_img` |
//! | LLVM's OffloadBinary, SYCLBINs | `.llvm.offloading`, and at the start of any section |
//! | HIP bundles | the wrappers in `.hipFatBinSegment`, or `.hip_fatbin` |
//! | HIP images in kpack files | wrappers that point to `.rocm_kpack_ref` |
//! | CUDA fatbins | the wrappers in `.nvFatBinSegment`, or `.nv_fatbin`; `__nv_relfatbin` |
//! | SYCL device images | the records of a registration, both layouts, through relocations |
//! | images in objects of clang's bundler | `__CLANG_OFFLOAD_BUNDLE__` and the target, if no record points to them |
//! | the same containers in a file without section headers | their first bytes and sizes that fit |
//!
//! ELF, COFF, PE, Mach-O (one or several architectures) and static archives are read. Pointers are followed in 64-bit
//! little-endian ELF, COFF and PE files.
//!
//! ```
//! use offload_format::Limits;
//! use offload_containers::carrier::{FileKind, find};
//!
//! let found = find(b"\x50\xed\x55\xba\x01\0\x10\0\0\0\0\0\0\0\0\0", &Limits::default())?;
//! assert_eq!(found[0].kind, Some(FileKind::CudaFatbin));
//! # Ok::<(), offload_format::Error>(())
//! ```

mod archive;
mod dynamic;
mod envelopes;
mod kind;
mod measure;
mod memory;
mod range;
mod relocatable;
mod roles;
mod scan;
mod search;
mod sections;
mod sycl;
mod view;
mod wrapper;

pub use self::kind::FileKind;
pub use self::memory::Memory;
pub use self::range::{ImageRange, RangeOrigin, SyclImage};
use self::search::{FileRange, Position, Search};
use offload_format::limits::Budget;
use offload_format::{Error, Limits};

/// Finds every container of device images in `file`, in the order of the file.
///
/// A file of another kind gives an empty list, not an error.
///
/// # Errors
/// [`Truncated`](offload_format::ErrorKind::Truncated) or [`Invalid`](offload_format::ErrorKind::Invalid) for a malformed program or archive; [`TooMany`](offload_format::ErrorKind::TooMany) if
/// more is found than `limits` allow, [`TooLarge`](offload_format::ErrorKind::TooLarge) if many headers claim the same
/// bytes, [`Nested`](offload_format::ErrorKind::Nested) if archives are nested too deep.
pub fn find<'a>(file: &'a [u8], limits: &Limits) -> Result<Vec<ImageRange<'a>>, Error> {
    search(file, limits, None)
}

/// As [`find`], and releases the searched bytes of a static archive through `memory`, so that a mapped file need not be
/// resident as a whole.
///
/// # Errors
/// As [`find`].
pub fn find_in<'a>(
    file: &'a [u8],
    limits: &Limits,
    memory: &'a dyn Memory,
) -> Result<Vec<ImageRange<'a>>, Error> {
    search(file, limits, Some(memory))
}

fn search<'a>(
    file: &'a [u8],
    limits: &Limits,
    memory: Option<&'a dyn Memory>,
) -> Result<Vec<ImageRange<'a>>, Error> {
    let budget = Budget::for_file("the search of the file", file.len() as u64);
    let mut search = Search { limits: *limits, found: Vec::new(), budget, memory };
    search.any(file, Position { offset: 0, member: None, depth: 0 })?;
    search.found.sort_by_key(|found| found.offset);
    search.found.dedup();
    Ok(search.found)
}

/// The recorded size of the container at the start of `rest`, if it records one that fits.
#[cfg(feature = "contents")]
pub(crate) fn recorded_size(kind: FileKind, rest: &[u8]) -> Option<u64> {
    measure::size(kind, rest)
}

impl<'a> Search<'a> {
    /// Searches a container, an archive, or a program.
    fn any(&mut self, bytes: &'a [u8], at: Position<'a>) -> Result<(), Error> {
        self.budget.spend(bytes.len().max(64) as u64)?;
        match FileKind::detect(bytes) {
            None => Ok(()),
            Some(FileKind::Archive) => self.archive(bytes, at),
            Some(FileKind::MachOUniversal) => self.universal(bytes, at),
            Some(FileKind::Elf | FileKind::Coff | FileKind::Pe | FileKind::MachO) => self.object(bytes, at),
            // Compressed SYCL images are zstd frames; other streams in archives are not images: `data.tar.zst` of a package.
            Some(FileKind::Zlib) => Ok(()),
            Some(FileKind::Zstd) if at.member.is_some() && !is_frame_of_images(bytes) => Ok(()),
            Some(_) if envelopes::is_envelope(bytes) => {
                self.envelopes(FileRange::whole(bytes), RangeOrigin::Whole, at)
            }
            Some(_) => self.add(FileRange::whole(bytes), RangeOrigin::Whole, at),
        }
    }
}

/// Enough of a frame to detect a format, also that of an ocloc archive with padding members.
const FIRST_BYTES: u64 = 4096;

/// Whether the content of a frame is an image or a container of images.
fn is_frame_of_images(frame: &[u8]) -> bool {
    let start = crate::frame::start(frame, FIRST_BYTES).unwrap_or_default();
    let other = [FileKind::Zstd, FileKind::Zlib, FileKind::Elf, FileKind::Coff, FileKind::Pe];
    let others = [FileKind::MachO, FileKind::MachOUniversal, FileKind::Archive, FileKind::Pack];
    FileKind::detect(&start).is_some_and(|kind| !other.contains(&kind) && !others.contains(&kind))
}
