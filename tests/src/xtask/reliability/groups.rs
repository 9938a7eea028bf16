//! The tasks that show promises: each runs its checks and prints a table.

use std::process::ExitCode;

use super::check::{self, Extent, Runner};
use super::checks::CHECKS;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

pub(crate) const MALFORMED: &str =
    "malformed [--quick]  damaged files for every reader, and beside LLVM's tools: R1, R3, R4";
pub(crate) const MEMORY: &str = "memory [--quick]     large files in little memory: R6";
pub(crate) const KILL: &str = "kill [--quick]       commands and builds ended before a system call: R7";
pub(crate) const SYSCALLS: &str = "syscalls [--quick]   system calls that fail, and a full disk: R8";
pub(crate) const CACHE_STRESS: &str =
    "cache-stress [--quick]  builds that share a compile cache, which is damaged meanwhile: R9, R10";
pub(crate) const THREADS: &str = "threads [--quick]    first use of images from many threads: R11";
pub(crate) const UNLOAD: &str = "unload [--quick]     libraries with images that come and go: R12";
pub(crate) const ABI: &str = "abi [--quick]        files of earlier releases, and of later ones: R13";
pub(crate) const REPRODUCIBLE: &str =
    "reproducible [--quick]  builds that differ in place, user, time and order: R15";
pub(crate) const NAMES: &str =
    "names [--quick]      names that would leave a directory or steer a terminal: R16";
pub(crate) const SURROUNDINGS: &str =
    "surroundings [--quick]  missing, lying and hanging tools, poor file systems: R17, R18";
pub(crate) const STALE: &str = "stale [--quick]      edits of the configuration, one after another: R19";
pub(crate) const DENY: &str = "deny [--quick]       unsafe code, dependencies and their licences: R20, R21";
pub(crate) const INTEGRITY: &str =
    "integrity [--quick]  damage to what is written here, byte by byte: R2, R22";

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
