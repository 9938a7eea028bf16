//! File access with paths in errors, and publication of whole files by rename.

mod temporary_name;
mod unfinished;

use std::collections::BTreeSet;
use std::fs;
#[cfg(unix)]
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(crate) use self::temporary_name::SCRATCH_PREFIX;
pub use self::temporary_name::TemporaryName;
pub use self::unfinished::Unfinished;
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
    let mut paths = paths_in(dir).map_err(|error| Error::io("list", dir, error))?;
    paths.sort();
    Ok(paths)
}

fn paths_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir)? {
        paths.push(entry?.path());
    }
    Ok(paths)
}

/// A directory in `parent` that looks changed to cargo as soon as one of the files `absent` exists; nothing where the
/// system has no such means.
///
/// Cargo looks at what symbolic links refer to, and passes over those that refer to nothing. It takes a file that is
/// newer than the start of the build script for changed, so that the directory is made old.
#[cfg(unix)]
pub(crate) fn watch_absent(parent: &Path, absent: &BTreeSet<PathBuf>) -> io::Result<Option<PathBuf>> {
    if absent.is_empty() {
        return Ok(None);
    }
    let directory = parent.join("offload-absent");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory)?;
    for (number, path) in absent.iter().enumerate() {
        std::os::unix::fs::symlink(path, directory.join(number.to_string()))?;
    }
    File::open(&directory)?.set_modified(std::time::UNIX_EPOCH)?;
    Ok(Some(directory))
}

#[cfg(not(unix))]
pub(crate) fn watch_absent(_: &Path, _: &BTreeSet<PathBuf>) -> io::Result<Option<PathBuf>> {
    Ok(None)
}

/// Removes what other processes left unfinished in `directory`, which belongs to one process at a time, as `OUT_DIR` does.
pub(crate) fn remove_leftovers(directory: &Path) {
    for path in list(directory).unwrap_or_default() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if TemporaryName::process(name).is_some_and(|process| process != std::process::id()) {
            temporary_name::remove(&path);
        }
    }
}

/// A private directory that disappears with the value.
pub(crate) fn scratch(parent: &Path) -> Result<TemporaryName> {
    TemporaryName::make(parent, &mut private_directory)
        .map_err(|error| Error::io("create a directory in", parent, error))
}

/// Writes a file through `fill` and moves it into place; the file is never seen half-written.
pub(crate) fn publish(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut file = unfinished(path)?;
    let mut out = io::BufWriter::new(file.file());
    let written = fill(&mut out).and_then(|()| out.flush());
    drop(out);
    written.and_then(|()| file.persist(path)).map_err(|error| Error::io("write", path, error))
}

/// A file that becomes `path` when it is persisted.
pub(crate) fn unfinished(path: &Path) -> Result<Unfinished> {
    Unfinished::new(parent(path)).map_err(|error| Error::io("write", path, error))
}

/// As [`publish`], but leaves a file that has these bytes already as it is, with its time.
pub(crate) fn publish_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    publish(path, |out| out.write_all(bytes))
}

/// The directory of a file.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn private_directory(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> usize {
        list(directory).unwrap().len()
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
        let scratch = scratch(dir.path()).unwrap();
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
        assert_eq!(names(dir.path()), 3, "{:?}", list(dir.path()));
    }
}
