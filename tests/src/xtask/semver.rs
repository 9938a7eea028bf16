//! `semver`: what changed in the public interface since the last release, by cargo-semver-checks.

use std::process::{Command, ExitCode};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};

use crate::features;

pub(crate) const HELP: &str =
    "semver [REV]    compare the public interface of the libraries with that of REV, or of the last tag

It needs `cargo install cargo-semver-checks --locked`. Before the first release there is nothing to compare with.";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    if workspace.program("cargo-semver-checks").is_none() {
        return Err(Error::new("cargo-semver-checks is not installed")
            .hint("cargo install cargo-semver-checks --locked"));
    }
    let Some(baseline) = args.first().cloned().or_else(|| last_tag(workspace)) else {
        println!("there is no tag yet, so there is no release to compare with");
        return Ok(ExitCode::SUCCESS);
    };
    let mut cargo = Command::from(workspace.cargo().arg("semver-checks"));
    cargo.args(["--all-features", "--baseline-rev", &baseline]);
    for name in features::published(&features::metadata(workspace)?)?.keys() {
        cargo.args(["--package", name]);
    }
    Ok(workspace::exit_code(cargo.status()?))
}

/// The tag of the last release before what is checked out.
fn last_tag(workspace: &Workspace) -> Option<String> {
    let git = workspace.shell.cmd("git").args(["describe", "--tags", "--abbrev=0", "--match", "v*"]);
    git.quiet().ignore_stderr().read().ok().filter(|tag| !tag.is_empty())
}
