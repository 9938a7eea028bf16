//! Files of this machine: each is read once for its digest, as long as it stays what it is.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use crate::digest::Digest;
use crate::fault::Fault;
use crate::sync::locked;

/// Digests of files.
#[derive(Debug, Default)]
pub(crate) struct Files(Mutex<HashMap<PathBuf, (Stamp, Digest)>>);

/// What changes when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

/// A file that others get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hashed {
    pub(crate) digest: Digest,
    pub(crate) is_executable: bool,
}

/// A file system may count time in steps as long as this: a younger file may change without a new time.
const STEP: Duration = Duration::from_secs(2);

impl Files {
    /// The digest of the file at `path`, which may be a link. It blocks.
    ///
    /// # Errors
    /// There is no such file, or it cannot be read.
    pub(crate) fn hashed(&self, path: &Path) -> Result<Hashed, Fault> {
        self.hash(path).map_err(|error| Fault::file("read", path, &error))
    }

    fn hash(&self, path: &Path) -> io::Result<Hashed> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let is_executable = metadata.permissions().mode() & 0o111 != 0;
        let stamp = Stamp::of(&metadata);
        let known = locked(&self.0).get(path).filter(|(known, _)| *known == stamp).map(|(_, digest)| *digest);
        let digest = match known {
            Some(digest) => digest,
            None => {
                let digest = read(&mut file)?;
                if is_settled(&metadata) && Stamp::of(&file.metadata()?) == stamp {
                    locked(&self.0).insert(path.to_path_buf(), (stamp, digest));
                }
                digest
            }
        };
        Ok(Hashed { digest, is_executable })
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        }
    }
}

fn is_settled(metadata: &Metadata) -> bool {
    let age = metadata.modified().map(|time| SystemTime::now().duration_since(time));
    age.is_ok_and(|age| age.is_ok_and(|age| age > STEP))
}

fn read(file: &mut File) -> io::Result<Digest> {
    let (mut hash, mut size, mut buffer) = (Sha256::new(), 0_u64, vec![0; 1 << 18]);
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(buffer.get(..count).unwrap_or_default());
        size = size.saturating_add(count as u64);
    }
    Ok(Digest { sha256: hash.finalize().into(), size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_again_when_it_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let files = Files::default();
        for content in ["one", "two"] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(files.hashed(&path).unwrap().digest, Digest::of(content.as_bytes()));
        }
        assert!(!files.hashed(&path).unwrap().is_executable);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(files.hashed(&path).unwrap().is_executable);
    }

    #[test]
    fn an_old_file_is_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let old = SystemTime::now() - Duration::from_secs(60);
        let write = |content: &str| {
            std::fs::write(&path, content).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        };
        let files = Files::default();
        write("one");
        let first = files.hashed(&path).unwrap();
        write("two");
        assert_eq!(files.hashed(&path).unwrap(), first, "the digest was not kept");
        write("three");
        assert_ne!(files.hashed(&path).unwrap(), first);
    }

    #[test]
    fn what_is_no_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_path_buf(), dir.path().join("none")] {
            let fault = Files::default().hashed(&path).unwrap_err();
            assert!(fault.message.contains(&format!("cannot read `{}`", path.display())), "{fault:?}");
        }
    }
}
