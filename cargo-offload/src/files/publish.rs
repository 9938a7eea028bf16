//! Atomic publication of files.

pub(crate) mod unnamed;

use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use offload_files::{TemporaryName, Unfinished, parent};

use self::unnamed::unfinished;
use crate::error::{Error, IoContext, Result};

/// Treatment of an existing file that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Kept,
    Replaced,
}

impl Existing {
    /// An existing file that differs is kept, and is an error.
    ///
    /// # Errors
    /// `path` is kept, and does not hold `bytes`.
    pub(crate) fn check(self, path: &Path, bytes: &[u8]) -> Result<()> {
        match self {
            Existing::Kept if path.symlink_metadata().is_ok() && !holds(path, bytes) => {
                Err(Error::usage(format!("`{}` exists", path.display()))
                    .hint("choose another path, or overwrite it with --force"))
            }
            _ => Ok(()),
        }
    }
}

fn holds(path: &Path, bytes: &[u8]) -> bool {
    let same_size = path.metadata().is_ok_and(|data| data.is_file() && data.len() == bytes.len() as u64);
    same_size && std::fs::read(path).is_ok_and(|there| there == bytes)
}

/// Writes `path` by way of a temporary file beside it.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> Result<()> {
    publish_with(path, |file| file.write_all(bytes))
}

/// As [`publish`], and removes what ended processes have left of the same file: it lies in a directory of the user's.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    publish(path, bytes)?;
    let own = path.file_name().and_then(|name| name.to_str());
    for left in std::fs::read_dir(parent(path)).into_iter().flatten().flatten() {
        let name = left.file_name();
        let name = name.to_str().unwrap_or_default();
        if TemporaryName::becomes(name).is_some_and(|becomes| Some(becomes) == own)
            && TemporaryName::is_abandoned(name)
        {
            // A file that cannot be removed does no harm.
            let _ = std::fs::remove_file(left.path());
        }
    }
    Ok(())
}

/// `bytes`, to become `path`.
pub(crate) fn staged(path: &Path, bytes: &[u8]) -> Result<Staged> {
    stage(path, |file| file.write_all(bytes))
}

/// As [`publish`] for what `write` writes.
pub(crate) fn publish_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    stage(path, write)?.appear().map(drop)
}

/// A file that was written.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) path: PathBuf,
    /// In bytes.
    pub(crate) size: u64,
}

/// A file that is written and has not appeared.
#[derive(Debug)]
pub(crate) struct Staged {
    path: PathBuf,
    file: Unfinished,
}

impl Staged {
    /// An empty file beside `path`, to become it.
    ///
    /// # Errors
    /// There is no such directory, or nothing can be written there.
    pub(crate) fn new(path: &Path) -> Result<Staged> {
        let directory = parent(path);
        // A name of a device would become that of a file.
        if let Some(what) = path.metadata().ok().filter(|there| !there.is_file()) {
            let what = if what.is_dir() { "it is a directory" } else { "it is not a file" };
            return Err(Error::io("write", path, &io::Error::other(what)));
        }
        let file = unfinished(path).map_err(|error| {
            if !directory.is_dir() {
                let text = format!("there is no directory `{}`", directory.display());
                return Error::io("write", path, &io::Error::new(error.kind(), text)).hint("create it first");
            }
            // The error of the system names the temporary file, which means nothing to the user.
            Error::io("write", path, &io::Error::from(error.kind()))
        })?;
        Ok(Staged { path: path.to_path_buf(), file })
    }

    /// The destination path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.file()
    }

    /// A path by which this process can read the file.
    pub(crate) fn readable(&self) -> PathBuf {
        self.file.path().to_path_buf()
    }

    pub(crate) fn set_permissions(&mut self, permissions: Permissions) -> io::Result<()> {
        self.file.file().set_permissions(permissions)
    }

    /// Has the system write it to the disk.
    pub(crate) fn sync(&mut self) -> Result<()> {
        let outcome = self.file.file().sync_all();
        outcome.io_context("write", &self.path)
    }

    /// The file takes its name.
    pub(crate) fn appear(mut self) -> Result<Published> {
        let size = self.file.file().metadata().io_context("write", &self.path)?.len();
        self.file.persist(&self.path).io_context("write", &self.path)?;
        Ok(Published { path: self.path, size })
    }
}

/// A file that exists is replaced if it starts with `start`, as every `what` does.
///
/// # Errors
/// It exists, and has another format.
pub(crate) fn replaceable(path: &Path, start: &[u8], what: &str) -> Result<()> {
    let mut there = vec![0; start.len()];
    if !path.exists()
        || path.is_dir()
        || File::open(path).is_ok_and(|mut file| file.read_exact(&mut there).is_ok() && there == start)
    {
        return Ok(());
    }
    Err(Error::usage(format!("`{}` exists and is not a {what}", path.display())).hint("rename or remove it"))
}

/// Makes a directory and those above it.
pub(crate) fn create_dir(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).io_context("create directory", dir)
}

/// Has the system write to the disk which names the files beside `path` have.
#[cfg(unix)]
pub(crate) fn sync_names(path: &Path) -> Result<()> {
    let directory = parent(path);
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.io_context("write", directory)
}

/// Names of other systems last without.
#[cfg(not(unix))]
pub(crate) fn sync_names(_: &Path) -> Result<()> {
    Ok(())
}

/// Writes a file, to become `path`.
pub(crate) fn stage(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<Staged> {
    let mut staged = Staged::new(path)?;
    // One that exists keeps its rights.
    if let Ok(data) = std::fs::metadata(path) {
        staged.set_permissions(data.permissions()).io_context("write", path)?;
    }
    write(staged.file()).io_context("write", path)?;
    Ok(staged)
}
