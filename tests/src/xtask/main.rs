//! `cargo xtask`: what is done to this workspace as a whole.

mod amd;
mod bombs;
mod book;
mod damage;
mod demo;
mod dependencies;
mod features;
mod fresh;
mod fuzz;
mod gpu;
mod hour;
mod interop;
mod linkers;
mod msrv;
mod nightly;
mod packages;
mod platforms;
mod prune;
mod reliability;
mod semver;
mod sycl;
mod targets;
mod test;

use std::process::ExitCode;

use self::reliability::groups;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::{self, Run, Workspace};

/// A task by its name on the command line.
struct Task {
    name: &'static str,
    help: &'static str,
    run: Run,
}

const TASKS: [Task; 40] = [
    Task { name: "demo", help: demo::HELP, run: demo::run },
    Task { name: "test", help: test::HELP, run: test::run },
    Task { name: "setup", help: setup::HELP, run: setup::run },
    Task { name: "linkers", help: linkers::HELP, run: linkers::run },
    Task { name: "prune", help: prune::HELP, run: prune::run },
    Task { name: "fresh", help: fresh::HELP, run: fresh::run },
    Task { name: "sycl", help: sycl::HELP, run: sycl::run },
    Task { name: "builtins", help: packages::BUILTINS, run: packages::builtins },
    Task { name: "targets", help: targets::HELP, run: targets::run },
    Task { name: "features", help: features::HELP, run: features::run },
    Task { name: "msrv", help: msrv::HELP, run: msrv::run },
    Task { name: "platforms", help: platforms::HELP, run: platforms::run },
    Task { name: "semver", help: semver::HELP, run: semver::run },
    Task { name: "tidy", help: packages::TIDY, run: packages::tidy },
    Task { name: "bench", help: packages::BENCH, run: packages::bench },
    Task { name: "amd", help: amd::HELP, run: amd::run },
    Task { name: "gpu", help: gpu::HELP, run: gpu::run },
    Task { name: "hour", help: hour::HELP, run: hour::run },
    Task { name: "interop", help: interop::HELP, run: interop::run },
    Task { name: "bombs", help: bombs::HELP, run: bombs::run },
    Task { name: "damage", help: damage::HELP, run: damage::run },
    Task { name: "dependencies", help: dependencies::HELP, run: dependencies::run },
    Task { name: "fuzz", help: fuzz::HELP, run: fuzz::run },
    Task { name: "book", help: book::HELP, run: book::run },
    Task {
        name: "malformed",
        help: groups::MALFORMED,
        run: |workspace, args| groups::run(workspace, "malformed", args),
    },
    Task {
        name: "memory",
        help: groups::MEMORY,
        run: |workspace, args| groups::run(workspace, "memory", args),
    },
    Task { name: "kill", help: groups::KILL, run: |workspace, args| groups::run(workspace, "kill", args) },
    Task {
        name: "syscalls",
        help: groups::SYSCALLS,
        run: |workspace, args| groups::run(workspace, "syscalls", args),
    },
    Task {
        name: "cache-stress",
        help: groups::CACHE_STRESS,
        run: |workspace, args| groups::run(workspace, "cache-stress", args),
    },
    Task {
        name: "threads",
        help: groups::THREADS,
        run: |workspace, args| groups::run(workspace, "threads", args),
    },
    Task {
        name: "unload",
        help: groups::UNLOAD,
        run: |workspace, args| groups::run(workspace, "unload", args),
    },
    Task { name: "abi", help: groups::ABI, run: |workspace, args| groups::run(workspace, "abi", args) },
    Task {
        name: "reproducible",
        help: groups::REPRODUCIBLE,
        run: |workspace, args| groups::run(workspace, "reproducible", args),
    },
    Task { name: "names", help: groups::NAMES, run: |workspace, args| groups::run(workspace, "names", args) },
    Task {
        name: "surroundings",
        help: groups::SURROUNDINGS,
        run: |workspace, args| groups::run(workspace, "surroundings", args),
    },
    Task { name: "stale", help: groups::STALE, run: |workspace, args| groups::run(workspace, "stale", args) },
    Task { name: "deny", help: groups::DENY, run: |workspace, args| groups::run(workspace, "deny", args) },
    Task {
        name: "integrity",
        help: groups::INTEGRITY,
        run: |workspace, args| groups::run(workspace, "integrity", args),
    },
    Task { name: "reliability", help: reliability::HELP, run: reliability::run },
    Task { name: "nightly", help: nightly::HELP, run: nightly::run },
];

fn main() -> ExitCode {
    workspace::run_task(dispatch)
}

fn dispatch(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let Some((name, rest)) = args.split_first() else {
        print!("{}", usage());
        return Ok(ExitCode::from(2));
    };
    if is_help(name) {
        print!("{}", usage());
        return Ok(ExitCode::SUCCESS);
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        let names: Vec<&str> = TASKS.iter().map(|task| task.name).collect();
        let error = Error::new(format!("there is no task `{}`", name.escape_debug()));
        return Err(error.hint(format!("the tasks are {}", names.join(", "))));
    };
    if rest.iter().any(|arg| is_help(arg)) {
        println!("cargo xtask {}", task.help.trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    (task.run)(workspace, rest)
}

fn is_help(arg: &str) -> bool {
    matches!(arg, "help" | "--help" | "-h")
}

/// The first line of every task's help.
fn usage() -> String {
    let lines = TASKS.iter().map(|task| format!("  {}\n", task.help.lines().next().unwrap_or_default()));
    format!("usage: cargo xtask TASK\n{}", lines.collect::<String>())
}
