//! Files that appear whole or not at all, and what killed processes leave of them.
//!
//! ```
//! use std::io::Write;
//!
//! # let directory = std::env::temp_dir().join(format!("offload-files-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! let path = directory.join("settings.toml");
//! offload_files::publish(&path, |out| out.write_all(b"level = 3\n"))?;
//! assert_eq!(std::fs::read_to_string(&path)?, "level = 3\n");
//! // What is written when an error occurs never has the name.
//! let failed = offload_files::publish(&path, |_| Err(std::io::Error::other("no space")));
//! assert!(failed.is_err());
//! assert_eq!(std::fs::read_to_string(&path)?, "level = 3\n");
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

mod temporary_name;
mod unfinished;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

pub use self::temporary_name::{SCRATCH_PREFIX, TemporaryName};
pub use self::unfinished::Unfinished;

/// Writes a file through `fill`, which gets a buffer, and moves it to `path`: it is never seen half-written.
///
/// # Errors
/// Those of `fill` and of the file system. What had the name keeps it.
pub fn publish(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = Unfinished::new(parent(path))?;
    let mut out = io::BufWriter::new(file.file());
    let written = fill(&mut out).and_then(|()| out.flush());
    drop(out);
    written.and_then(|()| file.persist(path))
}

/// A directory in `parent` for this user alone, which disappears with the value.
///
/// # Errors
/// Those of the file system.
pub fn private_directory(parent: &Path) -> io::Result<TemporaryName> {
    TemporaryName::make(parent, &mut |path| {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    })
}

/// Removes what other processes left unfinished in `directory`, which belongs to one process at a time. What cannot be
/// listed or removed stays.
pub fn remove_leftovers(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = TemporaryName::process(name.to_str().unwrap_or_default());
        if process.is_some_and(|process| process != std::process::id()) {
            temporary_name::remove(&entry.path());
        }
    }
}

/// The directory of a file; that of `file` is `.`.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        publish(&path, |out| out.write_all(b"first")).unwrap();
        let failed = publish(&path, |out| {
            out.write_all(b"sec")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!((fs::read(&path).unwrap().as_slice(), names(dir.path())), (&b"first"[..], 1));
        publish(&path, |out| out.write_all(b"second")).unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), names(dir.path())), (&b"second"[..], 1));
    }

    #[test]
    fn a_private_directory_disappears_with_all_that_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = private_directory(dir.path()).unwrap();
        fs::write(scratch.path().join("file"), "content").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(scratch.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        drop(scratch);
        assert_eq!(names(dir.path()), 0);
    }

    #[test]
    fn what_other_processes_left_goes() {
        let dir = tempfile::tempdir().unwrap();
        let other = std::process::id() ^ 1;
        for name in [format!(".offload-{other:08x}00000001"), format!(".offload-lib.a-{other:08x}00000002")] {
            fs::write(dir.path().join(name), "half").unwrap();
        }
        let scratch = dir.path().join(format!(".offload-{other:08x}00000003"));
        fs::create_dir(&scratch).unwrap();
        fs::write(scratch.join("file"), "half").unwrap();
        for name in [".offload-notes", "lib.a"] {
            fs::write(dir.path().join(name), "of another program").unwrap();
        }
        let own = Unfinished::new(dir.path()).unwrap();
        remove_leftovers(dir.path());
        assert!(own.path().exists());
        assert_eq!(names(dir.path()), 3);
    }
}
