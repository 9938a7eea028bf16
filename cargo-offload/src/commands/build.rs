//! `build`, `run` and `check`: the commands of cargo, with a progress bar for device compiles.

use offload_protocol::variable;

use crate::cargo::graph::cargo;
use crate::cargo::progress;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::output::Output;

pub(super) fn build(output: &Output, args: &cli::Build) -> Result<ExitStatus> {
    let cargo = cargo("build", &args.cargo)?.messages_as(output).args(&args.rest);
    progress::run(output, cargo)?;
    Ok(ExitStatus::Success)
}

pub(super) fn check(output: &Output, args: &cli::Build) -> Result<ExitStatus> {
    let cargo = cargo("check", &args.cargo)?.messages_as(output).args(&args.rest);
    progress::run(output, cargo.env(variable::CHECK, "1"))?;
    Ok(ExitStatus::Success)
}

/// Builds, and has cargo run what is built: the program gets the terminal, and no pipe of ours.
pub(super) fn run(output: &Output, args: &cli::Run) -> Result<ExitStatus> {
    progress::run(output, cargo("build", &args.cargo)?.messages_as(output))?;
    // The build has printed its own messages.
    let quiet = ["--quiet", "--color", output.color_argument()];
    let cargo = cargo("run", &args.cargo)?.args(quiet).args(["--"]).args(&args.rest);
    Ok(ExitStatus::Program(cargo.status()?))
}
