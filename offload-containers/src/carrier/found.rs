//! What a search finds.

use super::kind::FileKind;

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

/// What a record of a SYCL registration says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyclImage<'a> {
    /// The record's version: 1 and 2 are of libsycl.so.8 and older, 3 of libsycl.so.9.
    pub version: u16,
    /// The device target: `spir64`, `spir64_gen`, `nvptx64`.
    pub target: &'a str,
    /// 0 not said, 1 native code, 2 SPIR-V, 3 LLVM bitcode, 4 compressed with zstd.
    pub format: u8,
}
