//! The compile cache, looked after from outside of a build.
//!
//! Nothing here is locked: a build that needs an entry which goes meanwhile makes it anew.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::blob::Blob;
use super::{Cache, DAY, sweep};
use crate::env::CargoEnv;
use crate::error::Error;

/// The caches of all releases of this crate for this user.
#[derive(Debug)]
pub struct CompileCache {
    dir: PathBuf,
    limit: Option<u64>,
}

/// Entries of a cache: how many, and how large together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many entries there are.
    pub entries: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// What [`CompileCache::verify`] has found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Verified {
    /// Results whose bytes are those that were stored.
    pub sound: Amount,
    /// Entries that were damaged, and are removed.
    pub damaged: Vec<PathBuf>,
}

impl CompileCache {
    /// The cache that a build script of a package in `directory` would use.
    ///
    /// # Errors
    /// If this user has no directory for caches, or a variable about the cache is not understood.
    pub fn of(directory: &Path) -> std::result::Result<CompileCache, Error> {
        let (dir, limits) = Cache::place(&CargoEnv::of_machine(directory, directory))?;
        Ok(CompileCache { dir, limit: limits.size })
    }

    /// Where it is. There need be no such directory yet.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Bytes that builds keep, once a day; `None` is no limit.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// All entries, and for how long the one that nobody needed for longest was not used.
    pub fn stats(&self) -> (Amount, Option<Duration>) {
        let entries = self.entries();
        (amount(&entries), entries.iter().map(|entry| entry.unused).max())
    }

    /// Removes entries that were unused for longer than `unused`, and tells what is gone.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub fn clean(&self, unused: Duration) -> std::result::Result<Amount, Error> {
        let mut entries = self.entries();
        entries.retain(|entry| unused.is_zero() || entry.unused > unused);
        entries.iter().try_for_each(|entry| crate::fs::remove_file(&entry.path))?;
        Ok(amount(&entries))
    }

    /// Reads every result, and removes those that are not what was stored.
    pub fn verify(&self) -> Verified {
        let mut verified = Verified { sound: Amount::default(), damaged: Vec::new() };
        // Recorded dependencies are compared with files at every use: a wrong one is one that does not fit.
        let blobs =
            self.entries().into_iter().filter(|entry| entry.path.extension().is_some_and(|e| e == "blob"));
        for entry in blobs {
            let read = Blob::open(entry.path.clone()).map(|blob| blob.copy_to(&mut std::io::sink()));
            if matches!(read, Some(Ok(()))) {
                verified.sound = verified.sound.and(entry.size);
            } else if entry.path.exists() && std::fs::remove_file(&entry.path).is_ok() || !entry.path.exists()
            {
                verified.damaged.push(entry.path);
            }
        }
        verified
    }

    fn entries(&self) -> Vec<sweep::Entry> {
        let now = SystemTime::now();
        let mut entries: Vec<_> =
            sweep::releases(&self.dir).flat_map(|(release, _)| sweep::entries(&release, now)).collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        entries
    }
}

impl Amount {
    fn and(self, bytes: u64) -> Amount {
        Amount { entries: self.entries.saturating_add(1), bytes: self.bytes.saturating_add(bytes) }
    }
}

fn amount(entries: &[sweep::Entry]) -> Amount {
    entries.iter().fold(Amount::default(), |amount, entry| amount.and(entry.size))
}

/// Days as a time.
pub fn days(count: u32) -> Duration {
    DAY.saturating_mul(count)
}

#[cfg(test)]
mod tests {
    use super::super::KeyBuilder;
    use super::super::limits::Limits;
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache, CompileCache) {
        let dir = tempfile::tempdir().unwrap();
        let limits = Limits { size: None, age: None };
        let cache = Cache::at(dir.path().join(super::super::VERSION), limits).unwrap();
        let upkeep = CompileCache { dir: dir.path().to_path_buf(), limit: None };
        (dir, cache, upkeep)
    }

    #[test]
    fn damaged_entries_are_found_and_removed() {
        let (_dir, cache, upkeep) = cache();
        let keys = ["a", "b"].map(|name| KeyBuilder::new(name).finish());
        let blobs = keys.map(|key| cache.put(key, b"some bytes").unwrap());
        let before = upkeep.stats().0;
        assert_eq!(before.entries, 2);
        let mut bytes = std::fs::read(&blobs[0].path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&blobs[0].path, bytes).unwrap();
        let verified = upkeep.verify();
        assert_eq!((verified.sound.entries, verified.damaged), (1, vec![blobs[0].path.clone()]));
        assert!(!blobs[0].path.exists() && blobs[1].path.exists());
        assert!(upkeep.verify().damaged.is_empty());
    }

    #[test]
    fn cleaning_removes_what_is_unused_and_nothing_of_others() {
        let (dir, cache, upkeep) = cache();
        let old = cache.put(KeyBuilder::new("old").finish(), b"old").unwrap();
        cache.put(KeyBuilder::new("new").finish(), b"new").unwrap();
        let time = SystemTime::now() - days(10);
        std::fs::File::options().write(true).open(&old.path).unwrap().set_modified(time).unwrap();
        std::fs::write(dir.path().join("notes.txt"), "mine").unwrap();
        assert_eq!(upkeep.clean(days(5)).unwrap().entries, 1);
        assert!(!old.path.exists());
        assert_eq!(upkeep.clean(Duration::ZERO).unwrap().entries, 1);
        assert_eq!(upkeep.stats().0, Amount::default());
        assert!(dir.path().join("notes.txt").exists());
    }
}
