//! `reliability`: what is promised of damaged files, faults and builds, which task shows it, and what others reach.

pub(crate) mod check;
pub(crate) mod checks;
pub(crate) mod groups;

use std::process::ExitCode;

use self::checks::CHECKS;
use offload_tests::error::Result;
use offload_tests::table::Table;
use offload_tests::workspace::Workspace;

pub(crate) const HELP: &str = "reliability     list the guarantees R1 to R22, with the task that verifies each and the figure of other tools

Each is a task of its own (`cargo xtask kill`), which prints what it tried, what it found, and the figure of others beside
them. `cargo xtask nightly` runs all of them.";

pub(crate) fn run(_: &Workspace, _args: &[String]) -> Result<ExitCode> {
    let mut table = Table::new(["row", "task", "promise", "others"]);
    for check in CHECKS {
        table.row([check.row, check.group, check.promise, check.anchor].map(str::to_string));
    }
    print!("{table}");
    Ok(ExitCode::SUCCESS)
}
