//! `cargo xtask`: tasks of the workspace.

mod amd;
mod bombs;
mod book;
mod candle;
mod cargo_tool;
mod damage;
mod demo;
mod dependencies;
mod devicelib;
mod family;
mod features;
mod file_package;
mod fresh;
mod fuzz;
mod gate;
mod gpu;
mod hecbench;
mod hour;
mod interop;
mod itself;
mod linkers;
mod minimal_versions;
mod miri;
mod msrv;
mod nightly;
mod package;
mod packages;
mod platforms;
mod programs;
mod prune;
mod reliability;
mod sandboxes;
mod seeded;
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
    work: Work,
}

/// What a task does.
enum Work {
    /// Something of its own.
    Own(Run),
    /// The checks of what is promised that have the task's name.
    Checks,
}

const TASKS: [Task; 52] = [
    task("demo", demo::HELP, demo::run),
    task("test", test::HELP, test::run),
    task("setup", setup::HELP, setup::run),
    task("linkers", linkers::HELP, linkers::run),
    task("prune", prune::HELP, prune::run),
    task("fresh", fresh::HELP, fresh::run),
    task("sycl", sycl::HELP, sycl::run),
    task("builtins", packages::BUILTINS, packages::builtins),
    task("targets", targets::HELP, targets::run),
    task("features", features::HELP, features::run),
    task("msrv", msrv::HELP, msrv::run),
    task("minimal-versions", minimal_versions::HELP, minimal_versions::run),
    task("miri", miri::HELP, miri::run),
    task("seeded", seeded::HELP, seeded::run),
    task("sandboxes", sandboxes::HELP, sandboxes::run),
    task("platforms", platforms::HELP, platforms::run),
    task("package", package::HELP, package::run),
    task("semver", semver::HELP, semver::run),
    task("tidy", packages::TIDY, packages::tidy),
    task("bench", packages::BENCH, packages::bench),
    task("remote", packages::REMOTE, packages::remote),
    task("amd", amd::HELP, amd::run),
    task("gpu", gpu::HELP, gpu::run),
    task("hour", hour::HELP, hour::run),
    task("gate", gate::HELP, gate::run),
    task("programs", programs::HELP, programs::run),
    task("interop", interop::HELP, interop::run),
    task("candle", candle::HELP, candle::run),
    task("hecbench", hecbench::HELP, hecbench::run),
    task("bombs", bombs::HELP, bombs::run),
    task("damage", damage::HELP, damage::run),
    task("dependencies", dependencies::HELP, dependencies::run),
    task("fuzz", fuzz::HELP, fuzz::run),
    task("fuzz-host", packages::FUZZ_HOST, packages::fuzz_host),
    task("book", book::HELP, book::run),
    task("devicelib", devicelib::HELP, devicelib::run),
    checks("malformed", groups::MALFORMED),
    checks("memory", groups::MEMORY),
    checks("kill", groups::KILL),
    checks("syscalls", groups::SYSCALLS),
    checks("cache-stress", groups::CACHE_STRESS),
    checks("threads", groups::THREADS),
    checks("unload", groups::UNLOAD),
    checks("abi", groups::ABI),
    checks("reproducible", groups::REPRODUCIBLE),
    checks("names", groups::NAMES),
    checks("surroundings", groups::SURROUNDINGS),
    checks("stale", groups::STALE),
    checks("deny", groups::DENY),
    checks("integrity", groups::INTEGRITY),
    task("reliability", reliability::HELP, reliability::run),
    task("nightly", nightly::HELP, nightly::run),
];

const fn task(name: &'static str, help: &'static str, run: Run) -> Task {
    Task { name, help, work: Work::Own(run) }
}

const fn checks(name: &'static str, help: &'static str) -> Task {
    Task { name, help, work: Work::Checks }
}

fn main() -> ExitCode {
    family::run(|| workspace::run_task(dispatch))
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
    match task.work {
        Work::Own(run) => run(workspace, rest),
        Work::Checks => groups::run(workspace, task.name, rest),
    }
}

fn is_help(arg: &str) -> bool {
    matches!(arg, "help" | "--help" | "-h")
}

/// The first line of every task's help.
fn usage() -> String {
    let lines = TASKS.iter().map(|task| format!("  {}\n", task.help.lines().next().unwrap_or_default()));
    format!("usage: cargo xtask TASK\n{}", lines.collect::<String>())
}
