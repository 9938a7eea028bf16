//! Tasks that verify guarantees: each runs its checks and prints a table.

use std::process::ExitCode;

use super::check::{self, Extent, Runner};
use super::checks::CHECKS;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

pub(crate) const MALFORMED: &str =
    "malformed [--quick]  read damaged files with each reader and with LLVM's tools: R1, R3, R4";
pub(crate) const MEMORY: &str = "memory [--quick]     process large files in little memory: R6";
pub(crate) const KILL: &str = "kill [--quick]       kill commands and builds before each system call: R7";
pub(crate) const SYSCALLS: &str = "syscalls [--quick]   inject failing system calls and a full disk: R8";
pub(crate) const CACHE_STRESS: &str =
    "cache-stress [--quick]  run builds on a shared compile cache while it is damaged: R9, R10";
pub(crate) const THREADS: &str = "threads [--quick]    load images from many threads at once: R11";
pub(crate) const UNLOAD: &str = "unload [--quick]     load and unload libraries with images: R12";
pub(crate) const ABI: &str = "abi [--quick]        read files of earlier and of later releases: R13";
pub(crate) const REPRODUCIBLE: &str =
    "reproducible [--quick]  compare builds that differ in directory, user, time and order: R15";
pub(crate) const NAMES: &str =
    "names [--quick]      inject names with path traversal and terminal escapes: R16";
pub(crate) const SURROUNDINGS: &str = "surroundings [--quick]  run with missing, faulty and hanging tools and on limited file systems: R17, R18";
pub(crate) const STALE: &str = "stale [--quick]      rebuild after each edit of the configuration: R19";
pub(crate) const DENY: &str = "deny [--quick]       check unsafe code, dependencies and licences: R20, R21";
pub(crate) const INTEGRITY: &str = "integrity [--quick]  damage each byte of written files: R2, R22";

/// Runs the checks of the task `group`. `--quick` takes samples that take seconds.
pub(crate) fn run(workspace: &Workspace, group: &str, args: &[String]) -> Result<ExitCode> {
    let extent = match args {
        [] => Extent::Full,
        [quick] if quick == "--quick" => Extent::Quick,
        _ => return Err(Error::new(format!("`{group}` takes `--quick`"))),
    };
    let runner = Runner::new(workspace, extent)?;
    let mut outcomes = Vec::new();
    for check in CHECKS.iter().filter(|check| check.group == group) {
        // The next one says something of its own even where this one failed.
        outcomes.extend(runner.run(check)?);
    }
    check::print(&outcomes);
    let passed = !outcomes.is_empty() && outcomes.iter().all(|outcome| outcome.passed);
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
