//! Test runner that cargo starts in place of a test binary, with the environment and directory of that binary.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::outcome::{Outcome, Row, TestResult};
use super::plan::{self, Plan};
use super::process::{self, Proof, TestRun};
use super::{cleanup, sanitize};
use crate::cargo::artifact::TestProgram;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, IoContext, Result};
use crate::print::choice::Progress;
use crate::print::output::Output;
use crate::print::steps::Steps;

/// Runs the tests of a program on the devices of the plan, and leaves a line for each.
///
/// # Errors
/// The program cannot be started; that a test fails is a result.
pub(super) fn run(
    output: &Output,
    plan: &Plan,
    folder: &Path,
    args: &cli::TestProgram,
) -> Result<ExitStatus> {
    // A program that the plan lacks is none with tests of the project.
    let Some((number, program)) = plan.program(&args.program) else { return Ok(ExitStatus::Success) };
    let tests = Tests::from_args(args)?;
    let steps = (output.progress() == Progress::Bar).then(|| Steps::new(output, tests.names.len()));
    let rows = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let others = plan.threads.unwrap_or(cores).saturating_sub(1);
    offload_jobs::each_beside(others, tests.names.len(), &|place| {
        let Some(name) = tests.names.get(place) else { return };
        if let Some(steps) = &steps {
            steps.next(output, name);
        }
        let found = on_devices(plan, program, &tests, name);
        rows.lock().unwrap_or_else(PoisonError::into_inner).push((place, found));
    });
    drop(steps);
    cleanup::end_own();
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|(place, _)| *place);
    write(&plan::results(folder, number), rows.iter().flat_map(|(_, rows)| rows))?;
    Ok(ExitStatus::Success)
}

fn write<'a>(path: &Path, rows: impl Iterator<Item = &'a Row>) -> Result<()> {
    let text = rows.map(line).collect::<Result<String>>()?;
    fs::write(path, text).io_context("write", path)
}

/// A result as it is kept.
pub(super) fn line(row: &Row) -> Result<String> {
    let line = serde_json::to_string(row);
    Ok(line.map_err(|error| Error::usage(format!("cannot write a result: {error}")))? + "\n")
}

/// The tests of a program that were asked for.
pub(super) struct Tests {
    pub(super) file: PathBuf,
    /// In the program's order. A program without the test harness is one test, by the name of its file.
    pub(super) names: Vec<String>,
    pub(super) ignored: Vec<String>,
    pub(super) harness: Harness,
    pub(super) proof: Proof,
    pub(super) args: Vec<OsString>,
}

/// Test harness, which reads the arguments of a test binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Harness {
    /// Rust's, or one with its options.
    Libtest,
    Own,
}

impl Tests {
    fn from_args(args: &cli::TestProgram) -> Result<Tests> {
        // Cargo hands on that it is quiet, which means something else to a list.
        let passed = args.args.iter().filter(|arg| *arg != "--quiet" && *arg != "-q");
        let passed: Vec<OsString> = passed.cloned().collect();
        let file = args.program.clone();
        let listed = ask(&file, &passed, &LIST)?;
        let proof = if listed.is_some() { process::proof(&file)? } else { Proof::Status };
        let listed = match listed {
            Some(listed) if !listed.is_empty() || proof == Proof::Summary || lists(&file)? => listed,
            _ => {
                let names = vec![file_name(&file)];
                return Ok(Tests {
                    file,
                    names,
                    ignored: Vec::new(),
                    harness: Harness::Own,
                    proof,
                    args: passed,
                });
            }
        };
        let runs_ignored = passed.iter().any(|arg| arg == "--ignored" || arg == "--include-ignored");
        let ignored =
            if runs_ignored { None } else { ask(&file, &passed, &[&LIST[..], &["--ignored"]].concat())? };
        let args = runs_ignored.then(|| OsString::from("--include-ignored")).into_iter().collect();
        let ignored = ignored.unwrap_or_default();
        Ok(Tests { file, names: listed, ignored, harness: Harness::Libtest, proof, args })
    }

    /// The arguments that run one of them alone, and what it prints uncaught.
    fn args_for(&self, name: &str) -> Vec<OsString> {
        let own = match self.harness {
            Harness::Own => &[][..],
            Harness::Libtest => &[name, "--exact", "--nocapture"],
        };
        own.iter().map(OsString::from).chain(self.args.iter().cloned()).collect()
    }
}

/// The names that `program` lists with its own arguments and these.
fn ask(program: &Path, passed: &[OsString], more: &[&str]) -> Result<Option<Vec<String>>> {
    let more = more.iter().map(|arg| OsString::from(*arg));
    let all: Vec<OsString> = passed.iter().cloned().chain(more).collect();
    Ok(process::ask(program, &all)?.as_deref().and_then(names))
}

const LIST: [&str; 3] = ["--list", "--format", "terse"];

/// Whether `program` lists any test: one with its own harness may print nothing at all.
fn lists(program: &Path) -> Result<bool> {
    let listed = process::ask(program, &LIST.map(OsString::from))?;
    Ok(listed.as_deref().and_then(names).is_some_and(|names| !names.is_empty()))
}

/// The name of a test that is a whole program.
pub(super) fn file_name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The names in a list; `None` if it is none, as what a program prints that has its own harness.
pub(super) fn names(list: &str) -> Option<Vec<String>> {
    list.lines()
        .map(|line| {
            let name = line.strip_suffix(": test").or_else(|| line.strip_suffix(": benchmark"));
            name.map(str::to_string)
        })
        .collect()
}

/// Runs a test on the first device, and on the others if it has taken that one.
pub(super) fn on_devices(plan: &Plan, program: &TestProgram, tests: &Tests, name: &str) -> Vec<Row> {
    if tests.ignored.iter().any(|ignored| ignored == name) {
        return vec![row(program, name, TestResult::new(Outcome::Ignored))];
    }
    let args = tests.args_for(name);
    let timeout = Duration::from_secs(plan.timeout);
    let mut rows = Vec::new();
    for place in &plan.places {
        match sanitize::run(
            place,
            sanitize::Test { program: &tests.file, args: &args, proof: tests.proof, timeout },
        ) {
            Ok(TestRun { events, end, time, output }) => {
                let took = events.took_device();
                // The process takes longer than the test: it starts, and asks drivers for devices.
                let seconds = if took && !events.is_open { events.seconds } else { time.as_secs_f64() };
                let output = end.outcome.is_bad().then_some(output);
                let device = took.then(|| place.label.clone());
                rows.push(Row { device, seconds, output, ..row(program, name, end) });
                if !took {
                    break;
                }
            }
            Err(error) => {
                rows.push(row(program, name, TestResult::because(Outcome::Failed, error.to_string())));
                break;
            }
        }
    }
    rows
}

fn row(program: &TestProgram, test: &str, end: TestResult) -> Row {
    Row {
        package: program.package.clone(),
        program: program.name.clone(),
        test: test.to_string(),
        device: None,
        end,
        seconds: 0.0,
        output: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs in place of those with tests: one of Rust's harness, one that lists and has other words, and two with a
    /// harness of their own.
    #[test]
    #[cfg(unix)]
    fn harnesses_are_known_by_what_they_print() {
        let folder = tempfile::tempdir().unwrap();
        let list = "case \"$*\" in *--ignored*) ;; *--list*) echo 'a: test' ;;";
        let summary = "*) echo 'test result: ok. 0 passed; 0 failed; 0 ignored' ;; esac";
        for (script, names, harness, proof) in [
            (format!("{list} {summary}"), vec!["a".to_string()], Harness::Libtest, Proof::Summary),
            (format!("{list} esac"), vec!["a".to_string()], Harness::Libtest, Proof::Status),
            (format!("case \"$*\" in *--list*) ;; {summary}"), vec![], Harness::Libtest, Proof::Summary),
            ("exit 0".to_string(), vec!["own".to_string()], Harness::Own, Proof::Status),
            ("exit 1".to_string(), vec!["own".to_string()], Harness::Own, Proof::Status),
        ] {
            let draft = folder.path().join("draft");
            let program = folder.path().join("own");
            fs::write(&draft, format!("#!/bin/sh\n{script}\n")).unwrap();
            // Another process makes the program: a file that a thread's child has open for writing cannot be run.
            let install = std::process::Command::new("install").args([&draft, &program]).status();
            assert!(install.unwrap().success());
            let tests = Tests::from_args(&cli::TestProgram { program, args: Vec::new() }).unwrap();
            assert_eq!((tests.names, tests.harness, tests.proof), (names, harness, proof), "{script}");
        }
    }

    #[test]
    fn lists_are_told_from_other_output() {
        assert_eq!(names("a::b: test\nc: benchmark\n").unwrap(), ["a::b", "c"]);
        assert!(names("").unwrap().is_empty());
        assert_eq!(names("a: test\nall is well\n"), None);
    }
}
