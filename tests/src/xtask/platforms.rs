//! `platforms`: programs with kernels compile for systems where they carry no images.

use std::process::{Command, ExitCode};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};

pub(crate) const HELP: &str = "platforms       check example-app and offload-build for Windows and macOS

`cargo check` links nothing, so Rust's standard libraries are enough; rustup installs them.";

const TARGETS: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

pub(crate) fn run(workspace: &Workspace, _args: &[String]) -> Result<ExitCode> {
    if workspace.program("rustup").is_none() {
        return Err(Error::new("rustup is not installed").hint("https://rustup.rs"));
    }
    let install = workspace.shell.cmd("rustup").args(["target", "add"]).args(TARGETS);
    let installed = workspace::run_through(install)?;
    if !installed.success() {
        return Ok(workspace::exit_code(installed));
    }
    for target in TARGETS {
        let cargo =
            workspace.cargo().args(["check", "--package", "example-app", "--package", "offload-build"]);
        let mut cargo = Command::from(cargo.args(["--target", target]));
        // C in dependencies is not looked at: its compilers and headers for these systems would be needed.
        for tool in ["CC", "AR"] {
            cargo.env(format!("{tool}_{}", target.replace('-', "_")), "true");
        }
        let status = cargo.env("RUSTFLAGS", "-Dwarnings").status()?;
        if !status.success() {
            return Ok(workspace::exit_code(status));
        }
    }
    Ok(ExitCode::SUCCESS)
}
