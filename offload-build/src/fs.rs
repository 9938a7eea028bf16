//! File access whose errors name the file, and files that appear whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
    let failed = |error| Error::io("list", dir, error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}

/// What the names of unfinished files and of private directories begin with; a killed build leaves them behind.
pub(crate) const SCRATCH_PREFIX: &str = ".offload-";

/// A private directory that disappears with the value.
pub(crate) fn scratch(parent: &Path) -> Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix(SCRATCH_PREFIX)
        .tempdir_in(parent)
        .map_err(|error| Error::io("create a directory in", parent, error))
}

/// As [`scratch`], in the directory for temporary files.
pub(crate) fn scratch_anywhere() -> Result<tempfile::TempDir> {
    let failed = |error| Error::new(format!("cannot create a temporary directory: {error}"));
    tempfile::Builder::new().prefix(SCRATCH_PREFIX).tempdir().map_err(failed)
}

/// Writes a file through `fill` and moves it into place; the file is never seen half-written.
pub(crate) fn publish(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let failed = |error| Error::io("write", path, error);
    let mut file = unfinished(path)?;
    let mut out = io::BufWriter::new(file.as_file_mut());
    fill(&mut out).and_then(|()| out.flush()).map_err(failed)?;
    drop(out);
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// A file that becomes `path` when it is persisted.
pub(crate) fn unfinished(path: &Path) -> Result<tempfile::NamedTempFile> {
    let parent = path.parent().unwrap_or(Path::new("."));
    public().tempfile_in(parent).map_err(|error| Error::io("write", path, error))
}

/// As [`publish`], but leaves a file that has these bytes already as it is, with its time.
pub(crate) fn publish_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    publish(path, |out| out.write_all(bytes))
}

/// A temporary file is private; what it becomes has the usual permissions, less the user's mask.
fn public() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(SCRATCH_PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}
