//! `nightly`: the commands that take too long for every change.

mod record;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use self::record::Record;
use crate::itself::Itself;
use offload_tests::error::{Error, Result};
use offload_tests::table::Table;
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "nightly [--resume]  run every long task; fails if one does

The tasks run one after another, each with the output it has alone, and a table at the end has their verdicts and times.
--resume continues an interrupted run, or repeats what failed: a task that passed at the same commit does not run again.";

/// In the order in which they run: what fails most often comes first. The tasks of `reliability` repeat tests of the first
/// command, one promise at a time, for their figures.
const COMMANDS: &[&[&str]] = &[
    &["test", "--full"],
    &["features"],
    &["targets"],
    &["msrv"],
    &["package"],
    &["remote", "--quick"],
    &["gate"],
    &["seeded"],
    &["fuzz-host", "--programs", "10000"],
    &["malformed"],
    &["bombs"],
    &["memory"],
    &["kill"],
    &["syscalls"],
    &["cache-stress"],
    &["threads"],
    &["unload"],
    &["abi"],
    &["linkers"],
    &["reproducible"],
    &["names"],
    &["surroundings"],
    &["stale"],
    &["deny"],
    &["semver"],
    &["integrity"],
    &["bench", "host", "--quick"],
    &["bench", "pack"],
    &["bench", "start"],
    &["remote", "tiers", "cuda", "templates", "schedulers", "packs"],
    &["remote", "large", "faults", "load"],
    &["gpu", "--run-here", "--device", "host"],
    &["programs"],
    &["builtins"],
    &["amd"],
    &["prune"],
    &["sycl"],
    &["book"],
    &["sandboxes"],
    &["platforms"],
    &["hour", "--network"],
    &["fresh"],
    &["fresh", "--toolchain"],
    &["fresh", "--rust-alone"],
];

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let mut record = match args {
        [] => Record::new(workspace)?,
        [flag] if flag == "--resume" => Record::new(workspace)?.resumed()?,
        _ => return Err(Error::new("`nightly` takes `--resume`")),
    };
    let itself = Itself::new(workspace)?;
    let start = Instant::now();
    let mut table = Table::new(["task", "verdict", "time"]);
    let mut failures = 0;
    for args in COMMANDS {
        let name = args.join(" ");
        if let Some(time) = record.time_of(&name) {
            table.row([name, "passed before".to_string(), seconds(time)]);
            continue;
        }
        println!("== cargo xtask {name}");
        let begun = Instant::now();
        let passed = itself.task(args).status()?.success();
        let time = Duration::from_secs(begun.elapsed().as_secs());
        if passed {
            record.add(&name, time)?;
        } else {
            failures += 1;
        }
        table.row([name, if passed { "ok" } else { "FAILED" }.to_string(), seconds(time)]);
    }
    println!("{table}");
    println!("nightly: {} tasks in {}, {failures} failed", COMMANDS.len(), seconds(start.elapsed()));
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
