//! Access below a shared folder without following symbolic links.
//!
//! Each directory is opened relative to its parent, so that a link that appears meanwhile is not followed either.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

/// A shared folder. Its own path may contain links.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) root: PathBuf,
}

/// A file by its directories, from the root down, and its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelativeFile<'a> {
    pub(super) directories: [&'a str; 2],
    pub(super) name: &'a str,
}

/// The treatment of missing directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Create,
    Refuse,
}

/// The directory of incomplete files.
const TEMPORARY: &str = "tmp";
/// The attempts to create a file with a random name.
const ATTEMPTS: usize = 16;

impl Tree {
    /// Opens a file.
    ///
    /// # Errors
    /// If there is none, or a component is a link or not a regular file.
    pub(super) fn open(&self, place: RelativeFile<'_>) -> io::Result<File> {
        let directory = self.directory(&place.directories, Missing::Refuse)?;
        // Without NONBLOCK, opening a pipe waits for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&directory, place.name, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// Writes a file with `write`, and publishes it by rename.
    ///
    /// # Errors
    /// If it cannot be written, or a component is a link.
    pub(super) fn publish(
        &self,
        place: RelativeFile<'_>,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let temporary = self.directory(&[TEMPORARY], Missing::Create)?;
        let directory = self.directory(&place.directories, Missing::Create)?;
        let (name, mut file) = create_temporary(&temporary)?;
        let written =
            write(&mut file).and_then(|()| Ok(renameat(&temporary, &name, &directory, place.name)?));
        if written.is_err() {
            // A leftover is found by eviction.
            let _ = unlinkat(&temporary, &name, AtFlags::empty());
        }
        written
    }

    /// The directory with these names below the root.
    fn directory(&self, names: &[&str], missing: Missing) -> io::Result<OwnedFd> {
        if missing == Missing::Create {
            std::fs::create_dir_all(&self.root)?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut directory = openat(CWD, &self.root, flags, Mode::empty())?;
        for name in names {
            if missing == Missing::Create {
                // The umask applies.
                match mkdirat(&directory, *name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            directory = openat(&directory, *name, flags | OFlags::NOFOLLOW, Mode::empty())?;
        }
        Ok(directory)
    }
}

/// A new file in `directory`, and its name.
fn create_temporary(directory: &OwnedFd) -> io::Result<(String, File)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for attempt in 0..ATTEMPTS {
        // Each `RandomState` has its own random keys.
        let name = format!("{}-{:016x}", std::process::id(), RandomState::new().hash_one(attempt));
        match openat(directory, &name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => return Ok((name, file.into())),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// Whether the error is about a symbolic link.
pub(super) fn is_link(error: &io::Error) -> bool {
    [Errno::LOOP, Errno::MLINK].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::{Duration, SystemTime};

    use super::*;

    const PLACE: RelativeFile<'static> = RelativeFile { directories: ["cas", "ab"], name: "abc" };

    fn write(tree: &Tree, text: &str) -> io::Result<()> {
        tree.publish(PLACE, |file| io::Write::write_all(file, text.as_bytes()))
    }

    #[test]
    fn a_link_is_replaced_and_never_followed() {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree { root: dir.path().join("shared") };
        let elsewhere = dir.path().join("elsewhere");
        fs::write(&elsewhere, "old").unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(1_000_000);
        File::options().write(true).open(&elsewhere).unwrap().set_modified(long_ago).unwrap();
        fs::create_dir_all(tree.root.join("cas/ab")).unwrap();
        symlink(&elsewhere, tree.root.join("cas/ab/abc")).unwrap();
        assert!(is_link(&tree.open(PLACE).unwrap_err()));
        write(&tree, "new").unwrap();
        assert_eq!(io::read_to_string(tree.open(PLACE).unwrap()).unwrap(), "new");
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "old");
        assert_eq!(fs::metadata(&elsewhere).unwrap().modified().unwrap(), long_ago);
    }

    #[test]
    fn directories_that_are_links_are_refused() {
        for name in ["cas", "cas/ab", "tmp"] {
            let dir = tempfile::tempdir().unwrap();
            let tree = Tree { root: dir.path().join("shared") };
            let elsewhere = dir.path().join("elsewhere");
            fs::create_dir_all(elsewhere.join("ab")).unwrap();
            fs::write(elsewhere.join("ab/abc"), "theirs").unwrap();
            fs::write(elsewhere.join("abc"), "theirs").unwrap();
            let link = tree.root.join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&elsewhere, link).unwrap();
            assert!(tree.open(PLACE).is_err() && write(&tree, "mine").is_err(), "{name}");
            assert_eq!(fs::read_to_string(elsewhere.join("abc")).unwrap(), "theirs");
            assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 2, "{name}");
        }
    }

    #[test]
    fn the_folder_itself_may_be_a_link() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("real")).unwrap();
        symlink(dir.path().join("real"), dir.path().join("shared")).unwrap();
        let tree = Tree { root: dir.path().join("shared") };
        write(&tree, "x").unwrap();
        assert!(dir.path().join("real/cas/ab/abc").exists());
    }

    #[test]
    fn a_pipe_is_no_file_and_waits_for_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree { root: dir.path().to_path_buf() };
        fs::create_dir_all(dir.path().join("cas/ab")).unwrap();
        let path = dir.path().join("cas/ab/abc");
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        assert_eq!(tree.open(PLACE).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
