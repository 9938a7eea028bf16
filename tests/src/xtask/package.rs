//! `package`: the published crates, each built from the package that a registry gets.

use std::collections::BTreeMap;
use std::process::{ExitCode, ExitStatus};

use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};

use crate::features;

pub(crate) const HELP: &str = "package [--quick]  package every published crate, and build each from its package

Fails if a package does not build, lacks its licences or its README, or has files of tests. --quick builds none.";

const REQUIRED: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let is_quick = match args {
        [] => false,
        [flag] if flag == "--quick" => true,
        _ => return Err(Error::new("`package` takes `--quick`")),
    };
    let crates = features::published(&features::metadata(workspace)?)?;
    let mut problems = Vec::new();
    for name in crates.keys() {
        problems.extend(check_files(workspace, name)?);
    }
    if !problems.is_empty() {
        return Err(Error::new(problems.join("\n")));
    }
    if is_quick {
        return Ok(ExitCode::SUCCESS);
    }
    let status = build(workspace, &crates)?;
    if status.success() {
        println!("{FIGURE}{} packages; all build", crates.len());
    }
    Ok(workspace::exit_code(status))
}

/// What is wrong with the list of files of a package.
fn check_files(workspace: &Workspace, name: &str) -> Result<Vec<String>> {
    let list = workspace.cargo().args(["package", "--list", "--allow-dirty", "--package", name]);
    let list = list.quiet().read()?;
    let files: Vec<&str> = list.lines().collect();
    let mut problems = Vec::new();
    for required in REQUIRED {
        if !files.contains(&required) {
            problems.push(format!("the package of {name} lacks {required}"));
        }
    }
    for file in files {
        if file.starts_with("tests/") {
            problems.push(format!("the package of {name} has {file}"));
        }
    }
    Ok(problems)
}

/// In a target directory of its own: packages are other crates than those of the workspace.
fn build(workspace: &Workspace, crates: &BTreeMap<String, Vec<String>>) -> Result<ExitStatus> {
    let mut cargo = workspace.cargo().args(["package", "--allow-dirty", "--target-dir"]);
    cargo = cargo.arg(workspace.target_dir.join("packages"));
    for name in crates.keys() {
        cargo = cargo.args(["--package", name]);
    }
    workspace::run_through(cargo)
}
