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
mod kind;
mod measure;
mod relocatable;
mod scan;
mod sections;
mod sycl;
mod view;
mod wrapper;

pub use self::kind::FileKind;
pub use self::sycl::SyclImage;
use offload_format::limits::{Budget, push};
use offload_format::{Error, ErrorKind, Limits};

/// A range that holds device images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found<'a> {
    /// What the first bytes tell; `None` if they are of nothing known.
    pub kind: Option<FileKind>,
    /// Where the range starts in the file.
    pub offset: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// How it was found.
    pub place: Place<'a>,
    /// The innermost member of an archive that it lies in. The name is as it is in the file.
    pub member: Option<&'a [u8]>,
}

/// How a range was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place<'a> {
    /// The whole file, or member of an archive, is a container.
    Whole,
    /// A section of this name. The name is as it is in the file.
    Section(&'a [u8]),
    /// A wrapper that a program registers points there.
    Wrapper,
    /// A kpack wrapper points to this reference; the images of the wrapper with this index are in other files.
    KpackReference {
        /// Which of the file's wrappers it is.
        index: u32,
    },
    /// A record of a SYCL registration points there.
    Sycl(SyclImage<'a>),
    /// The first bytes stood there; the file has no section headers.
    Bytes,
}

/// Everything in `file` that holds device images, in the order of the file.
///
/// A file of another kind holds nothing, which is no error.
///
/// # Errors
/// [`ErrorKind::Truncated`] or [`ErrorKind::Invalid`] for a malformed program or archive; [`ErrorKind::TooMany`] if
/// more is found than `limits` allow, [`ErrorKind::TooLarge`] if many parts
/// of the file claim the same bytes, [`ErrorKind::Nested`] if archives lie too deep in one another.
pub fn find<'a>(file: &'a [u8], limits: &Limits) -> Result<Vec<Found<'a>>, Error> {
    let budget = Budget::for_file("what is looked at in the file", file.len() as u64);
    let mut search = Search { limits: *limits, found: Vec::new(), budget };
    search.any(file, At { offset: 0, member: None, depth: 0 })?;
    search.found.sort_by_key(|found| found.offset);
    search.found.dedup();
    Ok(search.found)
}

/// However deep the caller allows: each level takes room on the stack.
const DEEPEST: u32 = 64;

/// Where the bytes being searched lie in the file.
#[derive(Clone, Copy)]
struct At<'a> {
    offset: u64,
    member: Option<&'a [u8]>,
    depth: u32,
}

struct Search<'a> {
    limits: Limits,
    found: Vec<Found<'a>>,
    /// Archives and sections may claim the same bytes again and again.
    budget: Budget,
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
            Some(_) if envelopes::is_envelope(bytes) => {
                self.envelopes(bytes, (0, bytes.len() as u64), Place::Whole, at)
            }
            Some(_) => self.add(bytes, (0, bytes.len() as u64), Place::Whole, at),
        }
    }

    /// One level further in.
    fn inner(&self, at: At<'a>, offset: u64, member: Option<&'a [u8]>) -> Result<At<'a>, Error> {
        let depth = at.depth.saturating_add(1);
        let limit = self.limits.depth.min(DEEPEST);
        if depth > limit {
            return Err(ErrorKind::Nested { what: "archives", limit }.into());
        }
        Ok(At { offset: at.offset.saturating_add(offset), member: member.or(at.member), depth })
    }

    /// Adds `size` bytes at `offset` of `file`.
    fn add(
        &mut self,
        file: &'a [u8],
        (offset, size): (u64, u64),
        place: Place<'a>,
        at: At<'a>,
    ) -> Result<(), Error> {
        let bytes = offload_format::bytes::range(file, offset, size, "device images")?;
        let kind = FileKind::detect(bytes);
        let offset = at.offset.saturating_add(offset);
        self.limits.records("the list of device images", self.found.len() as u64 + 1)?;
        push(&mut self.found, Found { kind, offset, bytes, place, member: at.member });
        Ok(())
    }
}
