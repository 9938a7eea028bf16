//! Digests of local files, cached while the file is unchanged.

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

/// A cache of file digests.
#[derive(Debug, Default)]
pub(crate) struct Files(Mutex<HashMap<PathBuf, (Stamp, Digest)>>);

/// The metadata that changes with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

/// The digest and mode of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileDigest {
    pub(crate) digest: Digest,
    pub(crate) is_executable: bool,
}

/// The coarsest timestamps of file systems: a younger file may change without a new timestamp.
const TIMESTAMP_GRANULARITY: Duration = Duration::from_secs(2);

impl Files {
    /// Hashes the file at `path`, which may be a link. It blocks.
    ///
    /// # Errors
    /// If there is no such file, or it cannot be read.
    pub(crate) fn digest(&self, path: &Path) -> Result<FileDigest, Fault> {
        self.hash(path).map_err(|error| Fault::file("read", path, &error))
    }

    fn hash(&self, path: &Path) -> io::Result<FileDigest> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let is_executable = metadata.permissions().mode() & 0o111 != 0;
        let stamp = Stamp::from_metadata(&metadata);
        let known = locked(&self.0).get(path).filter(|(known, _)| *known == stamp).map(|(_, digest)| *digest);
        let digest = match known {
            Some(digest) => digest,
            None => {
                let digest = read(&mut file)?;
                if is_settled(&metadata) && Stamp::from_metadata(&file.metadata()?) == stamp {
                    locked(&self.0).insert(path.to_path_buf(), (stamp, digest));
                }
                digest
            }
        };
        Ok(FileDigest { digest, is_executable })
    }
}

impl Stamp {
    fn from_metadata(metadata: &Metadata) -> Stamp {
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
    age.is_ok_and(|age| age.is_ok_and(|age| age > TIMESTAMP_GRANULARITY))
}

fn read(file: &mut File) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut size = 0_u64;
    let mut buffer = vec![0; 1 << 18];
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
            assert_eq!(files.digest(&path).unwrap().digest, Digest::from_bytes(content.as_bytes()));
        }
        assert!(!files.digest(&path).unwrap().is_executable);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(files.digest(&path).unwrap().is_executable);
    }

    fn write_with_time(path: &Path, content: &str, modified: SystemTime) {
        std::fs::write(path, content).unwrap();
        File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    }

    #[test]
    fn an_old_file_is_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let old = SystemTime::now() - Duration::from_secs(60);
        let files = Files::default();
        write_with_time(&path, "one", old);
        let first = files.digest(&path).unwrap();
        write_with_time(&path, "two", old);
        assert_eq!(files.digest(&path).unwrap(), first, "the digest was not kept");
        write_with_time(&path, "three", old);
        assert_ne!(files.digest(&path).unwrap(), first);
    }

    #[test]
    fn what_is_no_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_path_buf(), dir.path().join("none")] {
            let fault = Files::default().digest(&path).unwrap_err();
            assert!(fault.message.contains(&format!("cannot read `{}`", path.display())), "{fault:?}");
        }
    }
}
