//! A file that is being written: it has no name where the system can do that, so that nothing of it is left if this process
//! is ended.

use std::fs::{File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use offload_build::shared::Unfinished;

#[cfg(target_os = "linux")]
use super::unnamed;

/// A file in the directory where it will be.
#[derive(Debug)]
pub(super) enum Temporary {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(Unfinished),
}

impl Temporary {
    /// A file in the directory of `path` that an ordinary user of it may read, less what the user's mask takes.
    pub(super) fn new(path: &Path) -> io::Result<Temporary> {
        let directory = parent(path);
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed::create(directory) {
            return Ok(Temporary::Unnamed(file));
        }
        Unfinished::becoming(path).map(Temporary::Named)
    }

    pub(super) fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => file,
            Temporary::Named(file) => file.file(),
        }
    }

    pub(super) fn set_permissions(&mut self, permissions: Permissions) -> io::Result<()> {
        self.file().set_permissions(permissions)
    }

    /// What this process may open it by.
    pub(super) fn path(&self) -> PathBuf {
        match self {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => unnamed::path(file),
            Temporary::Named(file) => file.path().to_path_buf(),
        }
    }

    /// Gives it the name `path`, in the directory that it is in; what has the name loses it.
    pub(super) fn persist(self, path: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => unnamed::persist(&file, path),
            Temporary::Named(file) => file.persist(path),
        }
    }
}

/// The directory of a file.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file in `directory` that never gets a name, where there can be one.
pub(crate) fn unnamed(directory: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if let Some(file) = unnamed::create(directory) {
        return Ok(file);
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!("no file without a name in {}", directory.display()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_once_it_is_written() {
        use std::io::Write;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let names = || std::fs::read_dir(dir.path()).unwrap().count();
        for (content, before) in [("first", 0), ("second", 1)] {
            let mut file = Temporary::new(&path).unwrap();
            file.file().write_all(content.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(file.path()).unwrap(), content);
            if cfg!(target_os = "linux") {
                assert_eq!(names(), before, "something is left if the process is ended now");
            }
            file.persist(&path).unwrap();
            assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), names()), (content, 1));
        }
    }
}
