//! Headers that this crate supplies: `assert.h`, as GPUs have no C library, and what it includes; and for the CPU
//! `gpuintrin.h`, which clang has for GPUs alone.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use crate::compile::Session;
use crate::compile::steps::action::{Arg, texts};
use crate::error::Result;
use crate::fs;

/// Of this text, so that a compiler's command changes with it: its own files are no dependencies of a build.
const ASSERT: &str = include_str!("../device/assert.h");
/// How an assertion of OpenCL C tells that it failed.
pub(crate) const FAILURES: &str = include_str!("../device/offload_failures.h");
const CASSERT: &str = "#include <assert.h>\n";
const DIRECTORY: &str = "include/own-3";
/// As [`ASSERT`].
const GPU_INTRINSICS: &str = include_str!("../device/host_gpuintrin.h");
const HOST_DIRECTORY: &str = "include/host-1";

/// Where the headers are.
pub(crate) fn directory(session: &Session<'_>) -> PathBuf {
    session.cache().dir().join(DIRECTORY)
}

/// Where all of them are.
pub(crate) fn parent(session: &Session<'_>) -> PathBuf {
    session.cache().dir().join("include")
}

/// The flags with which clang finds the headers, before those of a C library.
pub(crate) fn flags(session: &Session<'_>) -> Result<impl Iterator<Item = Arg> + use<>> {
    let directory = directory(session);
    let mut written = session.shared.own_headers.lock().unwrap_or_else(PoisonError::into_inner);
    // The cache may be emptied, or replaced by another one, during the build.
    if written.as_deref() != Some(&*directory) || !directory.join("cassert").exists() {
        write(&directory)?;
        *written = Some(directory.clone());
    }
    Ok(texts(["-isystem".into(), directory.into_os_string()]))
}

fn write(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    fs::publish_if_changed(&directory.join("assert.h"), ASSERT.as_bytes())?;
    fs::publish_if_changed(&directory.join("offload_failures.h"), FAILURES.as_bytes())?;
    fs::publish_if_changed(&directory.join("cassert"), CASSERT.as_bytes())
}

/// The flags with which clang finds the headers for C and C++ on the CPU: before its own, which refuse it.
pub(crate) fn host_flags(session: &Session<'_>) -> Result<impl Iterator<Item = Arg> + use<>> {
    let directory = session.cache().dir().join(HOST_DIRECTORY);
    fs::create_dir_all(&directory)?;
    fs::publish_if_changed(&directory.join("gpuintrin.h"), GPU_INTRINSICS.as_bytes())?;
    Ok(texts(["-isystem".into(), directory.into_os_string()]).chain(flags(session)?))
}

/// The files of all of them that were written.
pub(crate) fn all(session: &Session<'_>) -> Vec<PathBuf> {
    let directories = [directory(session), session.cache().dir().join(HOST_DIRECTORY)];
    let mut files: Vec<PathBuf> =
        directories.iter().flat_map(|directory| fs::list(directory).unwrap_or_default()).collect();
    files.sort();
    files
}

/// The path and the text of each.
pub(crate) fn texts_of(session: &Session<'_>) -> Vec<(PathBuf, String)> {
    let directory = directory(session);
    let host = session.cache().dir().join(HOST_DIRECTORY);
    [
        (directory.join("assert.h"), ASSERT),
        (directory.join("offload_failures.h"), FAILURES),
        (directory.join("cassert"), CASSERT),
        (host.join("gpuintrin.h"), GPU_INTRINSICS),
    ]
    .map(|(path, text)| (path, text.to_string()))
    .into()
}

/// Whether a compiler read `path` here.
pub(crate) fn has(session: &Session<'_>, path: &Path) -> bool {
    path.starts_with(directory(session)) || path.starts_with(session.cache().dir().join(HOST_DIRECTORY))
}
