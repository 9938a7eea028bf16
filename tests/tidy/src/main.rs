//! `cargo xtask tidy`: the import cycles of the published crates.

use std::process::ExitCode;

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};
use offload_tidy::packages;

fn main() -> ExitCode {
    workspace::run_task(run)
}

fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    let mut problems = Vec::new();
    for package in packages::published(&workspace.root)? {
        let name = package.file_name().unwrap_or_default().display().to_string();
        for cycle in packages::import_cycles(&package)? {
            problems.push(format!("{name}: import cycle {cycle}"));
        }
    }
    if problems.is_empty() {
        println!("no import cycles");
        Ok(ExitCode::SUCCESS)
    } else {
        Err(Error::new(problems.join("\n")))
    }
}
