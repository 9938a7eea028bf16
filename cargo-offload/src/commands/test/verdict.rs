//! Summary of all results, and the exit code.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::device::DeviceUnderTest;
use super::outcome::{Outcome, Row};
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::choice::Verbosity;
use crate::print::output::Output;
use crate::print::text::{counted, listed};

/// Counts of results, and further problems.
#[derive(Debug, Serialize)]
pub(super) struct TestVerdict {
    reason: &'static str,
    right: usize,
    wrong: usize,
    failed: usize,
    crashed: usize,
    hung: usize,
    refused: usize,
    passed: usize,
    ignored: usize,
    problems: Vec<TestProblem>,
}

/// Something that no single result tells.
#[derive(Debug, PartialEq, Serialize)]
struct TestProblem {
    problem: String,
    hint: Option<&'static str>,
}

impl TestVerdict {
    pub(super) fn new(rows: &[Row], asked: &cli::TestDevices, places: &[DeviceUnderTest]) -> TestVerdict {
        TestVerdict {
            reason: "summary",
            right: count(rows, Outcome::Right),
            wrong: count(rows, Outcome::Wrong),
            failed: count(rows, Outcome::Failed),
            crashed: count(rows, Outcome::Crashed),
            hung: count(rows, Outcome::Hung),
            refused: count(rows, Outcome::Refused),
            passed: count(rows, Outcome::Passed),
            ignored: count(rows, Outcome::Ignored),
            problems: no_device(rows)
                .into_iter()
                .chain(nowhere(rows, asked))
                .chain(required(rows, asked, places))
                .collect(),
        }
    }

    /// Prints it; the exit status.
    pub(super) fn print(&self, output: &Output) -> Result<ExitStatus> {
        let on_devices = self.sum(&[("right", self.right), ("wrong", self.wrong), ("refused", self.refused)]);
        let others = self.sum(&[
            ("failed", self.failed),
            ("crashed", self.crashed),
            ("hung", self.hung),
            ("passed without a device", self.passed),
            ("ignored", self.ignored),
        ]);
        if output.verbosity() != Verbosity::Quiet {
            output.space()?;
        }
        let sums: Vec<String> = [on_devices, others].into_iter().filter(|sum| !sum.is_empty()).collect();
        let text = if sums.is_empty() { "no tests".to_string() } else { sums.join(", ") };
        output.done(self, &text)?;
        for TestProblem { problem, hint } in &self.problems {
            let error = crate::error::Error::check(problem.clone());
            output.error(&hint.map_or(error.clone(), |hint| error.hint(hint)));
        }
        let is_bad = self.wrong + self.failed + self.crashed + self.hung > 0 || !self.problems.is_empty();
        Ok(if is_bad { ExitStatus::CheckFailed } else { ExitStatus::Success })
    }

    fn sum(&self, counts: &[(&str, usize)]) -> String {
        let nonzero = counts.iter().filter(|(_, count)| *count > 0);
        nonzero.map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }
}

/// The problem that no test used a device, so that no kernel was tested.
fn no_device(rows: &[Row]) -> Option<TestProblem> {
    let is_taken = rows.iter().any(|row| row.device.is_some());
    (!is_taken).then(|| TestProblem {
        problem: format!("none of {} used a device", counted(rows.len() as u64, "test")),
        hint: Some(
            "a kernel test calls `offload_rt::test::for_each_device`, of the feature `test` of offload-rt; `cargo test` runs the others",
        ),
    })
}

/// Tests that were refused wherever they might have run.
fn nowhere(rows: &[Row], asked: &cli::TestDevices) -> Option<TestProblem> {
    let mut tests: BTreeMap<(&str, &str, &str), bool> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.device.is_some()) {
        let ran = row.end.outcome != Outcome::Refused;
        *tests.entry((&row.package, &row.program, &row.test)).or_default() |= ran;
    }
    let refused: BTreeSet<&str> =
        tests.iter().filter(|(_, ran)| !**ran).map(|((.., test), _)| *test).collect();
    // Some devices alone say nothing of a single test.
    let is_excused = !asked.device.is_empty() && tests.values().any(|ran| *ran);
    let names = listed(refused.iter().map(|test| (*test).to_string())).filter(|_| !is_excused)?;
    Some(TestProblem {
        problem: format!("no device has run {names}"),
        hint: Some("`why` says what each device lacks; the target `host` runs on every CPU"),
    })
}

/// Required devices on which no kernel has run.
fn required(rows: &[Row], asked: &cli::TestDevices, places: &[DeviceUnderTest]) -> Vec<TestProblem> {
    let idle = asked
        .require
        .iter()
        .filter(|name| !places.iter().any(|place| place.is_named(name) && has_run(rows, place)));
    idle.map(|name| TestProblem {
        problem: format!("no test ran on the required device `{name}`"),
        hint: None,
    })
    .collect()
}

fn count(rows: &[Row], outcome: Outcome) -> usize {
    rows.iter().filter(|row| row.end.outcome == outcome).count()
}

/// Whether a test ran on the device.
fn has_run(rows: &[Row], place: &DeviceUnderTest) -> bool {
    rows.iter()
        .filter(|row| row.device.as_deref() == Some(place.label.as_str()))
        .any(|row| row.end.outcome != Outcome::Refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::test::device::Observer;
    use crate::commands::test::outcome::TestResult;

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

    fn asked(device: &[&str], require: &[&str]) -> cli::TestDevices {
        cli::TestDevices {
            device: device.iter().map(ToString::to_string).collect(),
            require: require.iter().map(ToString::to_string).collect(),
        }
    }

    fn problems(rows: &[Row], asked: &cli::TestDevices) -> Vec<String> {
        let host = offload_rt::test::devices().iter().filter(|device| device.label() == "host");
        let places: Vec<DeviceUnderTest> =
            host.map(|device| DeviceUnderTest::new(device, Observer::None)).collect();
        TestVerdict::new(rows, asked, &places).problems.into_iter().map(|problem| problem.problem).collect()
    }

    #[test]
    fn tests_without_a_device_are_no_success() {
        let all = asked(&[], &[]);
        assert_eq!(problems(&[], &all), ["none of 0 tests used a device"]);
        let passed = row("a", None, Outcome::Passed);
        assert_eq!(problems(std::slice::from_ref(&passed), &all), ["none of 1 test used a device"]);
        assert!(problems(&[passed, row("b", Some("host"), Outcome::Right)], &all).is_empty());
    }

    #[test]
    fn a_test_that_is_refused_everywhere_is_no_success() {
        let right = row("a", Some("host"), Outcome::Right);
        let refused = [row("b", Some("host"), Outcome::Refused), row("b", Some("cuda:0"), Outcome::Refused)];
        let rows: Vec<Row> = refused.iter().chain([&right]).cloned().collect();
        assert_eq!(problems(&rows, &asked(&[], &[])), ["no device has run b"]);
        // The devices that it is for were not asked for.
        assert!(problems(&rows, &asked(&["host"], &[])).is_empty());
        assert_eq!(problems(&refused, &asked(&["host"], &[])), ["no device has run b"]);
        let elsewhere = [row("b", Some("host"), Outcome::Right), row("b", Some("cuda:0"), Outcome::Refused)];
        assert!(problems(&elsewhere, &asked(&[], &[])).is_empty());
    }

    #[test]
    fn a_required_device_has_to_run_something() {
        let rows = [row("a", Some("host"), Outcome::Right)];
        assert!(problems(&rows, &asked(&[], &["host"])).is_empty());
        assert_eq!(
            problems(&rows, &asked(&[], &["a missing GPU"])),
            ["no test ran on the required device `a missing GPU`"]
        );
    }
}
