//! Eviction: entries unused for long, then the least recently used until the cache is within its limits.
//!
//! Nothing is locked: a lookup of an entry that is evicted meanwhile is a miss. Files that no release of this crate wrote
//! stay.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use offload_files::SCRATCH_PREFIX;

use crate::directory::{TAG, TAG_TEXT};
use crate::name::{CachedFile, VERSION};

/// How exactly uses are remembered, and how often the cache is swept.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A file of the cache: the result of a step, what a front end has read, or a pack.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacheEntry {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// For how long nothing has used it, to the day.
    pub unused: Duration,
}

/// Sweeps `dir` as of `now`.
pub(crate) fn sweep(dir: &Path, limits: &Limits, now: SystemTime) {
    remove_scratch(dir, now);
    if let Some(age) = limits.age {
        remove_releases(dir, age, now);
    }
    let mut entries = entries(dir, now);
    entries.sort_by(|a, b| (b.unused, &a.path).cmp(&(a.unused, &b.path)));
    let mut total: u64 = entries.iter().map(|entry| entry.size).fold(0, u64::saturating_add);
    for entry in entries {
        let old = limits.age.is_some_and(|age| entry.unused > age);
        let over = limits.size.is_some_and(|size| total > size);
        if (old || over) && fs::remove_file(&entry.path).is_ok() {
            total = total.saturating_sub(entry.size);
        }
    }
}

/// The entries of all shards. Unfinished files of killed builds go at once.
pub(crate) fn entries(dir: &Path, now: SystemTime) -> Vec<CacheEntry> {
    let mut entries = Vec::new();
    for shard in list(dir).filter(|(path, data)| data.is_dir() && is_shard(path)).map(|(path, _)| path) {
        for (path, data) in list(&shard).filter(|(_, data)| data.is_file()) {
            let Some(unused) = unused(&data, now) else { continue };
            if CachedFile::from_path(&path).is_some() {
                entries.push(CacheEntry { unused, path, size: data.len() });
            } else if unused > DAY && has_prefix(&path, SCRATCH_PREFIX) {
                let _ = fs::remove_file(&path);
            }
        }
    }
    entries
}

/// Directories in which tools ran whose build was killed.
fn remove_scratch(dir: &Path, now: SystemTime) {
    for (path, data) in list(dir).filter(|(path, _)| has_prefix(path, SCRATCH_PREFIX)) {
        if unused(&data, now).is_some_and(|unused| unused > DAY) {
            let _ = if data.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

/// What other releases left: their time is that of their last use, see [`crate::Cache`].
fn remove_releases(dir: &Path, age: Duration, now: SystemTime) {
    // A cache in `OUT_DIR` has no other releases beside it.
    let Some(parent) = dir.parent().filter(|_| dir.ends_with(VERSION)) else { return };
    for (path, data) in releases(parent) {
        if path != dir && unused(&data, now).is_some_and(|unused| unused > age) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// The caches of all releases in `dir`; directories of others are left alone.
pub(crate) fn releases(dir: &Path) -> impl Iterator<Item = (PathBuf, Metadata)> {
    list(dir).filter(move |(path, data)| {
        data.is_dir()
            && has_prefix(path, "v")
            && fs::read_to_string(path.join(TAG)).is_ok_and(|text| text == TAG_TEXT)
    })
}

/// What is in `dir`, links not followed. What cannot be listed is left alone.
fn list(dir: &Path) -> impl Iterator<Item = (PathBuf, Metadata)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
}

/// A time in the future, from before a clock was set right, counts as now.
fn unused(data: &Metadata, now: SystemTime) -> Option<Duration> {
    Some(now.duration_since(data.modified().ok()?).unwrap_or_default())
}

fn is_shard(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn has_prefix(path: &Path, prefix: &str) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix))
}

/// What eviction keeps; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all entries together.
    pub size: Option<u64>,
    /// Time since the last use.
    pub age: Option<Duration>,
}

impl Limits {
    /// Those of a user who sets none.
    pub const USUAL: Limits =
        Limits { size: Some(5 << 30), age: Some(Duration::from_secs(90 * DAY.as_secs())) };
    /// Nothing is evicted.
    pub const NONE: Limits = Limits { size: None, age: None };
}

#[cfg(test)]
mod tests;
