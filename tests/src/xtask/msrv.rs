//! `msrv`: the published crates build with the oldest Rust that their manifests promise.

use std::process::{Command, ExitCode};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};

use crate::features;

pub(crate) const HELP: &str =
    "msrv            check the published crates with the toolchain of `rust-version`

All features are enabled. rustup installs the toolchain if it is missing.";

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    let metadata = features::metadata(workspace)?;
    let version = features::rust_version(&metadata)?;
    if workspace.program("rustup").is_none() {
        return Err(Error::new("rustup is not installed").hint("https://rustup.rs"));
    }
    if !is_installed(&version) {
        let install = workspace.shell.cmd("rustup").args(["toolchain", "install", &version]);
        let installed = workspace::run_through(install.args(["--profile", "minimal", "--no-self-update"]))?;
        if !installed.success() {
            return Ok(workspace::exit_code(installed));
        }
    }
    // Not the cargo that runs this: rustup chooses by the first argument.
    let mut cargo = Command::new("rustup");
    cargo.current_dir(&workspace.root).args(["run", &version, "cargo", "check", "--all-features"]);
    // What cargo says to what it runs would lead the other cargo to this one's compiler.
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        cargo.env_remove(name);
    }
    // A separate target directory, so that no other build waits for its lock.
    cargo.arg("--target-dir").arg(workspace.target_dir.join("msrv"));
    for name in features::published(&metadata)?.keys() {
        cargo.args(["--package", name]);
    }
    Ok(workspace::exit_code(cargo.status()?))
}

/// rustup would ask its server for an update of what is installed.
fn is_installed(version: &str) -> bool {
    let rustc = Command::new("rustup").args(["run", version, "rustc", "--version"]).output();
    rustc.is_ok_and(|output| output.status.success())
}
