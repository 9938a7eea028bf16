//! Files that appear whole.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use offload_format::pack::layout::{ALIGN, MAGIC};
use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::pieces::{Piece, total};
use crate::thin::NewBytes;

/// Writes `path` by way of a temporary file beside it.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    publish_with(path, |file| file.write_all(bytes))
}

/// The same for what `write` writes.
pub(crate) fn publish_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    stage(path, write)?.appear().map(drop)
}

/// A file that is written and has not appeared.
#[derive(Debug)]
pub(crate) struct Staged {
    path: PathBuf,
    file: NamedTempFile,
}

impl Staged {
    pub(crate) fn new(path: &Path, file: NamedTempFile) -> Staged {
        Staged { path: path.to_path_buf(), file }
    }

    /// The file takes its name; returns it with its size.
    pub(crate) fn appear(self) -> Result<(PathBuf, u64)> {
        let failed = |error: io::Error| Error::io("write", &self.path, &error);
        let size = self.file.as_file().metadata().map_err(failed)?.len();
        self.file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok((self.path, size))
    }
}

/// Writes packs one after another, to become `path`. A file of packs is replaced, no other.
pub(crate) fn stage_pack(path: &Path, packs: &[NewBytes]) -> Result<Staged> {
    replaceable(path, &MAGIC, "file of packs")?;
    stage(path, |file| write_packs(file, packs))
}

/// A file that exists is replaced if it starts with `start`, as every `what` does.
///
/// # Errors
/// It is somebody's.
pub(crate) fn replaceable(path: &Path, start: &[u8], what: &str) -> Result<()> {
    let mut there = vec![0; start.len()];
    let same = |mut file: File| file.read_exact(&mut there).is_ok() && there == start;
    if !path.exists() || path.is_dir() || File::open(path).is_ok_and(same) {
        return Ok(());
    }
    Err(Error::usage(format!("`{}` exists and is no {what}", path.display())).hint("move it away"))
}

fn write_packs(file: &mut File, packs: &[NewBytes]) -> io::Result<()> {
    let mut at = 0u64;
    for pack in packs {
        // The index of one that shares has a size without padding.
        let padding = at.next_multiple_of(ALIGN).saturating_sub(at);
        Piece::Zeros(padding).write_to(file)?;
        pack.pieces.iter().try_for_each(|piece| piece.write_to(file))?;
        at = at.saturating_add(padding).saturating_add(total(&pack.pieces).unwrap_or_default());
    }
    Ok(())
}

fn stage(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<Staged> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What an ordinary file gets, less the user's mask; one that exists keeps its own.
        let mode = std::fs::metadata(path).map_or(0o666, |data| data.permissions().mode());
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    let mut file = temporary(&mut builder, path)?;
    write(file.as_file_mut()).map_err(|error| Error::io("write", path, &error))?;
    Ok(Staged::new(path, file))
}

/// A file beside `path`, to be renamed to it.
///
/// # Errors
/// There is no such directory, or nothing can be written there.
pub(crate) fn temporary(builder: &mut tempfile::Builder<'_, '_>, path: &Path) -> Result<NamedTempFile> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(Error::io("write", path, &io::Error::other("it is a directory")));
    }
    builder.prefix(".offload-").tempfile_in(parent).map_err(|error| {
        if !parent.is_dir() {
            let text = format!("there is no directory `{}`", parent.display());
            return Error::io("write", path, &io::Error::new(error.kind(), text)).hint("make it first");
        }
        // What the system says names the temporary file, of which nobody knows.
        Error::io("write", path, &io::Error::from(error.kind()))
    })
}
