//! The content-addressed cache of compiled things, shared by profiles, features, editors and projects.
//!
//! ```text
//! <cache>/VERSION/ab/<key>.blob       magic, key, length, hash, then the bytes that some action made
//! <cache>/VERSION/ab/<key>.deps       the same for actions that read headers: what they read, and the key of the result
//! <cache>/VERSION/ab/<id>.pack         a pack that programs of development builds name
//! <cache>/VERSION/CACHEDIR.TAG        what this directory is, for backups and for the sweep of a later release
//! <cache>/VERSION/swept               when entries were last evicted
//! ```
//!
//! A key is the hash of everything that the result depends on. Entries appear by rename and disappear by removal, so
//! concurrent builds need no lock. Every read checks the key and the hash; an entry that is missing, damaged or
//! another's is a miss. The time of a file is the day of its last use.

mod blob;
mod compile_cache;
mod directory;
mod name;
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
use offload_protocol::variable;

pub(crate) use self::blob::Blob;
pub use self::compile_cache::CompileCache;
use self::directory::STAMP;
use self::name::{EntryFile, Kind, VERSION};
pub(crate) use self::name::{Key, KeyBuilder};
pub use self::sweep::CacheEntry;
use self::sweep::{DAY, Limits};
use self::threads::KeyLocks;
pub(crate) use self::threads::{KeyLock, Memo};
use crate::env::{CargoEnv, Runner};
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
pub use crate::tally::Results;

/// The directory of a cache that belongs to one `OUT_DIR`.
const OWN: &str = "offload-cache";

const UNUSABLE: &str = "set OFFLOAD_CACHE_DIR to a directory that can be written, or unset it";

/// Longer than any build takes, and short beside the time after which entries go.
const BEFORE: Duration = Duration::from_secs(24 * 60 * 60);

/// The cache's directory.
#[derive(Debug)]
pub(crate) struct Cache {
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
    /// The user's cache, or one in `OUT_DIR` where there is none, it cannot be written, or others may write to it.
    pub(crate) fn open(env: &CargoEnv) -> Result<Cache> {
        let limits = Cache::limits(env)?;
        let shared = Cache::place(env).and_then(|(dir, _)| Cache::at(dir.join(VERSION), limits));
        match shared {
            Err(error) if env.var(variable::CACHE_DIR).is_some() => Err(match error.hint() {
                Some(_) => error,
                None => error.with_hint(UNUSABLE),
            }),
            Err(error) => {
                if error.kind() == ErrorKind::UntrustedCache {
                    env.warn(error.summary());
                }
                Cache::for_out_dir(env, limits)
            }
            cache => cache,
        }
    }

    /// Where the caches of all releases lie, and what eviction keeps.
    fn place(env: &CargoEnv) -> Result<(PathBuf, Limits)> {
        let dir = env.cache_dir().ok_or_else(|| {
            Error::new("this user has no directory for caches").with_hint("set OFFLOAD_CACHE_DIR")
        })?;
        Ok((dir, Cache::limits(env)?))
    }

    /// What eviction keeps. Limits change no output, so a change of them reruns nothing.
    fn limits(env: &CargoEnv) -> Result<Limits> {
        match sweep::LIMITS.map(|name| env.setting(name)) {
            [None, None] => Ok(Limits::USUAL),
            values => Limits::parse(values),
        }
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

    /// For who has no cache: one that the next run finds, where there is one in the same `OUT_DIR`.
    fn for_out_dir(env: &CargoEnv, limits: Limits) -> Result<Cache> {
        match env.runner {
            Runner::Cargo => Cache::at(env.out_dir.join(OWN), limits),
            Runner::Other => {
                let scratch = fs::scratch(&env.out_dir)?;
                let cache = Cache::at(scratch.path().to_path_buf(), limits)?;
                Ok(Cache { _scratch: Some(scratch), ..cache })
            }
        }
    }

    /// Runs `work`, and repeats it if an entry was evicted or damaged meanwhile, as the lookup is a miss then. If others
    /// evict entries faster than `work` creates them, the last attempt has a cache of its own below `out_dir`.
    pub(crate) fn retry_lost_entries<T>(&self, out_dir: &Path, work: impl Fn() -> Result<T>) -> Result<T> {
        const ATTEMPTS: usize = 3;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                self.distrusted.store(true, Ordering::Relaxed);
            }
            let result = work();
            if !result.as_ref().is_err_and(Error::is_lost_entry) {
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
    pub(crate) fn get(&self, key: Key) -> Option<Blob> {
        let blob = Blob::open(self.entry_file(key, Kind::Blob))?;
        let trusted = !self.distrusted.load(Ordering::Relaxed);
        (trusted || blob.copy_to(&mut io::sink()).is_ok()).then_some(blob)
    }

    /// Waits while another thread makes the result of `key`. What it made is in the cache then: look before running.
    pub(crate) fn lock(&self, key: Key) -> KeyLock<'_> {
        self.locks.lock(key)
    }

    /// Stores `content` under `key`.
    pub(crate) fn put(&self, key: Key, content: &[u8]) -> Result<Blob> {
        Blob::write(self.entry_file_for_writing(key, Kind::Blob)?, content)
    }

    /// A blob outside of the cache, which is gone with `directory`.
    pub(crate) fn put_outside(&self, directory: &Path, content: &[u8]) -> Result<Blob> {
        let key = KeyBuilder::new("outside").finish();
        Blob::write(EntryFile { path: directory.join("blob"), key, kind: Kind::Blob }, content)
    }

    /// The result under `key`, made by `make` if it is not there.
    pub(crate) fn get_or(&self, key: Key, make: impl FnOnce() -> Result<Vec<u8>>) -> Result<Blob> {
        match self.get(key) {
            Some(blob) => Ok(blob),
            None => self.put(key, &make()?),
        }
    }

    /// As [`Cache::get_or`], for a result that `fill` hands out piece by piece.
    pub(crate) fn stream_or(
        &self,
        key: Key,
        fill: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<Blob> {
        match self.get(key) {
            Some(blob) => Ok(blob),
            None => Blob::stream(self.entry_file_for_writing(key, Kind::Blob)?, fill),
        }
    }

    /// The undamaged text under `key`, if it is there.
    pub(crate) fn get_text(&self, key: Key) -> Option<String> {
        self.get(key)?.read_text().ok()
    }

    /// Whether an entry was found damaged: then nothing is taken of other machines either, who may have sent it.
    pub(crate) fn is_distrusted(&self) -> bool {
        self.distrusted.load(Ordering::Relaxed)
    }

    /// Rejects an undamaged `blob` that does not belong to its key: its entry is removed and treated as lost. If the repeated
    /// attempt produces the same, the result is `error`.
    pub(crate) fn refused(&self, blob: &Blob, error: Error) -> Error {
        if self.distrusted.load(Ordering::Relaxed) { error } else { blob.discard() }
    }

    /// The recorded dependency sets of an action that reads headers.
    pub(crate) fn dependencies(&self, key: Key) -> Option<String> {
        Blob::open(self.entry_file(key, Kind::Dependencies))?.read_text().ok()
    }

    pub(crate) fn put_dependencies(&self, key: Key, text: &str) -> Result<()> {
        Blob::write(self.entry_file_for_writing(key, Kind::Dependencies)?, text.as_bytes()).map(drop)
    }

    /// The name of this release's directory, if programs can find the cache: one in `OUT_DIR` is out of their sight.
    pub(crate) fn release(&self) -> Option<&'static str> {
        self.dir().ends_with(VERSION).then_some(VERSION)
    }

    /// Puts the pack `id` of `size` bytes into the cache, unless it is there: bytes without a header of ours, as programs
    /// of development builds read them.
    ///
    /// Cargo runs the build script again when such a file is gone. It compares times too: the file has to seem older
    /// than the run of the build script that wrote it, or cargo would run that twice.
    pub(crate) fn put_pack(
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
            fs::create_dir_all(path.parent().unwrap_or(self.dir()))?;
            fs::publish(&path, write)?;
        }
        if used.and_then(|used| now.duration_since(used).ok()).is_none_or(|ago| ago > BEFORE + DAY) {
            set_modified(&path, now.checked_sub(BEFORE).unwrap_or(now))
                .map_err(|error| Error::io("write", &path, error))?;
        }
        Ok(path)
    }

    /// Evicts what is old or too much. At most once a day, and never a reason for a build to fail.
    pub(crate) fn sweep(&self) {
        let stamp = self.shared.join(STAMP);
        let now = SystemTime::now();
        let swept = stamp.symlink_metadata().and_then(|data| data.modified());
        // A time in the future, from before a clock was set right, counts as now.
        if swept.is_ok_and(|swept| now.duration_since(swept).unwrap_or_default() < DAY) {
            return;
        }
        // Before the work, so that builds which end meanwhile do not do it too.
        if fs::publish(&stamp, |_| Ok(())).is_ok() {
            sweep::sweep(&self.shared, &self.limits, now);
            crate::tally::forget(&self.shared);
        }
    }

    fn entry_file_for_writing(&self, key: Key, kind: Kind) -> Result<EntryFile> {
        let file = self.entry_file(key, kind);
        fs::create_dir_all(file.path.parent().unwrap_or(self.dir()))?;
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

    pub(crate) fn dir(&self) -> &Path {
        self.own.get().unwrap_or(&self.shared)
    }
}

fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    File::options().append(true).open(path)?.set_modified(time)
}

#[cfg(test)]
pub(crate) mod tests;
