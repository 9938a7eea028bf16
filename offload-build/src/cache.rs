//! The content-addressed cache of compiled things, shared by profiles, features, editors and projects.
//!
//! ```text
//! <cache>/VERSION/ab/<key>.blob       magic, length, hash, then the bytes that some action made
//! <cache>/VERSION/ab/<key>.deps       for actions that read headers: what they read, and the key of the result
//! <cache>/VERSION/ab/<id>.pack         a pack that programs of development builds name
//! <cache>/VERSION/CACHEDIR.TAG        what this directory is, for backups and for the sweep of a later release
//! <cache>/VERSION/swept               when entries were last evicted
//! ```
//!
//! A key is the hash of everything that the result depends on. Entries appear by rename and disappear by removal, so
//! concurrent builds need no lock. Every read checks the hash; a damaged or missing entry is made anew. The time of
//! a file says when it was last used, to the day.

mod blob;
mod compile_cache;
mod entry;
mod lock;
mod packs;
mod sweep;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use offload_format::pack::CACHE_VAR;

pub(crate) use self::blob::Blob;
pub use self::compile_cache::CompileCache;
pub(crate) use self::entry::{Key, KeyBuilder};
use self::entry::{VERSION, touch};
use self::lock::{KeyLock, KeyLocks};
pub use self::sweep::Entry;
use self::sweep::Limits;
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;

/// The cache's directory.
#[derive(Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
    limits: Limits,
    /// Set once an entry was found damaged: then none is trusted before its bytes are checked.
    distrusted: AtomicBool,
    locks: KeyLocks,
}

impl Cache {
    /// The user's cache, or one in `OUT_DIR` where there is none or it cannot be written.
    pub(crate) fn open(env: &CargoEnv) -> Result<Cache> {
        let limits = Limits::read(env)?;
        let shared = Cache::place(env).and_then(|(dir, _)| Cache::at(dir.join(VERSION), limits));
        match shared {
            Err(error) if env.var(CACHE_VAR).is_some() => Err(error),
            Err(_) => Cache::at(env.out_dir.join("offload-cache"), limits),
            cache => cache,
        }
    }

    /// Where the caches of all releases lie, and what eviction keeps.
    fn place(env: &CargoEnv) -> Result<(PathBuf, Limits)> {
        let dir = env.cache_dir().ok_or_else(|| {
            Error::new("this user has no directory for caches").with_hint("set OFFLOAD_CACHE_DIR")
        })?;
        Ok((dir, Limits::read(env)?))
    }

    fn at(dir: PathBuf, limits: Limits) -> Result<Cache> {
        fs::create_dir_all(&dir)?;
        private(&dir)?;
        // A directory that exists but cannot be written (another user's, read-only) is found out here. That also sets
        // its time, which says when this release was last used.
        fs::Unfinished::new(&dir).map_err(|error| Error::io("write to", &dir, error))?;
        sweep::tag(&dir)?;
        Ok(Cache { dir, limits, distrusted: AtomicBool::new(false), locks: KeyLocks::default() })
    }

    /// Runs `work`, again if an entry turns out to be gone or damaged on the way: then it is missed, and made anew.
    pub(crate) fn retry_lost_entries<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        /// A disk that damages what was just written is past helping.
        const ATTEMPTS: usize = 3;
        let mut result = work();
        for _ in 1..ATTEMPTS {
            if !result.as_ref().is_err_and(Error::is_lost_entry) {
                break;
            }
            self.distrusted.store(true, Ordering::Relaxed);
            result = work();
        }
        result
    }

    /// The result under `key`, if it is there.
    pub(crate) fn get(&self, key: Key) -> Option<Blob> {
        let blob = Blob::open(self.path(key, "blob"))?;
        let trusted = !self.distrusted.load(Ordering::Relaxed);
        (trusted || blob.copy_to(&mut std::io::sink()).is_ok()).then_some(blob)
    }

    /// Waits while another thread makes the result of `key`. What it made is in the cache then: look before running.
    pub(crate) fn lock(&self, key: Key) -> KeyLock<'_> {
        self.locks.lock(key)
    }

    /// Stores `content` under `key`.
    pub(crate) fn put(&self, key: Key, content: &[u8]) -> Result<Blob> {
        Blob::write(self.path_for_writing(key, "blob")?, content)
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
        fill: impl FnOnce(&mut dyn std::io::Write) -> Result<()>,
    ) -> Result<Blob> {
        match self.get(key) {
            Some(blob) => Ok(blob),
            None => Blob::stream(self.path_for_writing(key, "blob")?, fill),
        }
    }

    /// The undamaged text under `key`, if it is there.
    pub(crate) fn get_text(&self, key: Key) -> Option<String> {
        self.get(key)?.read_text().ok()
    }

    /// The recorded dependency sets of an action that reads headers.
    pub(crate) fn dependencies(&self, key: Key) -> Option<String> {
        let path = self.path(key, "deps");
        touch(&File::open(&path).ok()?);
        std::fs::read_to_string(path).ok()
    }

    pub(crate) fn put_dependencies(&self, key: Key, text: &str) -> Result<()> {
        fs::publish(&self.path_for_writing(key, "deps")?, |out| out.write_all(text.as_bytes()))
    }

    /// Evicts what is old or too much. At most once a day, and never a reason for a build to fail.
    pub(crate) fn sweep(&self) {
        sweep::if_due(&self.dir, &self.limits);
    }

    fn path_for_writing(&self, key: Key, extension: &str) -> Result<PathBuf> {
        let path = self.path(key, extension);
        fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
        Ok(path)
    }

    fn path(&self, key: Key, extension: &str) -> PathBuf {
        let name = key.name();
        let shard = name.get(..2).unwrap_or_default();
        self.dir.join(shard).join(format!("{name}.{extension}"))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// What others could write, others could make this user run.
#[cfg(unix)]
fn private(dir: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))
        .map_err(|error| Error::io("restrict access to", dir, error))
}

#[cfg(not(unix))]
fn private(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
