//! Shared objects in memory, which the system's loader maps.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offload_format::Hash128;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use self::unix as system;
#[cfg(windows)]
use self::windows as system;

#[cfg(test)]
pub(super) use self::system::from_temporary;
pub(super) use self::system::{Kept, Library, open};

/// The version of the interface between a program and its images.
const VERSION: u32 = 1;
/// The symbol that holds an image's version.
const VERSION_SYMBOL: &str = "__offload_host_abi";

/// A shared object that the loader has mapped. Fields are dropped in this order: code before the file that holds it.
pub(super) struct LoadedObject {
    pub(super) library: Library,
    pub(super) kept: Kept,
}

/// Compares the interface version of an image with [`VERSION`].
pub(super) fn check_version(library: &Library) -> Result<(), String> {
    // SAFETY: the symbol is a `const uint32_t`; it is read while the library is loaded.
    let found = unsafe { library.get::<*const u32>(VERSION_SYMBOL).map(|symbol| symbol.as_ref().copied()) };
    match found {
        Ok(Some(VERSION)) => Ok(()),
        Ok(Some(found)) => Err(format!(
            "it has interface version {found}, this program calls version {VERSION}: use one release of offload-build and offload-rt"
        )),
        _ => Err(format!("it has no symbol {VERSION_SYMBOL}")),
    }
}

/// The loader's own words, which libloading keeps as the source of its error.
pub(super) fn loader_error(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// The first part of the names of temporary files.
const TEMPORARY_PREFIX: &str = "offload-host-";

/// A file of this thread's own, which is removed when it is dropped: others may load the same image at the same time, or
/// may have been killed doing so.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    /// Makes a file by `options`, and writes `bytes`.
    fn with_content(bytes: &[u8], ending: &str, options: OpenOptions) -> Result<TemporaryFile, String> {
        let (mut file, path) = new_file(bytes, ending, options)?;
        let made = TemporaryFile(path);
        file.write_all(bytes).map_err(|error| format!("{}: {error}", made.path().display()))?;
        Ok(made)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // The system cleans its directory for temporary files.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn new_file(bytes: &[u8], ending: &str, mut options: OpenOptions) -> Result<(File, PathBuf), String> {
    const TRIES: u32 = 1000;
    let directory = std::env::temp_dir();
    // It fails on any existing file, also on a dangling symbolic link.
    options.write(true).create_new(true);
    for number in 0..TRIES {
        let process = std::process::id();
        let hash = Hash128::digest(bytes);
        let path = directory.join(format!("{TEMPORARY_PREFIX}{process}-{hash}-{number}.{ending}"));
        match options.open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    Err(format!("{}: {TRIES} names are taken", directory.display()))
}
