//! Test runs by `cargo nextest`, where it is installed: it lists the tests of each program, starts each in its own
//! process, and applies its configuration of retries, groups and timeouts.
//!
//! It starts this program in place of each test binary, as cargo does. A test then runs on all devices in turn, and
//! its results are appended to those of its binary.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::cleanup;
use super::outcome::{Outcome, Row, TestResult};
use super::plan::{self, Plan};
use super::process::{self, Proof};
use super::runner::{self, Harness, Tests};
use crate::cargo::artifact::TestProgram;
use crate::cargo::process::Cargo;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, IoContext, Result};
use crate::print::choice::Verbosity;
use crate::print::output::Output;

/// Whether `cargo nextest` is there.
pub(super) fn is_installed() -> bool {
    Cargo::new("nextest").args(["--version"]).succeeds_in_silence()
}

/// The command that runs tests; which, is for others to say.
pub(super) fn command(output: &Output, args: &cli::Test) -> Cargo {
    let cargo = Cargo::new("nextest").args(["run"]).args(args.cargo.args().iter().map(rename_argument));
    let cargo = cargo.args(["--no-fail-fast", "--no-tests", "pass"]);
    // The table shows the output of a test, and its result on each device.
    let cargo = cargo.args(["--failure-output", "never", "--success-output", "never"]);
    let cargo = cargo.args(["--final-status-level", "none", "--color", output.color_argument()]);
    let status = if output.verbosity() == Verbosity::Verbose { "all" } else { "retry" };
    let cargo = cargo.args(["--status-level", status, "--cargo-quiet"]);
    match args.running.test_threads {
        Some(threads) => cargo.args(["--test-threads".to_string(), threads.to_string()]),
        None => cargo,
    }
}

/// Options that nextest uses for something else.
fn rename_argument(arg: &OsString) -> OsString {
    match arg.to_str() {
        Some("--profile") => "--cargo-profile".into(),
        Some("--jobs") => "--build-jobs".into(),
        _ => arg.clone(),
    }
}

/// Exit code of nextest if tests have failed
/// (<https://docs.rs/nextest-metadata/latest/nextest_metadata/enum.NextestExitCode.html>).
const TESTS_FAILED: u8 = 100;

/// Runs `cargo` to its end.
///
/// # Errors
/// Something else than a test has failed, and nextest has printed the reason.
pub(super) fn run(output: &Output, cargo: Cargo) -> Result<()> {
    let code = match output.verbosity() {
        Verbosity::Quiet => cargo.status_in_silence()?,
        _ => cargo.status()?,
    };
    match code {
        0 | TESTS_FAILED => Ok(()),
        code => Err(Error::cargo(format!("`cargo nextest run` ended with {code}"))
            .hint("`--no-nextest` runs the tests without it")),
    }
}

/// Does what nextest asks of a program with tests: a list of them, or one test.
///
/// # Errors
/// The program cannot be started, or a result cannot be written.
pub(super) fn answer(
    output: &Output,
    plan: &Plan,
    folder: &Path,
    args: &cli::TestProgram,
) -> Result<ExitStatus> {
    let Some((number, program)) = plan.program(&args.program) else { return Ok(ExitStatus::Success) };
    let results = Results { path: plan::results(folder, number), program };
    match parse_request(&args.args) {
        NextestRequest::List => results.list(output, args),
        NextestRequest::Test(name) => {
            results
                .append(&results.row(&name, TestResult::because(Outcome::Hung, "terminated by nextest")))?;
            let (harness, proof) = results.harness();
            let rest = args.args.iter().filter(|arg| *arg == "--ignored" || *arg == "--include-ignored");
            let tests = Tests {
                file: args.program.clone(),
                names: vec![name.clone()],
                ignored: Vec::new(),
                harness,
                proof,
                args: rest.map(|_| "--include-ignored".into()).collect(),
            };
            let rows = runner::on_devices(plan, program, &tests, &name);
            cleanup::end_own();
            rows.iter().try_for_each(|row| results.append(row))?;
            let is_bad = rows.iter().any(|row| row.end.outcome.is_bad());
            Ok(if is_bad { ExitStatus::CheckFailed } else { ExitStatus::Success })
        }
    }
}

/// Request of nextest to a test binary
/// (<https://nexte.st/docs/design/custom-test-harnesses/>).
#[derive(Debug, PartialEq, Eq)]
enum NextestRequest {
    List,
    Test(String),
}

fn parse_request(args: &[OsString]) -> NextestRequest {
    let mut behind = args.iter().skip_while(|arg| *arg != "--exact").skip(1);
    let name = behind.find(|arg| !arg.to_string_lossy().starts_with("--"));
    let is_list = args.iter().any(|arg| arg == "--list");
    match name.or_else(|| args.iter().find(|arg| !arg.to_string_lossy().starts_with("--"))) {
        Some(name) if !is_list => NextestRequest::Test(name.to_string_lossy().into_owned()),
        _ => NextestRequest::List,
    }
}

/// Result files of a test binary.
struct Results<'p> {
    path: PathBuf,
    program: &'p TestProgram,
}

impl Results<'_> {
    /// Prints the program's tests. One with a harness of its own is one test, by the name of its file.
    fn list(&self, output: &Output, args: &cli::TestProgram) -> Result<ExitStatus> {
        // That it is there says that nextest has started this.
        self.add("")?;
        let is_for_ignored = args.args.iter().any(|arg| arg == "--ignored");
        let listed = process::ask(&args.program, &args.args)?.filter(|list| runner::names(list).is_some());
        let proof = if listed.is_some() { process::proof(&args.program)? } else { Proof::Status };
        if proof == Proof::Summary {
            self.note(&self.sums_up())?;
        }
        let list = match listed {
            // A program with its own harness may print nothing at all.
            Some(list) if !list.is_empty() || is_for_ignored || proof == Proof::Summary => list,
            _ => {
                self.note(&self.own_harness())?;
                let line = format!("{}: test\n", runner::file_name(&args.program));
                if is_for_ignored { String::new() } else { line }
            }
        };
        output.document(list.as_bytes())?;
        Ok(ExitStatus::Success)
    }

    /// The file that says that the program has a harness of its own.
    fn own_harness(&self) -> PathBuf {
        self.path.with_extension("own")
    }

    /// The file that says that the program's harness sums up what has passed and failed.
    fn sums_up(&self) -> PathBuf {
        self.path.with_extension("summary")
    }

    fn note(&self, marker: &Path) -> Result<()> {
        fs::write(marker, "").io_context("write", marker)
    }

    /// The harness that the list of tests has shown.
    fn harness(&self) -> (Harness, Proof) {
        let harness = if self.own_harness().exists() { Harness::Own } else { Harness::Libtest };
        let proof = if self.sums_up().exists() { Proof::Summary } else { Proof::Status };
        (harness, proof)
    }

    fn row(&self, test: &str, end: TestResult) -> Row {
        Row {
            package: self.program.package.clone(),
            program: self.program.name.clone(),
            test: test.to_string(),
            device: None,
            end,
            seconds: 0.0,
            output: None,
        }
    }

    fn append(&self, row: &Row) -> Result<()> {
        self.add(&runner::line(row)?)
    }

    /// Several tests at once do so; a line is written by one call.
    fn add(&self, text: &str) -> Result<()> {
        let file = OpenOptions::new().append(true).create(true).open(&self.path);
        let added = file.and_then(|mut file| file.write_all(text.as_bytes()));
        added.io_context("write", &self.path)
    }
}

/// The results of each test's last attempt. An attempt begins with a row that counts if no other follows, because nextest has
/// ended it.
pub(super) fn last_attempts(rows: Vec<Row>) -> Vec<Row> {
    let mut last: Vec<Row> = Vec::new();
    for row in rows {
        let starts = is_begin(&row);
        last.retain(|known| known.test != row.test || !(starts || is_begin(known)));
        last.push(row);
    }
    last.sort_by(|one, other| one.test.cmp(&other.test));
    last
}

/// Whether the row marks the start of a test, which replaces earlier results.
fn is_begin(row: &Row) -> bool {
    row.end.outcome == Outcome::Hung && row.device.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> NextestRequest {
        parse_request(&args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn what_nextest_asks_for() {
        assert_eq!(parse(&["--list", "--format", "terse"]), NextestRequest::List);
        assert_eq!(parse(&["--list", "--format", "terse", "--ignored"]), NextestRequest::List);
        let test = NextestRequest::Test("tests::right".into());
        assert_eq!(parse(&["--exact", "tests::right", "--nocapture"]), test);
        assert_eq!(parse(&["tests::right", "--nocapture", "--exact", "--ignored"]), test);
    }

    fn row(test: &str, device: Option<&str>, outcome: Outcome) -> Row {
        Row {
            package: "p".into(),
            program: "p (lib)".into(),
            test: test.into(),
            device: device.map(Into::into),
            end: TestResult::new(outcome),
            seconds: 0.0,
            output: None,
        }
    }

    fn begin(test: &str) -> Row {
        row(test, None, Outcome::Hung)
    }

    #[test]
    fn the_last_attempt_counts() {
        let rows = last_attempts(vec![
            begin("b"),
            begin("a"),
            row("a", Some("host"), Outcome::Wrong),
            row("b", None, Outcome::Passed),
            row("a", Some("opencl:0"), Outcome::Right),
            begin("c"),
            begin("a"),
            row("a", Some("host"), Outcome::Right),
            row("a", Some("opencl:0"), Outcome::Right),
        ]);
        let found: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {:?} {}", row.test, row.device.as_deref(), row.end.outcome.word()))
            .collect();
        let expected =
            ["a Some(\"host\") right", "a Some(\"opencl:0\") right", "b None passed", "c None hung"];
        assert_eq!(found, expected);
    }
}
