//! How many results came from where, for `cargo offload cache stats`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the result of an action is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The compile cache of this machine.
    Local,
    /// Another machine had stored it.
    Stored,
    /// A compiler ran on another machine, now or earlier.
    Executed,
    /// A compiler ran here.
    Here,
}

/// What one build script has counted.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counts: [AtomicU64; 4],
    received: AtomicU64,
    sent: AtomicU64,
    saved: AtomicU64,
}

/// The file with a line for each run of a build script, in the directory of a release.
pub(crate) const FILE: &str = "builds";

impl Tally {
    pub(crate) fn count(&self, origin: Origin) {
        if let Some(count) = self.counts.get(origin as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A result of another machine took it so long.
    pub(crate) fn saved(&self, time: Duration) {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.saved.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// Appends a line to the file in `directory`: one write, so that lines of several build scripts do not mix. What
    /// cannot be written is no reason for a build to fail.
    pub(crate) fn record(&self, directory: &Path) {
        let file = OpenOptions::new().append(true).create(true).open(directory.join(FILE));
        if let Ok(mut file) = file {
            let _ = file.write_all(self.line().as_bytes());
        }
    }

    fn line(&self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let [local, stored, executed, here] =
            self.counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        let [received, sent, saved] =
            [&self.received, &self.sent, &self.saved].map(|it| it.load(Ordering::Relaxed));
        format!("{now} {local} {stored} {executed} {here} {received} {sent} {saved}\n")
    }
}
