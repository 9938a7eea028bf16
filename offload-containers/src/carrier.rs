//! Where files carry device images: programs, libraries, objects and archives of every linker and tool chain.
//!
//! Nothing is decoded: the result is ranges of bytes, each with the [`FileKind`] that its first bytes tell. A container in
//! a section may be followed by others of its kind; its reader steps from one to the next by recorded sizes.
//!
//! | found | by |
//! |---|---|
//! | packs of this project | `.lrodata.offload`, `offload_img` |
//! | LLVM's OffloadBinary, SYCLBINs | `.llvm.offloading`, and at the start of any section |
//! | HIP bundles | the wrappers in `.hipFatBinSegment`, or `.hip_fatbin` |
//! | HIP images outside of the file | wrappers that refer to `.rocm_kpack_ref` |
//! | CUDA fatbins | the wrappers in `.nvFatBinSegment`, or `.nv_fatbin`; `__nv_relfatbin` |
//! | SYCL device images | the records of a registration, both layouts, through relocations |
//! | images in objects of clang's bundler | `__CLANG_OFFLOAD_BUNDLE__` and the target, where no record leads to them |
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
mod found;
mod kind;
mod measure;
mod memory;
mod relocatable;
mod roles;
mod scan;
mod search;
mod sections;
mod sycl;
mod view;
mod wrapper;

pub use self::found::{Found, Place, SyclImage};
pub use self::kind::FileKind;
pub use self::memory::Memory;
use self::search::{At, Part, Search};
use offload_format::limits::Budget;
use offload_format::{Error, Limits};

/// Finds everything in `file` that holds device images, in the order of the file.
///
/// A file of another kind gives an empty list, not an error.
///
/// # Errors
/// [`Truncated`](offload_format::ErrorKind::Truncated) or [`Invalid`](offload_format::ErrorKind::Invalid) for a malformed program or archive; [`TooMany`](offload_format::ErrorKind::TooMany) if
/// more is found than `limits` allow, [`TooLarge`](offload_format::ErrorKind::TooLarge) if many parts
/// of the file claim the same bytes, [`Nested`](offload_format::ErrorKind::Nested) if archives are nested too deep.
pub fn find<'a>(file: &'a [u8], limits: &Limits) -> Result<Vec<Found<'a>>, Error> {
    found(file, limits, None)
}

/// As [`find`], and tells `memory` which bytes of a static archive were searched. A file that is mapped need not stay in
/// memory as a whole then.
///
/// # Errors
/// As [`find`].
pub fn find_in<'a>(file: &'a [u8], limits: &Limits, memory: &'a dyn Memory) -> Result<Vec<Found<'a>>, Error> {
    found(file, limits, Some(memory))
}

fn found<'a>(
    file: &'a [u8],
    limits: &Limits,
    memory: Option<&'a dyn Memory>,
) -> Result<Vec<Found<'a>>, Error> {
    let budget = Budget::for_file("the search of the file", file.len() as u64);
    let mut search = Search { limits: *limits, found: Vec::new(), budget, memory };
    search.any(file, At { offset: 0, member: None, depth: 0 })?;
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
    /// By the first bytes: a container, an archive, or a program.
    fn any(&mut self, bytes: &'a [u8], at: At<'a>) -> Result<(), Error> {
        self.budget.spend(bytes.len().max(64) as u64)?;
        match FileKind::detect(bytes) {
            None => Ok(()),
            Some(FileKind::Archive) => self.archive(bytes, at),
            Some(FileKind::MachOUniversal) => self.universal(bytes, at),
            Some(FileKind::Elf | FileKind::Coff | FileKind::Pe | FileKind::MachO) => self.object(bytes, at),
            // A stream around something else is no image: a package's member `data.tar.zst`. Compressed images of SYCL are in
            // frames.
            Some(FileKind::Zlib) => Ok(()),
            Some(FileKind::Zstd) if at.member.is_some() && !is_frame_of_images(bytes) => Ok(()),
            Some(_) if envelopes::is_envelope(bytes) => self.envelopes(Part::whole(bytes), Place::Whole, at),
            Some(_) => self.add(Part::whole(bytes), Place::Whole, at),
        }
    }
}

/// Enough of a frame to tell a format, also that of an archive behind members that align the first.
const FIRST_BYTES: u64 = 4096;

/// Whether the content of a frame starts as images or containers of images do.
fn is_frame_of_images(frame: &[u8]) -> bool {
    let start = crate::frame::start(frame, FIRST_BYTES).unwrap_or_default();
    let other = [FileKind::Zstd, FileKind::Zlib, FileKind::Elf, FileKind::Coff, FileKind::Pe];
    let others = [FileKind::MachO, FileKind::MachOUniversal, FileKind::Archive, FileKind::Pack];
    FileKind::detect(&start).is_some_and(|kind| !other.contains(&kind) && !others.contains(&kind))
}
