//! `nightly`: everything that takes too long for every change.

mod record;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use self::record::{Record, Shown};

use crate::reliability;
use crate::reliability::check::{self, Check, Extent, Outcome, Runner};
use crate::reliability::checks::CHECKS;
use crate::turns;
use offload_tests::error::{Error, Result};
use offload_tests::table::Table;
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "nightly [--resume] [--all] | --table  every check of `reliability` and the long tasks, one by one; fails if one does

Two cores take less than two hours. What would take longer has turns: a quarter of the readers is fuzzed each night, and
a quarter of the tasks runs. --all runs the tasks of all nights. The tables at the end have what was tried, what was
found, how long it took, and what others reach. --resume goes on with a run that was interrupted, or repeats what failed:
what has passed at the same commit is not run again. --table lists the checks alone.";

/// Tasks that show no row of the table. The nights take about equally long.
const TASKS: [&[&[&str]]; turns::NIGHTS as usize] = [
    &[&["fresh"], &["seeded"], &["amd"]],
    &[&["fresh", "--toolchain"], &["prune"], &["sycl"], &["builtins"]],
    &[&["fresh", "--rust-alone"], &["hour", "--network"], &["book"], &["bench", "pack"], &["bench", "start"]],
    &[&["remote"], &["sandboxes"], &["platforms"], &["gate"], &["gpu", "--run-here", "--device", "host"]],
];

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
    let mut outcomes = Vec::new();
    // The next one says something of its own even where one failed.
    for check in CHECKS {
        outcomes.extend(night.check(check)?);
    }
    let mut table = Table::new(["task", "verdict", "time"]);
    let mut all = outcomes.iter().all(|outcome| outcome.passed);
    let tasks: Vec<&[&str]> = turns.into_iter().copied().flatten().copied().collect();
    for task in &tasks {
        let Ended { passed, time } = night.task(task)?;
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

/// How a task ended.
struct Ended {
    passed: bool,
    time: Duration,
}

impl Night<'_> {
    fn check(&mut self, check: &'static Check) -> Result<Option<Outcome>> {
        let name = format!("{} {}: {}", check.row, check.group, check.promise);
        if let Some(shown) = self.record.get(&name) {
            self.earlier = self.earlier.saturating_add(1);
            let Shown { tried, found, seconds } = shown.clone();
            let time = Duration::from_secs(seconds);
            return Ok(Some(Outcome { check, tried, found, time, passed: true }));
        }
        let outcome = self.runner.run(check)?;
        if let Some(Outcome { tried, found, time, passed: true, .. }) = &outcome {
            let shown = Shown { tried: tried.clone(), found: found.clone(), seconds: time.as_secs() };
            self.record.add(name, shown)?;
        }
        Ok(outcome)
    }

    fn task(&mut self, task: &[&str]) -> Result<Ended> {
        let name = task.join(" ");
        if let Some(shown) = self.record.get(&name) {
            self.earlier = self.earlier.saturating_add(1);
            return Ok(Ended { passed: true, time: Duration::from_secs(shown.seconds) });
        }
        let begun = Instant::now();
        let passed = self.runner.task(task).status()?.success();
        let time = begun.elapsed();
        if passed {
            let shown = Shown { tried: String::new(), found: String::new(), seconds: time.as_secs() };
            self.record.add(name, shown)?;
        }
        Ok(Ended { passed, time })
    }
}
