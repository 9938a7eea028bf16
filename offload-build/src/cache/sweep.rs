//! Eviction: entries unused for long, then the least recently used until the cache is within its limits.
//!
//! Nothing is locked: a lookup of an entry that is evicted meanwhile is a miss. Files that no release of this crate wrote
//! stay.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use offload_files::SCRATCH_PREFIX;
use offload_protocol::variable;

use super::directory::{TAG, TAG_TEXT};
use super::name::{CachedFile, VERSION};
use crate::error::{Error, Result};

/// How exactly uses are remembered, and how often the cache is swept.
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

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
pub(super) fn sweep(dir: &Path, limits: &Limits, now: SystemTime) {
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
pub(super) fn entries(dir: &Path, now: SystemTime) -> Vec<CacheEntry> {
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

/// What other releases left: their time is that of their last use, see [`super::Cache`].
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
pub(super) fn releases(dir: &Path) -> impl Iterator<Item = (PathBuf, Metadata)> {
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
pub(super) struct Limits {
    /// Bytes of all entries together.
    pub(super) size: Option<u64>,
    /// Time since the last use.
    pub(super) age: Option<Duration>,
}

/// The variables that override the default limits.
pub(super) const LIMITS: [&str; 2] = [variable::CACHE_SIZE, variable::CACHE_AGE];

impl Limits {
    /// The default limits.
    pub(super) const USUAL: Limits =
        Limits { size: Some(5 << 30), age: Some(Duration::from_secs(90 * DAY.as_secs())) };

    /// The limits in the values of [`LIMITS`], completed by the default ones.
    pub(super) fn parse([size, age]: [Option<OsString>; 2]) -> Result<Limits> {
        let [size_name, age_name] = LIMITS;
        let mut limits = Limits::USUAL;
        if let Some(text) = size {
            let size = text.to_str().and_then(|text| bytes(text.trim()));
            limits.size =
                Some(size.ok_or_else(|| misspelt(&text, size_name, "5G"))?).filter(|size| *size > 0);
        }
        if let Some(text) = age {
            let days = text.to_str().and_then(|text| days(text.trim()));
            let days = days.ok_or_else(|| misspelt(&text, age_name, "90"))?;
            limits.age = (days > 0).then(|| DAY * days);
        }
        Ok(limits)
    }
}

fn misspelt(value: &OsStr, name: &str, example: &str) -> Error {
    let text = value.to_string_lossy();
    Error::new(format!("the value `{}` of `{name}` is not understood", text.escape_default()))
        .with_hint(format!("write {name}={example}, or 0 for no limit"))
}

/// A number of bytes, or with a suffix of KiB, MiB, GiB.
fn bytes(text: &str) -> Option<u64> {
    let shift = match text.bytes().last()? {
        b'K' | b'k' => 10,
        b'M' | b'm' => 20,
        b'G' | b'g' => 30,
        _ => return text.parse().ok(),
    };
    let digits = text.get(..text.len().checked_sub(1)?)?;
    digits.trim_end().parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// More days than any clock counts are no limit either, but none that overflows.
fn days(text: &str) -> Option<u32> {
    text.parse().ok().filter(|days| *days <= 1_000_000)
}

#[cfg(test)]
mod tests;
