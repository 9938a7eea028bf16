//! Counters of results by origin (cache, other machines, local compilers), for `cargo offload cache stats`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::str::Split;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the result of an action is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The compile cache of this machine.
    Local,
    /// Another machine had stored it.
    Stored,
    /// A compiler or a compressor ran on another machine, now or earlier.
    Executed,
    /// A compiler ran here.
    Here,
}

/// Where the results of one compile are from.
#[derive(Debug, Default)]
pub struct Origins([AtomicBool; 4]);

/// What one build script has counted.
#[derive(Debug, Default)]
pub struct Tally {
    counts: [AtomicU64; 4],
    received: AtomicU64,
    sent: AtomicU64,
    saved: AtomicU64,
}

/// What build scripts have counted: where the results of compilers came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Results {
    /// When the first of these builds ended, in seconds since 1970; 0 if there was none.
    pub since: u64,
    /// From the compile cache of this machine.
    pub local: u64,
    /// Other machines had stored them.
    pub stored: u64,
    /// Compilers and compressors ran on other machines.
    pub executed: u64,
    /// Compilers ran here.
    pub here: u64,
    /// Bytes that came from other machines.
    pub received: u64,
    /// Bytes of results that went to other machines.
    pub sent: u64,
    /// How long the results that other machines had stored took them to make, in milliseconds.
    pub saved_milliseconds: u64,
}

/// The file with a line for each run of a build script, in the directory of a release.
const FILE: &str = "builds";
/// Above this size, in bytes, the older half of the lines goes.
const LARGEST: usize = 256 << 10;

impl Origins {
    /// Notes that a result is from there.
    pub fn add(&self, origin: Origin) {
        if let Some(seen) = self.0.get(origin as usize) {
            seen.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a result is from there.
    pub fn has(&self, origin: Origin) -> bool {
        self.0.get(origin as usize).is_some_and(|seen| seen.load(Ordering::Relaxed))
    }
}

impl Tally {
    /// Counts a result from there.
    pub fn count(&self, origin: Origin) {
        if let Some(count) = self.counts.get(origin as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts bytes that came from other machines.
    pub fn received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes that went to other machines.
    pub fn sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A result of another machine took it so long.
    pub fn saved(&self, time: Duration) {
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.saved.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// All of it, as of now.
    pub fn results(&self) -> Results {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let [local, stored, executed, here] =
            self.counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        let [received, sent, saved_milliseconds] =
            [&self.received, &self.sent, &self.saved].map(|it| it.load(Ordering::Relaxed));
        Results { since: now, local, stored, executed, here, received, sent, saved_milliseconds }
    }
}

impl Results {
    /// Appends a line to the file in `directory`: one write, so that lines of several build scripts do not mix. What
    /// cannot be written is no reason for a build to fail.
    pub fn record(&self, directory: &Path) {
        if *self == (Results { since: self.since, ..Results::default() }) {
            return;
        }
        let file = OpenOptions::new().append(true).create(true).open(directory.join(FILE));
        if let Ok(mut file) = file {
            let _ = file.write_all(self.line().as_bytes());
        }
    }

    /// All that build scripts have recorded in `directory`. Lines that are not understood are passed over.
    pub fn recorded(directory: &Path) -> Results {
        let text = fs::read_to_string(directory.join(FILE)).unwrap_or_default();
        text.lines().filter_map(Results::parse_line).fold(Results::default(), Results::and)
    }

    fn line(&self) -> String {
        let Results { since, local, stored, executed, here, received, sent, saved_milliseconds } = self;
        format!("{since} {local} {stored} {executed} {here} {received} {sent} {saved_milliseconds}\n")
    }

    fn parse_line(line: &str) -> Option<Results> {
        let mut words = line.split(' ');
        Some(Results {
            since: parse_next(&mut words)?,
            local: parse_next(&mut words)?,
            stored: parse_next(&mut words)?,
            executed: parse_next(&mut words)?,
            here: parse_next(&mut words)?,
            received: parse_next(&mut words)?,
            sent: parse_next(&mut words)?,
            saved_milliseconds: parse_next(&mut words)?,
        })
    }

    /// The sum of both, of which this is the earlier.
    pub fn and(self, later: Results) -> Results {
        Results {
            since: if self.since == 0 { later.since } else { self.since },
            local: self.local.saturating_add(later.local),
            stored: self.stored.saturating_add(later.stored),
            executed: self.executed.saturating_add(later.executed),
            here: self.here.saturating_add(later.here),
            received: self.received.saturating_add(later.received),
            sent: self.sent.saturating_add(later.sent),
            saved_milliseconds: self.saved_milliseconds.saturating_add(later.saved_milliseconds),
        }
    }
}

fn parse_next(words: &mut Split<'_, char>) -> Option<u64> {
    words.next()?.parse().ok()
}

/// Forgets the older half of what was recorded in `directory`, if it is much.
pub(crate) fn forget(directory: &Path) {
    let path = directory.join(FILE);
    let Ok(text) = fs::read_to_string(&path) else { return };
    if text.len() > LARGEST {
        let lines: Vec<&str> = text.lines().collect();
        let kept = lines.get(lines.len() / 2..).unwrap_or_default();
        let text: String = kept.iter().map(|line| format!("{line}\n")).collect();
        let _ = crate::files::publish(&path, |out| out.write_all(text.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_summed() {
        let dir = tempfile::tempdir().unwrap();
        Tally::default().results().record(dir.path());
        assert_eq!(Results::recorded(dir.path()), Results::default());
        for _ in 0..2 {
            let tally = Tally::default();
            [Origin::Local, Origin::Here, Origin::Here].into_iter().for_each(|origin| tally.count(origin));
            tally.received(7);
            tally.saved(Duration::from_secs(1));
            tally.results().record(dir.path());
        }
        let sum = Results::recorded(dir.path());
        assert!(sum.since > 0);
        let expected = Results { since: sum.since, local: 2, here: 4, received: 14, ..Results::default() };
        assert_eq!(sum, Results { saved_milliseconds: 2000, ..expected });
    }

    #[test]
    fn old_lines_and_those_of_others_are_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let line = "5 1 0 0 0 0 0 0\n";
        let many = line.repeat(LARGEST / line.len() + 1);
        fs::write(dir.path().join(FILE), format!("x\n1 2\n{many}")).unwrap();
        let before = Results::recorded(dir.path()).local;
        forget(dir.path());
        let after = Results::recorded(dir.path()).local;
        assert!(after < before && after > before / 3, "{before} {after}");
    }
}
