//! `nightly`: everything that takes too long for every change.

mod lanes;
mod record;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use self::lanes::{Ended, Lanes};
use self::record::{Record, Shown};

use crate::reliability;
use crate::reliability::check::{self, Check, Extent, Outcome, Runner};
use crate::reliability::checks::CHECKS;
use crate::turns;
use offload_tests::error::{Error, Result};
use offload_tests::table::Table;
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "nightly [--resume] [--all] | --table  every check of `reliability` and the long tasks, one by one; fails if one does

Two cores take less than two hours. What would take longer has turns: a sixth of the readers is fuzzed each night, and a
sixth of the tasks runs. --all runs the tasks of all nights. Checks that are tests run beside those that are tasks; what
they print comes when they end. The tables at the end have what was tried, what was found, how long it took, and what
others reach. --resume goes on with a run that was interrupted, or repeats what failed: what has passed at the same commit
is not run again. --table lists the checks alone.";

/// Tasks that show no row of the table. The nights take about equally long.
const TASKS: [&[&[&str]]; turns::NIGHTS as usize] = [
    &[&["fresh"], &["seeded"], &["amd"]],
    &[&["fresh", "--toolchain"], &["prune"], &["sycl"], &["builtins"]],
    &[&["fresh", "--rust-alone"], &["hour", "--network"], &["book"], &["programs"]],
    &[&["remote", "tiers", "cuda", "templates", "schedulers", "packs"], &["sandboxes"], &["platforms"]],
    &[&["remote", "large", "faults", "load"], &["gate"], &["gpu", "--run-here", "--device", "host"]],
    &[&["bench", "pack"], &["bench", "start"], &["fuzz-host", "--programs", "10000"]],
];

/// Rows whose checks measure time, or take all processors.
const ALONE: [&str; 3] = ["R1", "R3", "R5"];

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let mut record = Record::new(workspace)?;
    let mut turns = turns::of_night(&TASKS, turns::today()?);
    match args {
        [table] if table == "--table" => return reliability::run(workspace, &[]),
        flags => {
            for flag in flags {
                match flag.as_str() {
                    "--resume" => record = record.resumed()?,
                    "--all" => turns = TASKS.iter().collect(),
                    _ => return Err(Error::new("`nightly` takes `--resume` and `--all`, or `--table`")),
                }
            }
        }
    }
    let start = Instant::now();
    let mut night = Night { runner: Runner::new(workspace, Extent::Full)?, record, earlier: 0 };
    let outcomes = night.checks()?;
    let mut table = Table::new(["task", "verdict", "time"]);
    let mut all = outcomes.iter().all(|outcome| outcome.passed);
    let tasks: Vec<&[&str]> = turns.into_iter().copied().flatten().copied().collect();
    for task in &tasks {
        let TaskEnded { passed, time } = night.task(task)?;
        all &= passed;
        let verdict = if passed { "ok" } else { "FAILED" };
        table.row([task.join(" "), verdict.to_string(), seconds(time)]);
    }
    println!("{table}");
    check::print(&outcomes);
    let earlier = match night.earlier {
        0 => String::new(),
        earlier => format!(", {earlier} of them had passed before"),
    };
    let (checks, tasks) = (outcomes.len(), tasks.len());
    println!("nightly: {checks} checks and {tasks} tasks in {}{earlier}", seconds(start.elapsed()));
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Night<'a> {
    runner: Runner<'a>,
    record: Record,
    /// How many were not run, as they had passed.
    earlier: usize,
}

/// Under which a check is recorded.
fn name_of(check: &Check) -> String {
    format!("{} {}: {}", check.row, check.group, check.promise)
}

/// How a task ended.
struct TaskEnded {
    passed: bool,
    time: Duration,
}

impl Night<'_> {
    /// All checks, in the order of the rows. The next one says something of its own even where one failed.
    fn checks(&mut self) -> Result<Vec<Outcome>> {
        let mut ended = BTreeMap::new();
        let mut lanes = Lanes::default();
        for (number, check) in CHECKS.iter().enumerate() {
            if let Some(outcome) = self.passed_before(check) {
                ended.insert(number, outcome);
            } else if ALONE.contains(&check.row) {
                if let Some(outcome) = self.runner.run(check)? {
                    self.keep(&outcome)?;
                    ended.insert(number, outcome);
                }
            } else if let Some(ready) = self.runner.ready(check) {
                lanes.add(number, ready);
            }
        }
        for one in lanes.start() {
            let Ended { number, outcome, said } = one?;
            std::io::stdout().write_all(&said)?;
            self.keep(&outcome)?;
            ended.insert(number, outcome);
        }
        Ok(ended.into_values().collect())
    }

    fn passed_before(&mut self, check: &'static Check) -> Option<Outcome> {
        let Shown { tried, found, seconds } = self.record.get(&name_of(check))?.clone();
        self.earlier = self.earlier.saturating_add(1);
        Some(Outcome { check, tried, found, time: Duration::from_secs(seconds), passed: true })
    }

    /// Keeps what has passed for `--resume`.
    fn keep(&mut self, outcome: &Outcome) -> Result<()> {
        if !outcome.passed {
            return Ok(());
        }
        let Outcome { check, tried, found, time, .. } = outcome;
        let shown = Shown { tried: tried.clone(), found: found.clone(), seconds: time.as_secs() };
        self.record.add(name_of(check), shown)
    }

    fn task(&mut self, task: &[&str]) -> Result<TaskEnded> {
        let name = task.join(" ");
        if let Some(shown) = self.record.get(&name) {
            self.earlier = self.earlier.saturating_add(1);
            return Ok(TaskEnded { passed: true, time: Duration::from_secs(shown.seconds) });
        }
        let begun = Instant::now();
        let passed = self.runner.task(task).status()?.success();
        let time = begun.elapsed();
        if passed {
            let shown = Shown { tried: String::new(), found: String::new(), seconds: time.as_secs() };
            self.record.add(name, shown)?;
        }
        Ok(TaskEnded { passed, time })
    }
}
