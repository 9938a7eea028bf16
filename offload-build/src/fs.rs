//! File access with paths in errors, and publication of whole files by rename.

use std::collections::BTreeSet;
use std::fs;
#[cfg(unix)]
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offload_files::TemporaryName;

use crate::error::{Error, Result};

pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| Error::io("read", path, error))
}

pub(crate) fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Error::io("read", path, error))
}

pub(crate) fn create_dir_all(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| Error::io("create directory", path, error))
}

pub(crate) fn remove_file(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| Error::io("remove", path, error))
}

/// The paths in a directory, sorted.
pub(crate) fn list(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = paths_in(dir).map_err(|error| Error::io("list", dir, error))?;
    paths.sort();
    Ok(paths)
}

fn paths_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir)? {
        paths.push(entry?.path());
    }
    Ok(paths)
}

/// A directory in `parent` that looks changed to cargo as soon as one of the files `absent` exists; nothing where the
/// system has no such means.
///
/// Cargo looks at what symbolic links refer to, and passes over those that refer to nothing. It takes a file that is
/// newer than the start of the build script for changed, so that the directory is made old.
#[cfg(unix)]
pub(crate) fn watch_absent(parent: &Path, absent: &BTreeSet<PathBuf>) -> io::Result<Option<PathBuf>> {
    if absent.is_empty() {
        return Ok(None);
    }
    let directory = parent.join("offload-absent");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory)?;
    for (number, path) in absent.iter().enumerate() {
        std::os::unix::fs::symlink(path, directory.join(number.to_string()))?;
    }
    File::open(&directory)?.set_modified(std::time::UNIX_EPOCH)?;
    Ok(Some(directory))
}

#[cfg(not(unix))]
pub(crate) fn watch_absent(_: &Path, _: &BTreeSet<PathBuf>) -> io::Result<Option<PathBuf>> {
    Ok(None)
}

/// A private directory that disappears with the value.
pub(crate) fn scratch(parent: &Path) -> Result<TemporaryName> {
    offload_files::private_directory(parent)
        .map_err(|error| Error::io("create a directory in", parent, error))
}

/// Writes a file through `fill` and moves it into place; the file is never seen half-written.
pub(crate) fn publish(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    offload_files::publish(path, fill).map_err(|error| Error::io("write", path, error))
}

/// As [`publish`], but leaves a file that has these bytes already as it is, with its time.
pub(crate) fn publish_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    publish(path, |out| out.write_all(bytes))
}
