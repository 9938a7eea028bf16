//! Unnamed files, which vanish if the process is killed: `O_TMPFILE`
//! (<https://man7.org/linux/man-pages/man2/open.2.html>). Not every system and file system supports it.

use std::fs::File;
use std::io;
use std::path::Path;

use offload_files::Unfinished;

/// A file that is to become `path` and that an ordinary user of the directory may read, less what the user's mask takes. It
/// has no name where that is possible.
pub(super) fn unfinished(path: &Path) -> io::Result<Unfinished> {
    #[cfg(target_os = "linux")]
    if let Some(file) = linux::create(offload_files::parent(path)) {
        let readable = linux::path(&file);
        return Ok(Unfinished::unnamed(file, readable, linux::link));
    }
    Unfinished::becoming(path)
}

/// A file in `directory` that never gets a name, where there can be one.
pub(crate) fn unnamed(directory: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if let Some(file) = linux::create(directory) {
        return Ok(file);
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!("no file without a name in {}", directory.display()),
    ))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

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

    pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
        Ok(linkat(CWD, from, CWD, to, AtFlags::SYMLINK_FOLLOW)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_files(dir: &Path) -> usize {
        std::fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_file_appears_once_it_is_written() {
        use std::io::Write;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for (content, before) in [("first", 0), ("second", 1)] {
            let mut file = unfinished(&path).unwrap();
            file.file().write_all(content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(file.path()).unwrap(), content);
            if cfg!(target_os = "linux") {
                assert_eq!(count_files(dir.path()), before, "something is left if the process is ended now");
            }
            file.persist(&path).unwrap();
            assert_eq!(
                (std::fs::read_to_string(&path).unwrap().as_str(), count_files(dir.path())),
                (content, 1)
            );
        }
    }
}
