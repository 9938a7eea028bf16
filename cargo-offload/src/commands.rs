//! One file a command.

mod build;
mod cache;
mod completions;
mod compression;
mod doctor;
mod export;
mod init;
mod inspect;
mod man;
mod new;
mod prune;
mod repack;
mod targets;
mod toolchain;
mod verify;

use crate::cli::Command;
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::output::Output;

/// Runs `command`.
pub(crate) fn run(output: &Output, command: &Command) -> Result<ExitStatus> {
    match command {
        Command::New(args) => new::run(output, args),
        Command::Init(args) => init::run(output, args),
        Command::Build(args) => build::build(output, args),
        Command::Run(args) => build::run(output, args),
        Command::Check(args) => build::check(output, args),
        Command::Doctor(args) => doctor::run(output, args),
        Command::Toolchain(args) => toolchain::run(output, args),
        Command::Cache(args) => cache::run(output, args),
        Command::Targets(args) => targets::run(output, args),
        Command::Compression(args) => compression::run(output, args),
        Command::Inspect(args) => inspect::run(output, args),
        Command::Verify(args) => verify::run(output, args),
        Command::Prune(args) => prune::run(output, args),
        Command::Repack(args) => repack::run(output, args),
        Command::Export(args) => export::run(output, args),
        Command::Completions(args) => completions::run(output, args),
        Command::Man(args) => man::run(output, args),
    }
}
