//! NVIDIA's compute-sanitizer, which runs a program and reports errors of its kernels
//! (<https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html>).

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::compute_sanitizer_log::{self, Log};
use super::report::{self, Report};
use crate::commands::test::outcome::{Outcome, TestResult};
use crate::commands::test::process::{self, Run, TestRun};
use crate::error::{Error, IoContext, Result};

/// Its tools, each of which looks for other mistakes, and runs the test once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    /// Accesses outside of memory and misaligned ones.
    Memcheck,
    /// Races on shared memory.
    Racecheck,
    /// Reads of uninitialized global memory.
    Initcheck,
    /// Barriers.
    Synccheck,
}

const TOOLS: [Tool; 4] = [Tool::Memcheck, Tool::Racecheck, Tool::Initcheck, Tool::Synccheck];

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Tool::Memcheck => "memcheck",
            Tool::Racecheck => "racecheck",
            Tool::Initcheck => "initcheck",
            Tool::Synccheck => "synccheck",
        }
    }
}

/// Runs a test under each of its tools.
pub(super) fn run(program: &Path, run: Run<'_>) -> Result<TestRun> {
    let mut all: Option<TestRun> = None;
    let mut reports = Vec::new();
    for tool in TOOLS {
        let (done, found) = with_tool(program, tool, run)?;
        reports.extend(found);
        let is_over =
            !done.events.took_device() || matches!(done.end.outcome, Outcome::Refused | Outcome::Hung);
        all = Some(match all {
            None => done,
            Some(all) => both(all, done),
        });
        // Another tool would see no kernel either, or wait as long.
        if is_over {
            break;
        }
    }
    let done = all.ok_or_else(|| Error::usage("compute-sanitizer has no tools"))?;
    Ok(report::add_reports(done, &report::each_once(reports)))
}

/// Two runs as one: the times together, and the end of the one that went worse.
fn both(all: TestRun, next: TestRun) -> TestRun {
    let mut events = all.events.clone();
    events.seconds += next.events.seconds;
    let time = all.time.saturating_add(next.time);
    let worse = if next.end.outcome > all.end.outcome { next } else { all };
    TestRun { events, time, ..worse }
}

fn with_tool(program: &Path, tool: Tool, run: Run<'_>) -> Result<(TestRun, Vec<Report>)> {
    let folder = tempfile::Builder::new()
        .prefix("offload-sanitizer-")
        .tempdir()
        .io_context("write to", "the temporary directory")?;
    let log = folder.path().join("log");
    let mut args = options(tool, &log);
    args.push(run.program.into());
    args.extend(run.args.iter().cloned());
    let done = process::run(&Run { program, args: &args, ..run })?;
    let text = fs::read(&log).unwrap_or_default();
    let Log { reports, trouble, is_whole } = compute_sanitizer_log::read(&String::from_utf8_lossy(&text));
    let end = apply_trouble(done.end, tool, trouble, is_whole || !done.events.took_device());
    Ok((TestRun { end, ..done }, reports))
}

/// Options first, then the program: the tool, what it looks at, how it writes, and where.
fn options(tool: Tool, log: &Path) -> Vec<OsString> {
    let mut args = vec!["--tool", tool.name()];
    // Accesses of a kernel behind one that fails are looked at too.
    args.extend(["--destroy-on-device-error", "kernel"]);
    // Errors of API calls are reported by the test.
    if tool == Tool::Memcheck {
        args.extend(["--report-api-errors", "no"]);
    }
    // Who, and where, in place of a summary.
    if tool == Tool::Racecheck {
        args.extend(["--racecheck-report", "hazard"]);
    }
    args.extend(["--target-processes", "application-only", "--require-cuda-init", "no"]);
    args.extend(["--check-exit-code", "no", "--show-backtrace", "device", "--demangle", "simple"]);
    // Each thread tells of the same mistake.
    args.extend(["--strip-paths", "no", "--print-limit", "20000", "--log-file"]);
    args.into_iter().map(OsString::from).chain([log.into()]).collect()
}

/// The end of a run: one that the tool has not watched proves nothing.
fn apply_trouble(end: TestResult, tool: Tool, trouble: Option<String>, is_watched: bool) -> TestResult {
    // What the tool says of itself is why the test did not come to its end.
    if let (Some(trouble), Outcome::Crashed) = (&trouble, end.outcome) {
        let problem = format!("compute-sanitizer's {}: {trouble}", tool.name());
        return TestResult { problem: Some([problem, end.problem.unwrap_or_default()].join("\n")), ..end };
    }
    match trouble.or_else(|| (!is_watched).then(|| "it has written no summary".to_string())) {
        Some(trouble) if !end.outcome.is_bad() && end.outcome != Outcome::Refused => {
            TestResult::because(Outcome::Failed, format!("compute-sanitizer's {}: {trouble}", tool.name()))
        }
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(tool: Tool) -> Vec<String> {
        let args = options(tool, Path::new("/t/log")).into_iter();
        args.map(|arg| arg.into_string().unwrap()).collect()
    }

    #[test]
    fn options_stand_before_the_program() {
        let memcheck = args(Tool::Memcheck);
        assert_eq!(memcheck[..2], ["--tool", "memcheck"]);
        assert_eq!(memcheck[memcheck.len() - 2..], ["--log-file", "/t/log"]);
        assert!(memcheck.contains(&"--report-api-errors".to_string()));
        let racecheck = args(Tool::Racecheck);
        assert!(racecheck.windows(2).any(|pair| pair == ["--racecheck-report", "hazard"]));
        // Of another tool it would be an error.
        assert!(!racecheck.contains(&"--report-api-errors".to_string()));
        assert_eq!(TOOLS.map(Tool::name), ["memcheck", "racecheck", "initcheck", "synccheck"]);
    }

    fn right() -> TestResult {
        TestResult::new(Outcome::Right)
    }

    #[test]
    fn a_run_that_nobody_watched_is_no_success() {
        assert_eq!(apply_trouble(right(), Tool::Memcheck, None, true), right());
        let end = apply_trouble(right(), Tool::Synccheck, None, false);
        assert_eq!(end.outcome, Outcome::Failed);
        assert_eq!(end.problem.unwrap(), "compute-sanitizer's synccheck: it has written no summary");
        let trouble = Some("Internal Sanitizer Error".to_string());
        assert_eq!(apply_trouble(right(), Tool::Memcheck, trouble.clone(), true).outcome, Outcome::Failed);
        let refused = TestResult::new(Outcome::Refused);
        assert_eq!(apply_trouble(refused.clone(), Tool::Memcheck, trouble, false), refused);
    }
}
