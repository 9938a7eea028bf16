//! Exclusive lock for changes to the programs of a directory.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Held until it is dropped, or the process ends.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _directory: File,
}

impl DirectoryLock {
    /// Locks `directory`; calls `waits` once if another process holds it, and waits for that one. `None` where a directory
    /// cannot be locked: there is none, it may not be read, or the system has no such locks.
    ///
    /// # Errors
    /// The system fails otherwise.
    pub(crate) fn take(directory: &Path, waits: impl FnOnce()) -> io::Result<Option<DirectoryLock>> {
        let locked = File::open(directory).and_then(|directory| {
            lock(&directory, waits)?;
            Ok(DirectoryLock { _directory: directory })
        });
        match locked {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if cannot_lock(error.kind()) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn cannot_lock(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied | ErrorKind::Unsupported
    )
}

#[cfg(target_os = "linux")]
fn lock(directory: &File, waits: impl FnOnce()) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::{Errno, retry_on_intr};

    match flock(directory, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => {
            waits();
            Ok(retry_on_intr(|| flock(directory, FlockOperation::LockExclusive))?)
        }
        // A file system of the network without a service for locks.
        Err(Errno::NOLCK) => Err(ErrorKind::Unsupported.into()),
        outcome => Ok(outcome?),
    }
}

#[cfg(not(target_os = "linux"))]
fn lock(_: &File, _: impl FnOnce()) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_second_waits_for_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let first = DirectoryLock::take(dir.path(), || panic!("the lock is free")).unwrap();
        assert!(first.is_some());
        let (events, seen) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let second = DirectoryLock::take(dir.path(), || events.send("waits").unwrap()).unwrap();
                assert!(second.is_some());
                events.send("has it").unwrap();
            });
            assert_eq!(seen.recv().unwrap(), "waits");
            drop(first);
            assert_eq!(seen.recv().unwrap(), "has it");
        });
    }

    #[test]
    fn what_is_no_directory_is_not_locked() {
        let dir = tempfile::tempdir().unwrap();
        assert!(DirectoryLock::take(&dir.path().join("none"), || ()).unwrap().is_none());
    }
}
