//! Errors for programs whose packs cannot be replaced.

use std::path::Path;

use crate::error::Error;

/// The layout of a file does not allow what was asked for.
pub(super) fn refused(path: &Path, why: &str) -> Error {
    Error::check(format!("the images of `{}` cannot be replaced: {why}", path.display()))
        .hint("build it again with other targets, such as `OFFLOAD_TARGETS=host,spirv64 cargo build`, or link it with `-Clink-arg=-fuse-ld=bfd`")
}

/// The same where another linker would change nothing.
pub(super) fn refused_as_it_is(path: &Path, why: &str) -> Error {
    Error::check(format!("the images of `{}` cannot be replaced: {why}", path.display()))
        .hint("build it again with other targets, such as `OFFLOAD_TARGETS=host,spirv64 cargo build`")
}

/// The new packs are too large for the file.
pub(super) fn does_not_fit(path: &Path, why: &str) -> Error {
    Error::check(format!("the images cannot be put into `{}`: {why}", path.display()))
        .hint("`--sidecar` puts them into a file beside it")
}
