//! `cargo xtask tidy`: prints the figures.

use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};
use offload_tidy::report;

fn main() -> ExitCode {
    workspace::run_task(run)
}

fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    let rows = report::measure(workspace)?;
    println!("{}", report::text(&rows));
    let complaints: Vec<String> = rows.iter().flat_map(report::complaints).collect();
    match complaints.is_empty() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(Error::new(complaints.join("\n"))),
    }
}
