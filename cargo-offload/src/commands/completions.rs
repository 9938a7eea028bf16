//! `completions`: what a shell needs to complete `cargo-offload`'s command lines.

use clap::CommandFactory;

use crate::cli;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::output::Output;

pub(super) fn run(output: &Output, args: &cli::Completions) -> Result<ExitStatus> {
    // Shells complete the words of a program; cargo has no way to pass `cargo offload` on.
    // Into memory first: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::Options::command(), "cargo-offload", &mut script);
    output.document(&script)?;
    Ok(ExitStatus::Success)
}
