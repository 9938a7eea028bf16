//! Processes of test binaries: one that lists the tests, and one per test.

#![allow(clippy::disallowed_methods, reason = "starts processes")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use offload_protocol::variable;

use super::cleanup;
use super::event::TestEvents;
use super::outcome::{Outcome, TestResult};
use crate::cargo::watch;
use crate::error::{IoContext, Result};

/// Polling interval of a running test with a timeout.
const TICK: Duration = Duration::from_millis(2);
/// Size of the end of a test's output that is kept.
const KEPT: u64 = 64 * 1024;

/// Asks `program` for a list; what it prints, or `None` if it fails.
pub(super) fn ask(program: &Path, args: &[OsString]) -> Result<Option<String>> {
    let listed = Command::new(program).args(args).stdin(Stdio::null()).output();
    let listed = listed.io_context("run", program)?;
    Ok(listed.status.success().then(|| String::from_utf8_lossy(&listed.stdout).into_owned()))
}

/// A test to be run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) program: &'a Path,
    pub(super) args: &'a [OsString],
    /// Environment variables for the sanitizer.
    pub(super) env: &'a [(&'static str, OsString)],
    pub(super) device: &'a str,
    pub(super) proof: Proof,
    /// For ever if it is 0.
    pub(super) timeout: Duration,
}

/// Evidence that a test ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// The line in which the harness sums up. Without it the process has ended before the test, as `exit` does.
    Summary,
    /// The exit status alone.
    Status,
}

/// Result, events and output of a test's process.
#[derive(Debug)]
pub(super) struct TestRun {
    pub(super) events: TestEvents,
    pub(super) end: TestResult,
    pub(super) time: Duration,
    pub(super) output: String,
}

/// Runs a test to its end.
pub(super) fn run(run: &Run<'_>) -> Result<TestRun> {
    let mut output = tempfile::tempfile().io_context("run", run.program)?;
    let results = tempfile::NamedTempFile::new().io_context("run", run.program)?;
    let start = Instant::now();
    let mut command = Command::new(run.program);
    command
        .args(run.args)
        .envs(run.env.iter().map(|(name, value)| (name, value)))
        .env(variable::TEST_DEVICE, run.device)
        .env(variable::TEST_RESULTS, results.path())
        .env(variable::RUN_ID, watch::value_for_children())
        .stdin(Stdio::null())
        .stdout(output.try_clone().io_context("run", run.program)?)
        .stderr(output.try_clone().io_context("run", run.program)?);
    let mut child = command.spawn().io_context("run", run.program)?;
    let status = wait(&mut child, run.timeout, || cleanup::end(variable::TEST_RESULTS, results.path()))
        .io_context("run", run.program)?;
    let time = start.elapsed();
    let events = TestEvents::read(&fs::read_to_string(results.path()).unwrap_or_default());
    let output = tail(&mut output).io_context("run", run.program)?;
    let end = match status {
        Some(status) => {
            end(&ExitedProcess { events: &events, status, is_complete: is_complete(run.proof, &output) })
        }
        None => TestResult::because(Outcome::Hung, format!("timed out after {} s", run.timeout.as_secs())),
    };
    Ok(TestRun { events, end, time, output })
}

/// The status, or `None` if it had to be stopped, with what it has started.
fn wait(child: &mut Child, timeout: Duration, stop: impl Fn()) -> io::Result<Option<ExitStatus>> {
    if timeout.is_zero() {
        return child.wait().map(Some);
    }
    let start = Instant::now();
    while start.elapsed() < timeout {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(TICK);
    }
    stop();
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Whether what a test has printed shows that it came to its end.
fn is_complete(proof: Proof, output: &str) -> bool {
    proof == Proof::Status || output.lines().any(|line| summary(line).is_some_and(|tests| tests > 0))
}

/// Whether `program` sums up: it is asked for a test that it does not have.
pub(super) fn proof(program: &Path) -> Result<Proof> {
    let args = ["--exact", "a test of this name is not there"].map(OsString::from);
    let listing = ask(program, &args)?.unwrap_or_default();
    Ok(if listing.lines().any(|line| summary(line) == Some(0)) { Proof::Summary } else { Proof::Status })
}

/// The number of passed and failed tests in the summary of Rust's harness, `test result: ok. 1 passed; 0 failed; ...`
/// (<https://doc.rust-lang.org/rustc/tests/index.html>). Harnesses with its options print the same.
fn summary(line: &str) -> Option<u64> {
    let (_, counts) = line.trim_start().strip_prefix("test result: ")?.split_once(". ")?;
    count(counts, "passed")?.checked_add(count(counts, "failed")?)
}

/// A test whose process has ended by itself.
struct ExitedProcess<'a> {
    events: &'a TestEvents,
    status: ExitStatus,
    is_complete: bool,
}

/// The result of a test from the exit status of its process and its events.
fn end(ended: &ExitedProcess<'_>) -> TestResult {
    let ExitedProcess { events, status, is_complete } = ended;
    if events.is_open || !is_complete || status.code().is_none() {
        let in_the_middle =
            if events.is_open || status.code().is_some() { ", in the middle of the test" } else { "" };
        return TestResult::because(
            Outcome::Crashed,
            format!("the process ended with {status}{in_the_middle}"),
        );
    }
    match (&events.end, status.success()) {
        (Some(end), true) => end.clone(),
        (Some(end), false) if end.outcome.is_bad() => end.clone(),
        (Some(_), false) => TestResult::because(Outcome::Failed, "the test failed beside its device"),
        (None, true) => TestResult::new(Outcome::Passed),
        (None, false) => TestResult::because(Outcome::Failed, "the test failed"),
    }
}

fn tail(file: &mut File) -> io::Result<String> {
    let size = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(size.saturating_sub(KEPT)))?;
    let mut bytes = Vec::new();
    file.take(KEPT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The number before `word` in the counts of a summary.
fn count(counts: &str, word: &str) -> Option<u64> {
    let found = counts.split("; ").find_map(|count| count.strip_suffix(word));
    found.and_then(|count| count.trim().parse::<u64>().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn ended(events: &str, status: i32, is_complete: bool) -> TestResult {
        use std::os::unix::process::ExitStatusExt;
        end(&ExitedProcess {
            events: &TestEvents::read(events),
            status: ExitStatus::from_raw(status),
            is_complete,
        })
    }

    /// The status of a process that exits with `code`.
    #[cfg(unix)]
    fn exited(code: i32) -> i32 {
        code << 8
    }

    #[test]
    #[cfg(unix)]
    fn status_and_words_are_weighed() {
        let started = "{\"event\":\"started\",\"device\":\"host\"}\n";
        let right = format!(
            "{started}{{\"event\":\"ended\",\"device\":\"host\",\"outcome\":\"right\",\"seconds\":1}}\n"
        );
        for (events, status, is_complete, expected) in [
            (right.as_str(), 0, true, Outcome::Right),
            // It went on after the device, and failed there.
            (&right, exited(101), true, Outcome::Failed),
            (&right, 11, false, Outcome::Crashed),
            ("", 0, true, Outcome::Passed),
            ("", exited(101), true, Outcome::Failed),
            ("", 6, false, Outcome::Crashed),
            // A driver crashes when the process ends.
            ("", 11, true, Outcome::Crashed),
            // `exit(0)` in the middle is no success, on a device, behind it and without one.
            (started, 0, false, Outcome::Crashed),
            (&right, 0, false, Outcome::Crashed),
            ("", 0, false, Outcome::Crashed),
            ("", exited(3), false, Outcome::Crashed),
            (started, exited(101), true, Outcome::Crashed),
        ] {
            assert_eq!(ended(events, status, is_complete).outcome, expected, "{events} {status}");
        }
        let crashed = ended(started, 11, false).problem.unwrap();
        assert!(crashed.contains("SIGSEGV") && crashed.ends_with("in the middle of the test"), "{crashed}");
    }

    fn summary(result: &str, counts: &str) -> String {
        format!(
            "test a ... ok\n\ntest result: {result}. {counts}; 0 ignored; 0 measured; 5 filtered out; finished in 0.1s\n"
        )
    }

    #[test]
    fn a_summary_shows_that_a_test_has_ended() {
        assert!(is_complete(Proof::Summary, &summary("ok", "1 passed; 0 failed")));
        assert!(is_complete(Proof::Summary, &summary("FAILED", "0 passed; 1 failed")));
        assert!(!is_complete(Proof::Summary, &summary("ok", "0 passed; 0 failed")));
        assert!(
            !is_complete(Proof::Summary, "running 1 test\ntest a ... ok\n")
                && !is_complete(Proof::Summary, "test result: ok. nonsense")
        );
    }
}
