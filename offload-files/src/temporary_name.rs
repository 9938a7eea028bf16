//! Unique names of unfinished files, which identify the process that writes them.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// What the names of unfinished files and of private directories begin with; a killed build leaves them behind.
pub const SCRATCH_PREFIX: &str = ".offload-";

/// Makes something of this name; fails where there is something already.
pub(crate) type Make<'m> = &'m mut dyn FnMut(&Path) -> io::Result<()>;

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
    pub fn process(temporary: &str) -> Option<u32> {
        let rest = temporary.strip_prefix(SCRATCH_PREFIX)?;
        let digits = rest.rsplit_once('-').map_or(rest, |(_, digits)| digits);
        let half = digits.get(..DIGITS / 2).filter(|_| is_number(digits))?;
        u32::from_str_radix(half, 16).ok()
    }

    /// Whether the process that made the name `temporary` has ended. Where the system does not tell, it has not.
    pub fn is_abandoned(temporary: &str) -> bool {
        TemporaryName::process(temporary).is_some_and(|process| {
            Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists()
        })
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

/// A file that cannot be removed does no harm: its name is unique.
pub(crate) fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn names_of_ended_processes_are_abandoned() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let ended = child.id();
        assert!(child.wait().unwrap().success());
        let own = std::process::id();
        assert!(TemporaryName::is_abandoned(&format!("{SCRATCH_PREFIX}file-{ended:08x}00000000")));
        assert!(!TemporaryName::is_abandoned(&format!("{SCRATCH_PREFIX}file-{own:08x}00000000")));
        assert!(!TemporaryName::is_abandoned("file"));
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
