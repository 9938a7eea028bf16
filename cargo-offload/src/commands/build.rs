//! `build`, `run` and `check`: cargo's own, with the progress of device compiles.

use std::ffi::OsString;

use crate::cargo::process::Cargo;
use crate::cargo::progress;
use crate::cli::{self, MessageFormat};
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::output::Output;

pub(super) fn build(output: &Output, args: &cli::Build) -> Result<ExitStatus> {
    let cargo = Cargo::new("build").args(args.cargo.args()).args(messages(output)).args(&args.rest);
    progress::run(output, cargo)?;
    Ok(ExitStatus::Success)
}

pub(super) fn check(output: &Output, args: &cli::Build) -> Result<ExitStatus> {
    let cargo = Cargo::new("check").args(args.cargo.args()).args(messages(output)).args(&args.rest);
    progress::run(output, cargo.env("OFFLOAD_CHECK", "1"))?;
    Ok(ExitStatus::Success)
}

/// Builds, and has cargo run what is built: the program gets the terminal, and no pipe of ours.
pub(super) fn run(output: &Output, args: &cli::Run) -> Result<ExitStatus> {
    progress::run(output, Cargo::new("build").args(args.cargo.args()).args(messages(output)))?;
    // What there was to say about the build is said.
    let cargo = Cargo::new("run").args(["--quiet", "--color", output.color_argument()]);
    let status = cargo.args(args.cargo.args()).args(["--"]).args(&args.rest).status()?;
    Ok(ExitStatus::Program(status))
}

fn messages(output: &Output) -> Vec<OsString> {
    match output.format() {
        MessageFormat::Human => Vec::new(),
        MessageFormat::Json => ["--message-format", "json"].map(OsString::from).into(),
    }
}
