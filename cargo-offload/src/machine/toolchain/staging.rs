//! Staging directory of the toolchain, which replaces the old directory as a whole.

use std::fs;
use std::path::Path;

use offload_files::TemporaryName;
use tempfile::TempDir;

use super::lock::LOCK_NAME;
use crate::error::{Error, IoContext, Result};
use crate::files::lock::DirectoryLock;
use crate::files::publish::create_dir;

/// Prefix of the directory names.
const PREFIX: &str = ".offload-toolchain-";

/// A directory that disappears with the value. One process at a time has one beside a folder.
#[derive(Debug)]
pub(super) struct Staging {
    directory: TempDir,
    _lock: Option<DirectoryLock>,
}

impl Staging {
    /// A directory beside `folder`. If another process has one, says so through `status` and waits for it. What ended
    /// processes left is removed: they may have fetched hundreds of megabytes.
    pub(super) fn beside(folder: &Path, status: impl FnOnce(&str)) -> Result<Staging> {
        create_parent(folder)?;
        let parent = parent(folder);
        let lock = DirectoryLock::take(parent, || {
            status(&format!("waiting for another process that changes `{}`", folder.display()))
        })
        .io_context("lock", parent)?;
        // Where nothing can be locked another process may still be at work.
        if lock.is_some() {
            remove_in(parent);
        }
        let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
        let directory = directory.io_context("create a directory in", parent)?;
        Ok(Staging { directory, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Gives `new`, which is in this directory, the name `folder`. The old folder stays until the new one is there, and
    /// leaves with this directory.
    pub(super) fn put_in_place(&self, new: &Path, folder: &Path) -> Result<()> {
        if !folder.exists() {
            return fs::rename(new, folder).io_context("write", folder);
        }
        #[cfg(target_os = "linux")]
        if exchange(new, folder) {
            return Ok(());
        }
        let old = self.path().join("old");
        fs::rename(folder, &old).io_context("replace", folder)?;
        fs::rename(new, folder).map_err(|error| {
            let _ = fs::rename(&old, folder);
            Error::io("write", folder, &error)
        })
    }
}

/// Exchanges the names of two folders, where the file system can do that: each name has a folder at every moment.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

/// Makes the directory in which `folder` is, which may be that of the lock file too.
pub(super) fn create_parent(folder: &Path) -> Result<()> {
    create_dir(parent(folder))
}

/// Removes what ended processes left beside `folder`.
pub(super) fn remove_leftovers(folder: &Path) {
    let parent = parent(folder);
    if let Ok(Some(_lock)) = DirectoryLock::take(parent, || ()) {
        remove_in(parent);
    }
}

/// The same in a directory that is locked. A directory that cannot be removed does no harm.
fn remove_in(parent: &Path) {
    for path in fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let _ = if name.starts_with(PREFIX) {
            fs::remove_dir_all(&path)
        } else if TemporaryName::becomes(name) == Some(LOCK_NAME) {
            fs::remove_file(&path)
        } else {
            Ok(())
        };
    }
}

fn parent(folder: &Path) -> &Path {
    folder.parent().unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_folder_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("folder");
        let work = Staging::beside(&folder, |_| ()).unwrap();
        let new = work.path().join("new");
        for (path, name) in [(&new, "b"), (&folder, "a")] {
            fs::create_dir(path).unwrap();
            fs::write(path.join(name), "").unwrap();
        }
        work.put_in_place(&new, &folder).unwrap();
        assert!(folder.join("b").exists() && !folder.join("a").exists());
        drop(work);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_old_folder_stays_where_the_new_one_cannot_be_put() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let work = Staging::beside(&folder, |_| ()).unwrap();
        work.put_in_place(&work.path().join("none"), &folder).unwrap_err();
        assert!(folder.exists());
    }

    #[test]
    fn what_an_ended_process_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".offload-toolchain-abc", ".offload-other"] {
            fs::create_dir_all(dir.path().join(name).join("downloads")).unwrap();
        }
        drop(Staging::beside(&dir.path().join("folder"), |_| ()).unwrap());
        remove_leftovers(&dir.path().join("folder"));
        assert!(!dir.path().join(".offload-toolchain-abc").exists());
        assert!(dir.path().join(".offload-other").exists());
    }
}
