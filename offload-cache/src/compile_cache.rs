//! Public view of the compile cache: location, limits and entries.
//!
//! Nothing is locked: a build's lookup of an entry that is removed meanwhile is a miss.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::blob::Blob;
use crate::name::CachedFile;
use crate::results::Results;
use crate::sweep::{self, CacheEntry, Limits};

/// The caches of all releases of this crate for this user.
#[derive(Clone, Debug)]
pub struct CompileCache {
    dir: PathBuf,
    limit: Option<u64>,
}

impl CompileCache {
    /// The caches in the directory `dir`, of which builds keep what `limits` says.
    pub fn new(dir: impl Into<PathBuf>, limits: Limits) -> CompileCache {
        CompileCache { dir: dir.into(), limit: limits.size }
    }

    /// The cache in the directory `dir`, of which builds keep everything.
    pub fn at(dir: impl Into<PathBuf>) -> CompileCache {
        CompileCache::new(dir, Limits::NONE)
    }

    /// Where it is. There need be no such directory yet.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Bytes that builds keep, once a day; `None` is no limit.
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Where the results of builds came from, as far back as that is recorded.
    pub fn results(&self) -> Results {
        let all = sweep::releases(&self.dir).map(|(release, _)| Results::recorded(&release));
        all.fold(Results::default(), Results::and)
    }

    /// Every entry of every release, by path.
    pub fn entries(&self) -> Vec<CacheEntry> {
        let now = SystemTime::now();
        let mut entries: Vec<CacheEntry> =
            sweep::releases(&self.dir).flat_map(|(release, _)| sweep::entries(&release, now)).collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        entries
    }
}

impl CacheEntry {
    /// Whether its bytes are those that were stored under its name. Packs have no checksum that is compared here:
    /// `None`.
    ///
    /// A damaged entry may be removed by being read.
    pub fn is_sound(&self) -> Option<bool> {
        let CachedFile::Entry(file) = CachedFile::from_path(&self.path)? else { return None };
        let read = Blob::open(file).map(|blob| blob.copy_to(&mut std::io::sink()));
        Some(matches!(read, Some(Ok(()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyBuilder;
    use crate::tests::cache;

    /// How many entries there are, and whether those of `blobs` are sound.
    fn soundness(cache: &CompileCache, blobs: &[Blob; 2]) -> (usize, [Option<bool>; 2]) {
        let entries = cache.entries();
        let sound = blobs.each_ref().map(|blob| {
            let entry = entries.iter().find(|entry| entry.path == blob.path)?;
            Some(entry.is_sound().unwrap())
        });
        (entries.len(), sound)
    }

    #[test]
    fn damaged_entries_are_told_apart() {
        let (dir, cache) = cache(Limits::NONE);
        let keys = ["a", "b"].map(|name| KeyBuilder::new(name).finish());
        let blobs = keys.map(|key| cache.put(key, b"some bytes").unwrap());
        cache.put_dependencies(keys[0], "read").unwrap();
        let cache = CompileCache::at(dir.path());
        assert_eq!(soundness(&cache, &blobs), (3, [Some(true); 2]));
        let mut bytes = std::fs::read(&blobs[0].path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&blobs[0].path, bytes).unwrap();
        assert_eq!(soundness(&cache, &blobs), (3, [Some(false), Some(true)]));
        std::fs::rename(&blobs[1].path, &blobs[0].path).unwrap();
        assert_eq!(soundness(&cache, &blobs), (2, [Some(false), None]));
    }

    fn sorted_soundness(entries: &[CacheEntry]) -> Vec<Option<bool>> {
        let mut sound: Vec<_> = entries.iter().map(CacheEntry::is_sound).collect();
        sound.sort();
        sound
    }

    #[test]
    fn recorded_dependencies_are_compared_and_packs_are_not() {
        let (dir, cache) = cache(Limits::NONE);
        cache.put_dependencies(KeyBuilder::new("a").finish(), "read").unwrap();
        cache
            .put_pack(offload_format::Hash128([7; 16]), 4, |out| std::io::Write::write_all(out, b"pack"))
            .unwrap();
        let entries = CompileCache::at(dir.path()).entries();
        assert_eq!(sorted_soundness(&entries), [None, Some(true)]);
        for entry in entries {
            let mut bytes = std::fs::read(&entry.path).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            std::fs::write(&entry.path, bytes).unwrap();
        }
        assert_eq!(sorted_soundness(&CompileCache::at(dir.path()).entries()), [None, Some(false)]);
    }
}
