//! `dependencies`: licences, sources, versions and known faults of what the crates depend on, by cargo-deny.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use offload_tests::error::Result;
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str =
    "dependencies    compare all dependencies with the policy in deny.toml, by cargo-deny

cargo-deny is installed under the target directory. Known faults (advisories) need a network.";

/// The version of cargo-deny.
const CARGO_DENY: &str = "0.18.9";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let program = install(workspace)?;
    let mut command = Command::new(program);
    command.current_dir(&workspace.root).args(["--workspace", "--all-features", "check"]).args(args);
    Ok(workspace::exit_code(command.status()?))
}

/// Finds cargo-deny, installing it first where it is missing.
fn install(workspace: &Workspace) -> Result<PathBuf> {
    let root = workspace.target_dir.join("tools").join(format!("cargo-deny-{CARGO_DENY}"));
    let program = root.join("bin/cargo-deny");
    if !program.exists() {
        let command = workspace.cargo().args(["install", "--locked", "cargo-deny", "--version", CARGO_DENY]);
        command.arg("--root").arg(&root).run()?;
    }
    Ok(program)
}
