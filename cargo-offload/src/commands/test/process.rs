//! Starting programs with tests: for the list of their tests, and for one test.

#![allow(clippy::disallowed_methods, reason = "starts processes")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use offload_protocol::variable;

use super::event::Said;
use super::leftovers;
use super::outcome::{End, Outcome};
use crate::cargo::watch;
use crate::error::{Error, Result};

/// How often a running test is looked at, if it may not run for ever.
const TICK: Duration = Duration::from_millis(2);
/// How much of a test's output is kept: its end.
const KEPT: u64 = 64 * 1024;

/// Asks `program` for a list; what it prints, or `None` if it fails.
pub(super) fn ask(program: &Path, args: &[OsString]) -> Result<Option<String>> {
    let listed = Command::new(program).args(args).stdin(Stdio::null()).output();
    let listed = listed.map_err(|error| Error::io("run", program, &error))?;
    Ok(listed.status.success().then(|| String::from_utf8_lossy(&listed.stdout).into_owned()))
}

/// A test to be run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) program: &'a Path,
    pub(super) args: &'a [OsString],
    /// For whoever watches it.
    pub(super) env: &'a [(&'static str, OsString)],
    pub(super) device: &'a str,
    pub(super) proof: Proof,
    /// For ever if it is 0.
    pub(super) timeout: Duration,
}

/// What shows that a test came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// The line in which the harness sums up. Without it the process has ended before the test, as `exit` does.
    Summary,
    /// The exit status alone.
    Status,
}

/// How a test's process ended, and what it has said.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) said: Said,
    pub(super) end: End,
    pub(super) time: Duration,
    pub(super) output: String,
}

/// Runs a test to its end.
pub(super) fn run(run: &Run<'_>) -> Result<Done> {
    let failed = |error: io::Error| Error::io("run", run.program, &error);
    let mut output = tempfile::tempfile().map_err(failed)?;
    let results = tempfile::NamedTempFile::new().map_err(failed)?;
    let start = Instant::now();
    let mut command = Command::new(run.program);
    command
        .args(run.args)
        .envs(run.env.iter().map(|(name, value)| (name, value)))
        .env(variable::TEST_DEVICE, run.device)
        .env(variable::TEST_RESULTS, results.path())
        .env(variable::RUN_ID, watch::value_for_children())
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(failed)?)
        .stderr(output.try_clone().map_err(failed)?);
    let mut child = command.spawn().map_err(failed)?;
    let stop = || leftovers::end(variable::TEST_RESULTS, results.path());
    let status = wait(&mut child, run.timeout, stop).map_err(failed)?;
    let time = start.elapsed();
    let said = Said::read(&fs::read_to_string(results.path()).unwrap_or_default());
    let output = tail(&mut output).map_err(failed)?;
    let end = match status {
        Some(status) => end(&Ended { said: &said, status, is_complete: is_complete(run.proof, &output) }),
        None => End::because(Outcome::Hung, format!("it was stopped after {} s", run.timeout.as_secs())),
    };
    Ok(Done { said, end, time, output })
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
    let said = ask(program, &args)?.unwrap_or_default();
    Ok(if said.lines().any(|line| summary(line) == Some(0)) { Proof::Summary } else { Proof::Status })
}

/// How many tests have passed and failed by a line of Rust's harness, `test result: ok. 1 passed; 0 failed; 0 ignored; ...`
/// (<https://doc.rust-lang.org/rustc/tests/index.html>). Harnesses with its options print the same.
fn summary(line: &str) -> Option<u64> {
    let (_, counts) = line.trim_start().strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| {
        let found = counts.split("; ").find_map(|count| count.strip_suffix(word));
        found.and_then(|count| count.trim().parse::<u64>().ok())
    };
    count("passed")?.checked_add(count("failed")?)
}

/// A test whose process has ended by itself.
struct Ended<'a> {
    said: &'a Said,
    status: ExitStatus,
    is_complete: bool,
}

/// What the status of a process and what it has said come to.
fn end(ended: &Ended<'_>) -> End {
    let Ended { said, status, is_complete } = ended;
    if said.is_open || !is_complete || status.code().is_none() {
        let in_the_middle =
            if said.is_open || status.code().is_some() { ", in the middle of the test" } else { "" };
        return End::because(Outcome::Crashed, format!("the process ended by {status}{in_the_middle}"));
    }
    match (&said.end, status.success()) {
        (Some(end), true) => end.clone(),
        (Some(end), false) if end.outcome.is_bad() => end.clone(),
        (Some(_), false) => End::because(Outcome::Failed, "the test failed beside its device"),
        (None, true) => End::of(Outcome::Passed),
        (None, false) => End::because(Outcome::Failed, "the test failed"),
    }
}

fn tail(file: &mut File) -> io::Result<String> {
    let size = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(size.saturating_sub(KEPT)))?;
    let mut bytes = Vec::new();
    file.take(KEPT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn ended(said: &str, status: i32, is_complete: bool) -> End {
        use std::os::unix::process::ExitStatusExt;
        end(&Ended { said: &Said::read(said), status: ExitStatus::from_raw(status), is_complete })
    }

    #[test]
    #[cfg(unix)]
    fn status_and_words_are_weighed() {
        let started = "{\"event\":\"started\",\"device\":\"host\"}\n";
        let right = format!(
            "{started}{{\"event\":\"ended\",\"device\":\"host\",\"outcome\":\"right\",\"seconds\":1}}\n"
        );
        let code = |code: i32| code << 8;
        for (said, status, is_complete, expected) in [
            (right.as_str(), 0, true, Outcome::Right),
            // It went on after the device, and failed there.
            (&right, code(101), true, Outcome::Failed),
            (&right, 11, false, Outcome::Crashed),
            ("", 0, true, Outcome::Passed),
            ("", code(101), true, Outcome::Failed),
            ("", 6, false, Outcome::Crashed),
            // A driver crashes when the process ends.
            ("", 11, true, Outcome::Crashed),
            // `exit(0)` in the middle is no success, on a device, behind it and without one.
            (started, 0, false, Outcome::Crashed),
            (&right, 0, false, Outcome::Crashed),
            ("", 0, false, Outcome::Crashed),
            ("", code(3), false, Outcome::Crashed),
            (started, code(101), true, Outcome::Crashed),
        ] {
            assert_eq!(ended(said, status, is_complete).outcome, expected, "{said} {status}");
        }
        let crashed = ended(started, 11, false).problem.unwrap();
        assert!(crashed.contains("SIGSEGV") && crashed.ends_with("in the middle of the test"), "{crashed}");
    }

    #[test]
    fn a_summary_shows_that_a_test_has_ended() {
        let line = |result: &str, counts: &str| {
            format!(
                "test a ... ok\n\ntest result: {result}. {counts}; 0 ignored; 0 measured; 5 filtered out; finished in 0.1s\n"
            )
        };
        let is_complete = |text: &str| is_complete(Proof::Summary, text);
        assert!(is_complete(&line("ok", "1 passed; 0 failed")));
        assert!(is_complete(&line("FAILED", "0 passed; 1 failed")));
        assert!(!is_complete(&line("ok", "0 passed; 0 failed")));
        assert!(!is_complete("running 1 test\ntest a ... ok\n") && !is_complete("test result: ok. nonsense"));
    }
}
