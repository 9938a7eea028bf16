//! Entries of the cache: their keys, the names of their files, and when they were last used.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use offload_format::Hash128;

/// Entries have passed the checks of the release that made them; another release has other checks.
pub(super) const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));
/// How exactly uses are remembered, and how often the cache is swept.
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The identity of an action or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Hash128);

/// Collects what a result depends on. Every part is length-prefixed, so that no two lists are alike.
#[derive(Debug)]
pub(crate) struct KeyBuilder(blake3::Hasher);

impl KeyBuilder {
    pub(crate) fn new(action: &str) -> KeyBuilder {
        KeyBuilder(blake3::Hasher::new()).part(action.as_bytes())
    }

    pub(crate) fn part(mut self, bytes: &[u8]) -> KeyBuilder {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> Key {
        let mut out = [0; 16];
        self.0.finalize_xof().fill(&mut out);
        Key(Hash128(out))
    }
}

impl Key {
    pub(crate) fn bytes(self) -> [u8; 16] {
        self.0.0
    }

    /// The name of its files: 32 hexadecimal digits.
    pub(super) fn name(self) -> String {
        self.0.to_string()
    }
}

/// Whether a file of the cache has a blob's name, or that of recorded dependencies or of a pack.
pub(super) fn is_entry(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let key = name
        .strip_suffix(".blob")
        .or_else(|| name.strip_suffix(".deps"))
        .or_else(|| name.strip_suffix(".pack"));
    key.is_some_and(|key| {
        key.len() == 32 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Notes that `file` is in use: once a day, so that most look-ups write nothing.
pub(super) fn touch(file: &File) {
    let now = SystemTime::now();
    let unused =
        file.metadata().and_then(|data| data.modified()).ok().and_then(|time| now.duration_since(time).ok());
    if unused.is_some_and(|unused| unused > DAY) {
        // A cache that may only be read loses nothing but the order of eviction.
        let _ = file.set_modified(now);
    }
}
