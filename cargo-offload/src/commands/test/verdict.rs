//! What all results come to.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::outcome::{Outcome, Row};
use super::place::Place;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::choice::Verbosity;
use crate::print::output::Output;
use crate::print::text::{counted, listed};

/// How many ended how, and what is wrong beside that.
#[derive(Debug, Serialize)]
pub(super) struct Verdict {
    reason: &'static str,
    right: usize,
    wrong: usize,
    failed: usize,
    crashed: usize,
    hung: usize,
    refused: usize,
    passed: usize,
    ignored: usize,
    problems: Vec<Problem>,
}

/// Something that no single result tells.
#[derive(Debug, PartialEq, Serialize)]
struct Problem {
    problem: String,
    hint: Option<&'static str>,
}

impl Verdict {
    pub(super) fn of(rows: &[Row], asked: &cli::TestDevices, places: &[Place]) -> Verdict {
        let count = |outcome| rows.iter().filter(|row| row.end.outcome == outcome).count();
        Verdict {
            reason: "summary",
            right: count(Outcome::Right),
            wrong: count(Outcome::Wrong),
            failed: count(Outcome::Failed),
            crashed: count(Outcome::Crashed),
            hung: count(Outcome::Hung),
            refused: count(Outcome::Refused),
            passed: count(Outcome::Passed),
            ignored: count(Outcome::Ignored),
            problems: no_device(rows)
                .into_iter()
                .chain(nowhere(rows, asked))
                .chain(required(rows, asked, places))
                .collect(),
        }
    }

    /// Prints it; the exit status.
    pub(super) fn tell(&self, output: &Output) -> Result<ExitStatus> {
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
        for Problem { problem, hint } in &self.problems {
            let error = crate::error::Error::check(problem.clone());
            output.error(&hint.map_or(error.clone(), |hint| error.hint(hint)));
        }
        let is_bad = self.wrong + self.failed + self.crashed + self.hung > 0 || !self.problems.is_empty();
        Ok(if is_bad { ExitStatus::CheckFailed } else { ExitStatus::Success })
    }

    fn sum(&self, counts: &[(&str, usize)]) -> String {
        let said = counts.iter().filter(|(_, count)| *count > 0);
        said.map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }
}

/// No test has taken a device: somebody expects the kernels to be tested, and they are not.
fn no_device(rows: &[Row]) -> Option<Problem> {
    let is_taken = rows.iter().any(|row| row.device.is_some());
    (!is_taken).then(|| Problem {
        problem: format!("none of {} has taken a device", counted(rows.len() as u64, "test")),
        hint: Some(
            "a kernel test calls `offload_rt::test::for_each_device`, of the feature `test` of offload-rt; `cargo test` runs the others",
        ),
    })
}

/// Tests that were refused wherever they might have run.
fn nowhere(rows: &[Row], asked: &cli::TestDevices) -> Option<Problem> {
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
    Some(Problem {
        problem: format!("no device has run {names}"),
        hint: Some("`why` says what each device lacks; the target `host` runs on every CPU"),
    })
}

/// Required devices on which no kernel has run.
fn required(rows: &[Row], asked: &cli::TestDevices, places: &[Place]) -> Vec<Problem> {
    let has_run = |place: &Place| {
        let on = |row: &&Row| row.device.as_deref() == Some(place.label.as_str());
        rows.iter().filter(on).any(|row| row.end.outcome != Outcome::Refused)
    };
    let idle = asked
        .require
        .iter()
        .filter(|name| !places.iter().any(|place| place.is_named(name) && has_run(place)));
    let problem = |name: &String| Problem {
        problem: format!("no test has run on the required device `{name}`"),
        hint: None,
    };
    idle.map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::test::outcome::End;
    use crate::commands::test::place::Watcher;

    fn row(test: &str, device: Option<&str>, outcome: Outcome) -> Row {
        Row {
            package: "p".into(),
            program: "p (lib)".into(),
            test: test.into(),
            device: device.map(Into::into),
            end: End::of(outcome),
            seconds: 0.0,
            output: None,
        }
    }

    fn asked(device: &[&str], require: &[&str]) -> cli::TestDevices {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
        cli::TestDevices { device: owned(device), require: owned(require) }
    }

    fn problems(rows: &[Row], asked: &cli::TestDevices) -> Vec<String> {
        let host = offload_rt::test::devices().iter().filter(|device| device.label() == "host");
        let places: Vec<Place> = host.map(|device| Place::of(device, Watcher::None)).collect();
        Verdict::of(rows, asked, &places).problems.into_iter().map(|problem| problem.problem).collect()
    }

    #[test]
    fn tests_without_a_device_are_no_success() {
        let all = asked(&[], &[]);
        assert_eq!(problems(&[], &all), ["none of 0 tests has taken a device"]);
        let passed = row("a", None, Outcome::Passed);
        assert_eq!(problems(std::slice::from_ref(&passed), &all), ["none of 1 test has taken a device"]);
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
            problems(&rows, &asked(&[], &["a GPU of nobody"])),
            ["no test has run on the required device `a GPU of nobody`"]
        );
    }
}
