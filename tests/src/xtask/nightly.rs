//! `nightly`: everything that takes too long for every change.

use std::process::ExitCode;
use std::time::Instant;

use crate::reliability;
use crate::reliability::check::{self, Extent, Runner};
use crate::reliability::checks::CHECKS;
use crate::turns;
use offload_tests::error::{Error, Result};
use offload_tests::table::Table;
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "nightly [--table]  every check of `reliability`, and all long tasks, one by one; fails if one does

Two cores take less than two hours. What would take longer has turns: a third of the readers is fuzzed each night, and one of
three new machines is tried. The tables at the end have what was tried, what was found, how long it took, and what
others reach. --table lists the checks alone.";

/// Tasks that show no row of the table.
const OTHERS: [&[&str]; 14] = [
    &["prune"],
    &["sycl"],
    &["gate"],
    &["seeded"],
    &["gpu", "--run-here", "--device", "host"],
    &["amd"],
    &["book"],
    &["hour", "--network"],
    &["builtins"],
    &["platforms"],
    &["remote"],
    &["sandboxes"],
    &["bench", "pack"],
    &["bench", "start"],
];
/// One of them each night: every one takes a new machine.
const IN_TURNS: [&[&str]; 3] = [&["fresh"], &["fresh", "--toolchain"], &["fresh", "--rust-alone"]];

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    match args {
        [] => {}
        [table] if table == "--table" => return reliability::run(workspace, &[]),
        _ => return Err(Error::new("`nightly` takes `--table`")),
    }
    let start = Instant::now();
    let runner = Runner::new(workspace, Extent::Full)?;
    let mut outcomes = Vec::new();
    // The next one says something of its own even where one failed.
    for check in CHECKS {
        outcomes.extend(runner.run(check)?);
    }
    let mut table = Table::new(["task", "verdict", "time"]);
    let mut all = outcomes.iter().all(|outcome| outcome.passed);
    let tonight = turns::of_night(&IN_TURNS, turns::today()?);
    let tasks = OTHERS.len().saturating_add(tonight.len());
    for task in OTHERS.iter().chain(tonight) {
        let begun = Instant::now();
        let passed = runner.task(task).status()?.success();
        all &= passed;
        let verdict = if passed { "ok" } else { "FAILED" };
        table.row([task.join(" "), verdict.to_string(), seconds(begun.elapsed())]);
    }
    println!("{table}");
    check::print(&outcomes);
    println!("nightly: {} checks and {tasks} tasks in {}", outcomes.len(), seconds(start.elapsed()));
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
