//! Files without a name: `O_TMPFILE` (<https://man7.org/linux/man-pages/man2/open.2.html>). Not every file system has it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use offload_build::shared::TemporaryName;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

pub(super) fn create(directory: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(directory, flags, Mode::from_bits_truncate(0o666)).ok()?);
    // Without /proc it could not get a name.
    path(&file).exists().then_some(file)
}

pub(super) fn path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Gives `file` the name `to`; where that is taken, by way of another one beside it.
pub(super) fn persist(file: &File, to: &Path) -> io::Result<()> {
    match link(file, to) {
        // A link replaces nothing, a new name does.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            TemporaryName::becoming(to, &mut |name| link(file, name))?.persist(to)
        }
        outcome => outcome,
    }
}

fn link(file: &File, to: &Path) -> io::Result<()> {
    Ok(linkat(CWD, path(file), CWD, to, AtFlags::SYMLINK_FOLLOW)?)
}
