//! Temporary files with shared objects, and what the loader says of them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use offload_format::Hash128;

/// The loader's own words, which libloading keeps as the source of its error.
pub(in crate::host) fn loader_error(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// The first part of the names of temporary files.
pub(super) const TEMPORARY_PREFIX: &str = "offload-host-";

/// A file of this thread's own, which is removed when it is dropped: others may load the same image at the same time, or
/// may have been killed doing so.
pub(super) struct TemporaryFile(PathBuf);

impl TemporaryFile {
    /// Makes a file by `options`, and writes `bytes`.
    pub(super) fn with_content(
        bytes: &[u8],
        ending: &str,
        options: OpenOptions,
    ) -> Result<TemporaryFile, String> {
        let (mut file, path) = new_file(bytes, ending, options)?;
        let made = TemporaryFile(path);
        file.write_all(bytes).map_err(|error| format!("{}: {error}", made.path().display()))?;
        Ok(made)
    }

    pub(super) fn path(&self) -> &Path {
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
    let process = std::process::id();
    let hash = Hash128::digest(bytes);
    for number in 0..TRIES {
        let path = directory.join(format!("{TEMPORARY_PREFIX}{process}-{hash}-{number}.{ending}"));
        match options.open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    Err(format!("{}: {TRIES} names are taken", directory.display()))
}
