//! Maintenance of the compile cache: statistics, cleaning and verification.

use std::path::PathBuf;
use std::time::Duration;

use offload_cache::{CacheEntry, CompileCache};

use crate::error::{IoContext, Result};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Entries of a cache: how many, and how large together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Amount {
    pub(crate) entries: u64,
    /// Their size in bytes.
    pub(crate) bytes: u64,
}

/// All entries of a cache.
#[derive(Debug)]
pub(crate) struct Stats {
    pub(crate) amount: Amount,
    /// Days since the least recently used entry was used.
    pub(crate) oldest: Option<Duration>,
}

/// Result of [`verify`].
#[derive(Debug)]
pub(crate) struct Verified {
    /// Results whose bytes are those that were stored.
    pub(crate) sound: Amount,
    /// Entries that were damaged, and are removed.
    pub(crate) damaged: Vec<PathBuf>,
}

/// All entries of `cache`.
pub(crate) fn stats(cache: &CompileCache) -> Stats {
    let entries = cache.entries();
    Stats { amount: Amount::from_entries(&entries), oldest: entries.iter().map(|entry| entry.unused).max() }
}

/// Removes entries that were unused for longer than `unused`, and tells what is gone.
pub(crate) fn clean(cache: &CompileCache, unused: Duration) -> Result<Amount> {
    let mut entries = cache.entries();
    entries.retain(|entry| unused.is_zero() || entry.unused > unused);
    for entry in &entries {
        std::fs::remove_file(&entry.path).io_context("remove", &entry.path)?;
    }
    Ok(Amount::from_entries(&entries))
}

/// Reads every result, and removes those that are not what was stored.
///
/// Recorded dependencies are compared with files at every use: a wrong one is one that does not fit.
pub(crate) fn verify(cache: &CompileCache) -> Verified {
    let mut verified = Verified { sound: Amount::default(), damaged: Vec::new() };
    for entry in cache.entries() {
        match entry.is_sound() {
            None => {}
            Some(true) => verified.sound = verified.sound.and(entry.size),
            Some(false) if !entry.path.exists() || std::fs::remove_file(&entry.path).is_ok() => {
                verified.damaged.push(entry.path);
            }
            Some(false) => {}
        }
    }
    verified
}

/// Days as a time.
pub(crate) fn days(count: u32) -> Duration {
    DAY.saturating_mul(count)
}

impl Amount {
    fn from_entries(entries: &[CacheEntry]) -> Amount {
        entries.iter().fold(Amount::default(), |amount, entry| amount.and(entry.size))
    }

    fn and(self, bytes: u64) -> Amount {
        Amount { entries: self.entries.saturating_add(1), bytes: self.bytes.saturating_add(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::SystemTime;

    use offload_format::Hash128;

    use super::*;

    /// A cache of a release, as offload-build makes it.
    fn cache() -> (tempfile::TempDir, CompileCache) {
        let dir = tempfile::tempdir().unwrap();
        let tag = "Signature: 8a477f597d28d172789f06886806bc55\n\
            # This directory holds compiled GPU kernels of the crate offload-build. It can be deleted at any time.\n";
        fs::create_dir_all(dir.path().join("v1/ab")).unwrap();
        fs::write(dir.path().join("v1/CACHEDIR.TAG"), tag).unwrap();
        let cache = CompileCache::at(dir.path());
        (dir, cache)
    }

    fn put(dir: &Path, name: char, content: &[u8]) -> PathBuf {
        let name = name.to_string().repeat(32);
        let key: Hash128 = name.parse().unwrap();
        let path = dir.join("v1/ab").join(format!("{name}.blob"));
        let size = (content.len() as u64).to_le_bytes();
        let blob = [b"OFLDBLOB", &key.0[..], &size, &Hash128::digest(content).0, content].concat();
        fs::write(&path, blob).unwrap();
        path
    }

    #[test]
    fn damaged_entries_are_found_and_removed() {
        let (dir, cache) = cache();
        let blobs = ['a', 'b'].map(|name| put(dir.path(), name, b"some bytes"));
        assert_eq!(stats(&cache).amount.entries, 2);
        let mut bytes = fs::read(&blobs[0]).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&blobs[0], bytes).unwrap();
        let verified = verify(&cache);
        assert_eq!((verified.sound.entries, verified.damaged), (1, vec![blobs[0].clone()]));
        assert!(!blobs[0].exists() && blobs[1].exists());
        assert!(verify(&cache).damaged.is_empty());
    }

    #[test]
    fn cleaning_removes_what_is_unused_and_nothing_of_others() {
        let (dir, cache) = cache();
        let old = put(dir.path(), 'a', b"old");
        put(dir.path(), 'b', b"new");
        let time = SystemTime::now() - days(10);
        fs::File::options().write(true).open(&old).unwrap().set_modified(time).unwrap();
        fs::write(dir.path().join("notes.txt"), "mine").unwrap();
        assert_eq!(clean(&cache, days(5)).unwrap().entries, 1);
        assert!(!old.exists());
        assert_eq!(clean(&cache, Duration::ZERO).unwrap().entries, 1);
        assert_eq!(stats(&cache).amount, Amount::default());
        assert!(dir.path().join("notes.txt").exists());
    }
}
