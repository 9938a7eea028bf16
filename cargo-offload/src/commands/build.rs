//! `build`, `run` and `check`: cargo's own, with the progress of device compiles.

use std::ffi::OsString;

use offload_format::variable;

use crate::cargo::graph::{self, Depth};
use crate::cargo::process::Cargo;
use crate::cargo::progress;
use crate::cli::{self, MessageFormat};
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::output::Output;

pub(super) fn build(output: &Output, args: &cli::Build) -> Result<ExitStatus> {
    let cargo = cargo("build", &args.cargo)?.args(messages(output)).args(&args.rest);
    progress::run(output, cargo)?;
    Ok(ExitStatus::Success)
}

pub(super) fn check(output: &Output, args: &cli::Build) -> Result<ExitStatus> {
    let cargo = cargo("check", &args.cargo)?.args(messages(output)).args(&args.rest);
    progress::run(output, cargo.env(variable::CHECK, "1"))?;
    Ok(ExitStatus::Success)
}

/// Builds, and has cargo run what is built: the program gets the terminal, and no pipe of ours.
pub(super) fn run(output: &Output, args: &cli::Run) -> Result<ExitStatus> {
    progress::run(output, cargo("build", &args.cargo)?.args(messages(output)))?;
    // What there was to say about the build is said.
    let quiet = ["--quiet", "--color", output.color_argument()];
    let cargo = cargo("run", &args.cargo)?.args(quiet).args(["--"]).args(&args.rest);
    Ok(ExitStatus::Program(cargo.status()?))
}

/// Cargo with its options, in the workspace that they name.
pub(super) fn cargo(verb: &'static str, options: &cli::Cargo) -> Result<Cargo> {
    let metadata = graph::metadata(&options.package.project, Depth::Members)?;
    let target_dir = options.package.target_dir.as_deref();
    Ok(Cargo::new(verb).args(options.args()).in_workspace(&metadata, target_dir))
}

/// What cargo says of a build, as this command's messages.
pub(super) fn messages(output: &Output) -> Vec<OsString> {
    match output.format() {
        MessageFormat::Human => Vec::new(),
        MessageFormat::Json => ["--message-format", "json"].map(OsString::from).into(),
    }
}
