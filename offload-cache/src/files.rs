//! File access with paths in errors.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, Result};

pub(crate) fn create_dir_all(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|error| Error::io("create directory", path, error))
}

/// Writes a file through `fill`, and moves it into place.
pub(crate) fn publish(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    offload_files::publish(path, fill).map_err(|error| Error::io("write", path, error))
}
