//! Results of the search.

use super::kind::FileKind;

/// A byte range with device images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageRange<'a> {
    /// The format, by the first bytes; `None` if it is unknown.
    pub kind: Option<FileKind>,
    /// The offset of the range in the file.
    pub offset: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// How it was found.
    pub origin: RangeOrigin<'a>,
    /// The name of the innermost archive member around it, as it is in the file.
    pub member: Option<&'a [u8]>,
}

/// How a range was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RangeOrigin<'a> {
    /// The whole file, or a whole archive member.
    Whole,
    /// A section of this name, as it is in the file.
    Section(&'a [u8]),
    /// The target of a wrapper that a program registers.
    Wrapper,
    /// The target of a kpack wrapper: a reference to images in other files.
    KpackReference {
        /// The index of the wrapper in the file.
        index: u32,
    },
    /// The target of a SYCL registration record.
    Sycl(SyclImage<'a>),
    /// A match of the first bytes, in a file without section headers.
    Bytes,
}

/// The fields of a SYCL registration record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyclImage<'a> {
    /// The record's version: 1 and 2 are of libsycl.so.8 and older, 3 of libsycl.so.9.
    pub version: u16,
    /// The device target: `spir64`, `spir64_gen`, `nvptx64`.
    pub target: &'a str,
    /// 0 unspecified, 1 native code, 2 SPIR-V, 3 LLVM bitcode, 4 compressed with zstd.
    pub format: u8,
}
