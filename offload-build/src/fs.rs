//! File access whose errors name the file, and files that appear whole.

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
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

/// What the names of unfinished files and of private directories begin with; a killed build leaves them behind.
pub(crate) const SCRATCH_PREFIX: &str = ".offload-";

/// Removes what other processes left unfinished in `directory`, which belongs to one process at a time, as `OUT_DIR` does.
pub(crate) fn remove_leftovers(directory: &Path) {
    for path in list(directory).unwrap_or_default() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if TemporaryName::process(name).is_some_and(|process| process != std::process::id()) {
            remove(&path);
        }
    }
}

/// What cannot be removed is in nobody's way: nothing else has its name.
fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
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
    let parent = path.parent().unwrap_or(Path::new("."));
    Unfinished::new(parent).map_err(|error| Error::io("write", path, error))
}

/// As [`publish`], but leaves a file that has these bytes already as it is, with its time.
pub(crate) fn publish_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    publish(path, |out| out.write_all(bytes))
}

/// A file that has a name of its own until it is whole; unless it is persisted it disappears with the value.
#[derive(Debug)]
pub struct Unfinished {
    name: TemporaryName,
    file: File,
}

impl Unfinished {
    /// An empty file in `directory`, with the usual permissions less the user's mask.
    pub fn new(directory: &Path) -> io::Result<Unfinished> {
        Unfinished::named(|make| TemporaryName::make(directory, make))
    }

    /// An empty file beside `path`, whose name tells that it is to become it: [`TemporaryName::becomes`].
    pub fn becoming(path: &Path) -> io::Result<Unfinished> {
        Unfinished::named(|make| TemporaryName::becoming(path, make))
    }

    fn named(name: impl FnOnce(Make<'_>) -> io::Result<TemporaryName>) -> io::Result<Unfinished> {
        let mut file = None;
        let name = name(&mut |path| {
            file = Some(File::options().read(true).write(true).create_new(true).open(path)?);
            Ok(())
        })?;
        let file = file.ok_or_else(|| io::Error::other("no file was made"))?;
        Ok(Unfinished { name, file })
    }

    /// To write it.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.name.path()
    }

    /// Gives it the name `path`, on the same file system; what has that name loses it.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        self.name.persist(path)
    }
}

/// Makes something of this name; fails where there is something already.
type Make<'m> = &'m mut dyn FnMut(&Path) -> io::Result<()>;

/// Hexadecimal digits at the end of a temporary name: half of them are the number of the process, the rest is random.
const DIGITS: usize = 16;
/// Bytes of a longer name are no part of a temporary one: systems take no name above 255.
const LONGEST: usize = 200;

/// A name that nothing else has. The file or directory that has it disappears with the value.
#[derive(Debug)]
pub struct TemporaryName(PathBuf);

impl TemporaryName {
    /// A name in `directory` under which `make` makes something; it fails where there is something already.
    pub fn make(directory: &Path, make: Make<'_>) -> io::Result<TemporaryName> {
        TemporaryName::starting(&directory.join(SCRATCH_PREFIX), make)
    }

    /// The same beside `path`, for what is to become it.
    pub fn becoming(path: &Path, make: Make<'_>) -> io::Result<TemporaryName> {
        let name = path.file_name().filter(|name| name.len() <= LONGEST).unwrap_or_default();
        let mut start = OsString::from(SCRATCH_PREFIX);
        start.push(name);
        start.push("-");
        TemporaryName::starting(&path.with_file_name(start), make)
    }

    /// What is to become of the file that has the name `temporary`, if that was made for it.
    pub fn becomes(temporary: &str) -> Option<&str> {
        let (name, digits) = temporary.strip_prefix(SCRATCH_PREFIX)?.rsplit_once('-')?;
        (is_number(digits) && !name.is_empty()).then_some(name)
    }

    /// The number of the process that made the name, if it is a temporary one.
    fn process(temporary: &str) -> Option<u32> {
        let rest = temporary.strip_prefix(SCRATCH_PREFIX)?;
        let digits = rest.rsplit_once('-').map_or(rest, |(_, digits)| digits);
        let half = digits.get(..DIGITS / 2).filter(|_| is_number(digits))?;
        u32::from_str_radix(half, 16).ok()
    }

    fn starting(start: &Path, make: Make<'_>) -> io::Result<TemporaryName> {
        loop {
            // The standard library seeds it with random bits of the system's.
            let random = RandomState::new().build_hasher().finish() as u32;
            let number = u64::from(std::process::id()) << 32 | u64::from(random);
            let mut path = start.as_os_str().to_owned();
            path.push(format!("{number:0DIGITS$x}"));
            let path = PathBuf::from(path);
            match make(&path) {
                Ok(()) => return Ok(TemporaryName(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The name.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Renames what has it to `path`, on the same file system.
    pub fn persist(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)?;
        self.0 = PathBuf::new();
        Ok(())
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        // What cannot be removed is removed a day later, with what killed builds left.
        remove(&self.0);
    }
}

fn is_number(digits: &str) -> bool {
    digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
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
    fn a_temporary_name_tells_what_the_file_is_to_become() {
        let dir = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let file = Unfinished::becoming(&dir.path().join(name)).unwrap();
            assert!(file.path().parent() == Some(dir.path()) && file.path().exists());
            file.path().file_name().unwrap().to_str().unwrap().to_string()
        };
        assert_eq!(TemporaryName::becomes(&made("app-1.so")), Some("app-1.so"));
        assert_eq!(TemporaryName::becomes(&made(&"a".repeat(250))), None);
        let other = Unfinished::new(dir.path()).unwrap();
        assert_eq!(TemporaryName::becomes(other.path().file_name().unwrap().to_str().unwrap()), None);
    }

    #[test]
    fn what_other_processes_left_goes() {
        let dir = tempfile::tempdir().unwrap();
        let digits = |number| format!("{:08x}{number:08x}", std::process::id() ^ 1);
        for name in [format!(".offload-{}", digits(1)), format!(".offload-lib.a-{}", digits(2))] {
            fs::write(dir.path().join(name), "half").unwrap();
        }
        let scratch = dir.path().join(format!(".offload-{}", digits(3)));
        fs::create_dir(&scratch).unwrap();
        fs::write(scratch.join("file"), "half").unwrap();
        for name in [".offload-notes", "lib.a"] {
            fs::write(dir.path().join(name), "of somebody").unwrap();
        }
        let own = Unfinished::new(dir.path()).unwrap();
        remove_leftovers(dir.path());
        assert!(own.path().exists());
        assert_eq!(names(dir.path()), 3, "{:?}", list(dir.path()));
    }

    #[test]
    fn a_name_that_is_taken_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let mut tried = Vec::new();
        let name = TemporaryName::make(dir.path(), &mut |path| {
            tried.push(path.to_path_buf());
            match tried.len() {
                1 => Err(io::ErrorKind::AlreadyExists.into()),
                _ => fs::write(path, "mine"),
            }
        });
        let name = name.unwrap();
        assert!(tried.len() == 2 && tried[0] != tried[1] && name.path() == tried[1]);
        let denied = TemporaryName::make(dir.path(), &mut |_| Err(io::ErrorKind::PermissionDenied.into()));
        assert_eq!(denied.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}
