//! A check: the command that shows a promise, and the figures that it prints.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::itself::Itself;
use crate::test::{self, Counts};
use offload_tests::error::Result;
use offload_tests::setup;
use offload_tests::table::Table;
use offload_tests::workspace::{Workspace, seconds};
use offload_tests::{FIGURE, FULL_VAR};

/// A promise, and what shows that it is kept.
pub(crate) struct Check {
    /// `R1` to `R22`.
    pub(crate) row: &'static str,
    /// The task that it belongs to.
    pub(crate) group: &'static str,
    pub(crate) promise: &'static str,
    /// What other tools reach.
    pub(crate) anchor: &'static str,
    pub(crate) shown: Shown,
}

/// What shows it.
pub(crate) enum Shown {
    /// The tests whose names have one of these texts in them, in the programs that these arguments of `cargo test` name.
    Tests { programs: &'static [&'static str], names: &'static [&'static str] },
    /// A task of this program with its arguments. Where seconds count, with the others, if there are any.
    Task { full: &'static [&'static str], quick: Option<&'static [&'static str]> },
}

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Full,
    /// What takes seconds.
    Quick,
}

/// How a check ended.
pub(crate) struct Outcome {
    pub(crate) check: &'static Check,
    pub(crate) tried: String,
    pub(crate) found: String,
    pub(crate) time: Duration,
    pub(crate) passed: bool,
}

/// What a command printed that belongs into the table.
#[derive(Debug, Default)]
struct Printed {
    counts: Counts,
    figures: Vec<String>,
    /// The names of the tests that ran.
    ran: Vec<String>,
}

/// Runs checks in one workspace.
pub(crate) struct Runner<'a> {
    workspace: &'a Workspace,
    itself: Itself,
    extent: Extent,
    /// What tests read.
    env: Vec<(&'static str, OsString)>,
}

impl<'a> Runner<'a> {
    /// Installs what tests need.
    pub(crate) fn new(workspace: &'a Workspace, extent: Extent) -> Result<Runner<'a>> {
        let itself = Itself::new(workspace)?;
        if extent == Extent::Full {
            setup::ensure(workspace, &[setup::STRESS, setup::BUNDLER, setup::OLDER_LLVM])?;
        }
        Ok(Runner { workspace, itself, extent, env: test::environment(workspace)? })
    }

    /// The outcome of `check`; `None` if it has no form that takes seconds, and that is wanted.
    pub(crate) fn run(&self, check: &'static Check) -> Result<Option<Outcome>> {
        let Some(mut command) = self.command(&check.shown) else { return Ok(None) };
        let Check { row, group, promise, shown, .. } = check;
        let start = Instant::now();
        println!("== {row} {group}: {promise}");
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut printed = Printed::default();
        let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(|out| out.split(b'\n'));
        let mut out = std::io::stdout();
        for line in lines {
            let line = line?;
            printed.add(&String::from_utf8_lossy(&line));
            out.write_all(&line)?;
            out.write_all(b"\n")?;
        }
        let ended_well = child.wait()?.success();
        let (tried, found) = printed.sums(shown);
        let nothing = printed.what_ran_nothing(shown);
        let passed = ended_well && nothing.is_none();
        let found = nothing.unwrap_or(found);
        Ok(Some(Outcome { check, tried, found, time: start.elapsed(), passed }))
    }

    fn command(&self, shown: &Shown) -> Option<Command> {
        let args = match (shown, self.extent) {
            (Shown::Tests { programs, names }, _) => return Some(self.tests(programs, names)),
            (Shown::Task { full, .. }, Extent::Full) => full,
            (Shown::Task { quick: Some(quick), .. }, Extent::Quick) => quick,
            (Shown::Task { quick: None, .. }, Extent::Quick) => return None,
        };
        Some(self.itself.task(args))
    }

    fn tests(&self, programs: &[&str], names: &[&str]) -> Command {
        // Not quiet: the harness has to name the tests that it runs.
        let cargo = self.workspace.cargo().args(["test", "--workspace", "--all-features"]);
        let cargo = cargo.args(programs).args(["--", "--nocapture"]).args(names).envs(self.env.clone());
        let mut command = Command::from(cargo);
        // A test that skips shows nothing.
        command.env("CI", "true");
        if self.extent == Extent::Full {
            command.env(FULL_VAR, "1");
        }
        command
    }
}

impl Printed {
    fn add(&mut self, line: &str) {
        self.counts.add(line);
        // The harness may have begun the line.
        if let Some((_, figure)) = line.split_once(FIGURE) {
            self.figures.push(figure.to_string());
        }
        self.ran.extend(test_that_ran(line).map(str::to_string));
    }

    /// A name that no test has would pass, and a test that got another name would not be missed.
    fn what_ran_nothing(&self, shown: &Shown) -> Option<String> {
        let Shown::Tests { names, .. } = shown else { return None };
        let missing: Vec<&str> =
            names.iter().copied().filter(|name| !self.ran.iter().any(|test| test.contains(*name))).collect();
        match missing.as_slice() {
            [] if self.counts.passed == 0 => Some("no test ran".to_string()),
            [] => None,
            missing => Some(format!("no test ran for {}", missing.join(", "))),
        }
    }

    /// What was tried, and what was found.
    fn sums(&self, shown: &Shown) -> (String, String) {
        let Counts { passed, failed, .. } = self.counts;
        let halves: Vec<(&str, &str)> =
            self.figures.iter().filter_map(|figure| figure.split_once("; ")).collect();
        match (halves.as_slice(), shown) {
            ([], Shown::Tests { .. }) => {
                (format!("{} tests", passed.saturating_add(failed)), format!("{failed} failed"))
            }
            ([], Shown::Task { .. }) => ("all of it".to_string(), String::new()),
            (halves, _) => {
                let (tried, found): (Vec<&str>, Vec<&str>) = halves.iter().copied().unzip();
                (tried.join(", "), found.join(", "))
            }
        }
    }
}

/// Reads `test NAME ... ok`. What the test prints itself may stand in place of the result.
fn test_that_ran(line: &str) -> Option<&str> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    (!result.starts_with("ignored")).then_some(name)
}

/// In characters. Some checks sum up a dozen figures.
const WIDEST_CELL: usize = 48;

/// A row for each outcome: what was tried and found, and the figure of others beside them.
pub(crate) fn print(outcomes: &[Outcome]) {
    let mut table = Table::new(["row", "task", "verdict", "time", "tried", "found", "others"]);
    for outcome in outcomes {
        let verdict = if outcome.passed { "ok" } else { "FAILED" };
        let cells = [
            outcome.check.row.to_string(),
            outcome.check.group.to_string(),
            verdict.to_string(),
            seconds(outcome.time),
            outcome.tried.clone(),
            outcome.found.clone(),
            outcome.check.anchor.to_string(),
        ];
        table.wrapped_row(cells, WIDEST_CELL);
    }
    print!("{table}");
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: Shown = Shown::Tests { programs: &[], names: &[] };

    #[test]
    fn figures_are_collected_wherever_they_stand() {
        let mut printed = Printed::default();
        for line in ["figure: 3 kills; 0 torn", "test a ... figure: 4 builds; 0 others", "ok"] {
            printed.add(line);
        }
        assert_eq!(printed.sums(&TESTS), ("3 kills, 4 builds".to_string(), "0 torn, 0 others".to_string()));
    }

    #[test]
    fn tests_that_print_none_are_counted() {
        let mut printed = Printed::default();
        printed.add("test result: ok. 3 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out");
        assert_eq!(printed.sums(&TESTS), ("4 tests".to_string(), "1 failed".to_string()));
    }

    #[test]
    fn each_name_has_to_run_a_test() {
        let mut printed = Printed::default();
        for line in [
            "test pack::every_changed_byte ... ok",
            "test registry::threads ... figure: 64 threads; 0 others",
            "test cuda::streams ... ignored, needs an NVIDIA GPU",
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 9 filtered out",
        ] {
            printed.add(line);
        }
        let nothing =
            |names: &'static [&'static str]| printed.what_ran_nothing(&Shown::Tests { programs: &[], names });
        assert_eq!(nothing(&["pack::", "registry::threads"]), None);
        assert_eq!(nothing(&["pack::", "renamed::"]).as_deref(), Some("no test ran for renamed::"));
        assert_eq!(nothing(&["cuda::"]).as_deref(), Some("no test ran for cuda::"));
        assert_eq!(nothing(&[]), None);
        assert_eq!(Printed::default().what_ran_nothing(&TESTS).as_deref(), Some("no test ran"));
    }
}
