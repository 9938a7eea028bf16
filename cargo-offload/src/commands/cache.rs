//! `cache`: management of the compile cache of build scripts.

use std::path::Path;
use std::time::Duration;

use offload_build::shared::compile_cache;
use offload_cache::CompileCache;
use serde::Serialize;

use crate::cli::{self, CacheAction};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::machine::cache::{self, Amount};
use crate::print::date;
use crate::print::output::Output;
use crate::print::text::{counted, human_size};

#[derive(Debug, Serialize)]
struct Stats<'a> {
    reason: &'static str,
    path: &'a Path,
    entries: u64,
    bytes: u64,
    /// Bytes that builds keep; `null` is no limit.
    limit: Option<u64>,
    /// Days since the least recently used entry was used.
    unused_days: Option<u64>,
    results: Results,
}

/// Lookups of compiler results in builds since a time, by origin.
#[derive(Debug, Serialize)]
struct Results {
    /// Seconds since 1970; 0 if nothing is recorded.
    since: u64,
    local: u64,
    /// Other machines had stored them.
    stored: u64,
    /// Compilers ran on other machines.
    executed: u64,
    /// Compilers ran here.
    here: u64,
    received_bytes: u64,
    sent_bytes: u64,
    /// Compile time of the stored results on other machines.
    saved_milliseconds: u64,
}

impl Results {
    fn from_cache(cache: &CompileCache) -> Results {
        let results = cache.results();
        Results {
            since: results.since,
            local: results.local,
            stored: results.stored,
            executed: results.executed,
            here: results.here,
            received_bytes: results.received,
            sent_bytes: results.sent,
            saved_milliseconds: results.saved_milliseconds,
        }
    }

    /// Empty if nothing is recorded.
    fn text(&self) -> String {
        if self.since == 0 {
            return String::new();
        }
        let day = date::from_seconds(self.since);
        let first = format!("\nlookups since {day}: {} hits, {} compiled locally", self.local, self.here);
        if [self.stored, self.executed, self.received_bytes, self.sent_bytes] == [0; 4] {
            return first;
        }
        let received = human_size(self.received_bytes);
        let sent = human_size(self.sent_bytes);
        let seconds = self.saved_milliseconds / 1000;
        format!(
            "{first}, {} remote hits, {} compiled remotely\nremote: {received} received, {sent} sent, {seconds} s of compile time saved",
            self.stored, self.executed
        )
    }
}

#[derive(Debug, Serialize)]
struct Removed {
    reason: &'static str,
    entries: u64,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct Verified<'a> {
    reason: &'static str,
    sound: u64,
    bytes: u64,
    damaged: &'a [std::path::PathBuf],
}

pub(super) fn run(output: &Output, args: &cli::Cache) -> Result<ExitStatus> {
    let cache = compile_cache(Path::new(".")).map_err(Error::from_build)?;
    match args.action {
        CacheAction::Stats => stats(output, &cache),
        CacheAction::Clean { unused } => clean(output, &cache, unused.map_or(Duration::ZERO, cache::days)),
        CacheAction::Verify => verify(output, &cache),
    }
}

fn stats(output: &Output, cache: &CompileCache) -> Result<ExitStatus> {
    let cache::Stats { amount: Amount { entries, bytes }, oldest } = cache::stats(cache);
    let unused_days = oldest.map(|unused| unused.as_secs() / cache::days(1).as_secs());
    let path = cache.path();
    let limit = cache.limit();
    let kept = limit.map_or("no limit".to_string(), |limit| format!("limit {}", human_size(limit)));
    let oldest =
        unused_days.map_or(String::new(), |days| format!("\nleast recently used entry: {days} days ago"));
    let count = counted(entries, "entry");
    let size = human_size(bytes);
    let results = Results::from_cache(cache);
    let text = format!("{}\n{count}, {size} ({kept}){oldest}{}", path.display(), results.text());
    output.message(&Stats { reason: "cache", path, entries, bytes, limit, unused_days, results }, &text)?;
    Ok(ExitStatus::Success)
}

fn clean(output: &Output, cache: &CompileCache, unused: Duration) -> Result<ExitStatus> {
    let Amount { entries, bytes } = cache::clean(cache, unused)?;
    let text = format!("removed {}, {}", counted(entries, "entry"), human_size(bytes));
    output.done(&Removed { reason: "cleaned", entries, bytes }, &text)?;
    Ok(ExitStatus::Success)
}

fn verify(output: &Output, cache: &CompileCache) -> Result<ExitStatus> {
    let verified = cache::verify(cache);
    let Amount { entries: sound, bytes } = verified.sound;
    let damaged = verified.damaged.as_slice();
    let lines = damaged.iter().map(|path| format!("removed damaged entry `{}`\n", path.display()));
    let text = format!("{}{sound} valid entries, {} damaged", lines.collect::<String>(), damaged.len());
    let message = Verified { reason: "verified", sound, bytes, damaged };
    if damaged.is_empty() {
        output.done(&message, &text)?;
        return Ok(ExitStatus::Success);
    }
    output.message(&message, &text)?;
    Ok(ExitStatus::CheckFailed)
}
