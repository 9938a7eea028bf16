//! Content-addressed cache of compiled things, shared by profiles, features, editors and projects.
//!
//! ```text
//! <cache>/VERSION/ab/<key>.blob       magic, key, length, hash, then the bytes that some action made
//! <cache>/VERSION/ab/<key>.deps       the same for actions that read headers: what they read, and the key of the result
//! <cache>/VERSION/ab/<id>.pack         a pack that programs of development builds name
//! <cache>/VERSION/CACHEDIR.TAG        what this directory is, for backups and for the sweep of a later release
//! <cache>/VERSION/builds              where the results of builds came from, a line for each build script
//! <cache>/VERSION/swept               when entries were last evicted
//! ```
//!
//! A key is the hash of everything that the result depends on. Entries appear by rename and disappear by removal, so
//! concurrent builds need no lock. Every read checks the key and the hash; an entry that is missing, damaged or
//! another's is a miss. The time of a file is the day of its last use.
//!
//! ```
//! use offload_cache::{Cache, Error, KeyBuilder, Limits};
//!
//! # let directory = std::env::temp_dir().join(format!("offload-cache-{}", std::process::id()));
//! let cache = Cache::for_release(&directory, Limits::USUAL)?;
//! let key = KeyBuilder::new("double").part(b"21").finish();
//! let blob = cache.get_or(key, || Ok::<_, Error>(b"42".to_vec()))?;
//! assert_eq!(blob.read()?, b"42");
//! // The second lookup is a hit.
//! assert!(cache.get(key).is_some());
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod blob;
mod compile_cache;
mod directory;
mod error;
mod files;
mod name;
mod results;
mod revision;
mod sweep;
mod threads;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use offload_files::TemporaryName;
use offload_format::Hash128;
use offload_format::pack::cached_file;

pub use self::blob::{Blob, BlobPieces};
pub use self::compile_cache::CompileCache;
use self::directory::STAMP;
use self::error::Result;
pub use self::error::{CacheFailure, Error, ErrorKind, LostEntry};
use self::name::{EntryFile, Kind, VERSION};
pub use self::name::{Key, KeyBuilder};
pub use self::results::{Origin, Origins, Results, Tally};
use self::sweep::DAY;
pub use self::sweep::{CacheEntry, Limits};
use self::threads::KeyLocks;
pub use self::threads::{KeyLock, Memo};

/// The directory of a cache that belongs to one `OUT_DIR`.
const OWN: &str = "offload-cache";

/// Longer than any build takes, and short beside the time after which entries go.
const BEFORE: Duration = Duration::from_secs(24 * 60 * 60);

/// A directory with results of actions.
#[derive(Debug)]
pub struct Cache {
    shared: PathBuf,
    /// Replaces it once entries were lost repeatedly. No other process uses it.
    own: OnceLock<PathBuf>,
    limits: Limits,
    /// Set once an entry was found damaged: then none is trusted before its bytes are checked.
    distrusted: AtomicBool,
    locks: KeyLocks,
    /// Makes the directory disappear with the cache, where it serves one run alone.
    _scratch: Option<TemporaryName>,
}

impl Cache {
    /// The cache of this release in `directory`, which the caches of all releases share.
    ///
    /// # Errors
    /// If it cannot be written, belongs to another user, or others may write to it.
    pub fn for_release(directory: &Path, limits: Limits) -> Result<Cache> {
        Cache::at(directory.join(VERSION), limits)
    }

    /// The cache of one build script, in its `OUT_DIR`.
    ///
    /// # Errors
    /// As [`Cache::for_release`].
    pub fn for_out_dir(out_dir: &Path, limits: Limits) -> Result<Cache> {
        Cache::at(out_dir.join(OWN), limits)
    }

    /// A cache that disappears with the value.
    ///
    /// # Errors
    /// As [`Cache::for_release`].
    pub fn for_run(scratch: TemporaryName, limits: Limits) -> Result<Cache> {
        let cache = Cache::at(scratch.path().to_path_buf(), limits)?;
        Ok(Cache { _scratch: Some(scratch), ..cache })
    }

    fn at(dir: PathBuf, limits: Limits) -> Result<Cache> {
        directory::open(&dir)?;
        Ok(Cache {
            shared: dir,
            own: OnceLock::new(),
            limits,
            distrusted: AtomicBool::new(false),
            locks: KeyLocks::default(),
            _scratch: None,
        })
    }

    /// Runs `work`, and repeats it if an entry was evicted or damaged meanwhile, as the lookup is a miss then. If others
    /// evict entries faster than `work` creates them, the last attempt has a cache of its own below `out_dir`.
    ///
    /// # Errors
    /// That of the last attempt.
    pub fn retry_lost_entries<T, E: CacheFailure>(
        &self,
        out_dir: &Path,
        work: impl Fn() -> Result<T, E>,
    ) -> Result<T, E> {
        const ATTEMPTS: usize = 3;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                self.distrusted.store(true, Ordering::Relaxed);
            }
            let result = work();
            if !result.as_ref().is_err_and(E::is_lost_entry) {
                return result;
            }
        }
        let own = out_dir.join(OWN);
        directory::open(&own)?;
        let own = self.own.get_or_init(|| own);
        let result = work();
        // No later lookup uses it.
        let _ = std::fs::remove_dir_all(own);
        result
    }

    /// The result under `key`, if it is there.
    pub fn get(&self, key: Key) -> Option<Blob> {
        let blob = Blob::open(self.entry_file(key, Kind::Blob))?;
        let trusted = !self.distrusted.load(Ordering::Relaxed);
        (trusted || blob.copy_to(&mut io::sink()).is_ok()).then_some(blob)
    }

    /// Waits while another thread makes the result of `key`. What it made is in the cache then: look before running.
    pub fn lock(&self, key: Key) -> KeyLock<'_> {
        self.locks.lock(key)
    }

    /// Stores `content` under `key`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put(&self, key: Key, content: &[u8]) -> Result<Blob> {
        Blob::write(self.entry_file_for_writing(key, Kind::Blob)?, content)
    }

    /// A blob outside of the cache, which is gone with `directory`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn put_outside(&self, directory: &Path, content: &[u8]) -> Result<Blob> {
        let key = KeyBuilder::new("outside").finish();
        Blob::write(EntryFile { path: directory.join("blob"), key, kind: Kind::Blob }, content)
    }

    /// The result under `key`, made by `make` if it is not there.
    ///
    /// # Errors
    /// That of `make`, or if the result cannot be written.
    pub fn get_or<E: From<Error>>(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Blob, E> {
        match self.get(key) {
            Some(blob) => Ok(blob),
            None => Ok(self.put(key, &make()?)?),
        }
    }

    /// As [`Cache::get_or`], for a result that `fill` hands out piece by piece.
    ///
    /// # Errors
    /// That of `fill`, or if the result cannot be written.
    pub fn stream_or<E: From<Error>>(
        &self,
        key: Key,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<Blob, E> {
        match self.get(key) {
            Some(blob) => Ok(blob),
            None => Blob::stream(self.entry_file_for_writing(key, Kind::Blob)?, fill),
        }
    }

    /// The undamaged text under `key`, if it is there.
    pub fn get_text(&self, key: Key) -> Option<String> {
        self.get(key)?.read_text().ok()
    }

    /// Whether an entry was found damaged: then nothing is taken of other machines either, who may have sent it.
    pub fn is_distrusted(&self) -> bool {
        self.distrusted.load(Ordering::Relaxed)
    }

    /// Rejects an undamaged `blob` that does not belong to its key: its entry is removed and treated as lost. If the repeated
    /// attempt produces the same, the result is `error`.
    pub fn refused<E: From<Error>>(&self, blob: &Blob, error: E) -> E {
        if self.is_distrusted() { error } else { blob.discard().into() }
    }

    /// The recorded dependency sets of an action that reads headers.
    pub fn dependencies(&self, key: Key) -> Option<String> {
        Blob::open(self.entry_file(key, Kind::Dependencies))?.read_text().ok()
    }

    /// Records the dependency sets of an action.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn put_dependencies(&self, key: Key, text: &str) -> Result<()> {
        Blob::write(self.entry_file_for_writing(key, Kind::Dependencies)?, text.as_bytes()).map(drop)
    }

    /// The name of this release's directory, if programs can find the cache: one in `OUT_DIR` is out of their sight.
    pub fn release(&self) -> Option<&'static str> {
        self.dir().ends_with(VERSION).then_some(VERSION)
    }

    /// Puts the pack `id` of `size` bytes into the cache, unless it is there: bytes without a header of ours, as programs
    /// of development builds read them.
    ///
    /// Cargo runs the build script again when such a file is gone. It compares times too: the file has to seem older
    /// than the run of the build script that wrote it, or cargo would run that twice.
    ///
    /// # Errors
    /// That of `write`, or if the file cannot be written.
    pub fn put_pack(
        &self,
        id: Hash128,
        size: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PathBuf> {
        let path = self.dir().join(cached_file(id));
        let kept = File::open(&path).and_then(|file| file.metadata()).ok();
        let used = kept.filter(|data| data.len() == size).and_then(|data| data.modified().ok());
        let now = SystemTime::now();
        if used.is_none() {
            files::create_dir_all(path.parent().unwrap_or(self.dir()))?;
            files::publish(&path, write)?;
        }
        if used.and_then(|used| now.duration_since(used).ok()).is_none_or(|ago| ago > BEFORE + DAY) {
            set_modified(&path, now.checked_sub(BEFORE).unwrap_or(now))
                .map_err(|error| Error::io("write", &path, error))?;
        }
        Ok(path)
    }

    /// Evicts what is old or too much. At most once a day, and never a reason for a build to fail.
    pub fn sweep(&self) {
        let stamp = self.shared.join(STAMP);
        let now = SystemTime::now();
        let swept = stamp.symlink_metadata().and_then(|data| data.modified());
        // A time in the future, from before a clock was set right, counts as now.
        if swept.is_ok_and(|swept| now.duration_since(swept).unwrap_or_default() < DAY) {
            return;
        }
        // Before the work, so that builds which end meanwhile do not do it too.
        if files::publish(&stamp, |_| Ok(())).is_ok() {
            sweep::sweep(&self.shared, &self.limits, now);
            results::forget(&self.shared);
        }
    }

    fn entry_file_for_writing(&self, key: Key, kind: Kind) -> Result<EntryFile> {
        let file = self.entry_file(key, kind);
        files::create_dir_all(file.path.parent().unwrap_or(self.dir()))?;
        Ok(file)
    }

    fn entry_file(&self, key: Key, kind: Kind) -> EntryFile {
        EntryFile { path: self.path(key, kind.extension()), key, kind }
    }

    fn path(&self, key: Key, extension: &str) -> PathBuf {
        let name = key.name();
        let shard = name.get(..2).unwrap_or_default();
        self.dir().join(shard).join(format!("{name}.{extension}"))
    }

    /// Where the entries are.
    pub fn dir(&self) -> &Path {
        self.own.get().unwrap_or(&self.shared)
    }
}

fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    File::options().append(true).open(path)?.set_modified(time)
}

#[cfg(test)]
mod tests;
