//! One file a command.

mod compression;
mod export;
mod init;
mod inspect;
mod prune;
mod repack;
mod targets;
mod vendor;
mod verify;

use crate::cli::{Command, Options};
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::output::Output;

/// Runs the command in `options`.
pub(crate) fn run(options: &Options) -> Result<ExitStatus> {
    let output = Output::new(options.message_format);
    match &options.command {
        Command::Init(args) => init::run(&output, args),
        Command::Targets(args) => targets::run(&output, args),
        Command::Compression(args) => compression::run(&output, args),
        Command::Inspect(args) => inspect::run(&output, args),
        Command::Verify(args) => verify::run(&output, args),
        Command::Prune(args) => prune::run(&output, args),
        Command::Repack(args) => repack::run(&output, args),
        Command::Export(args) => export::run(&output, args),
        Command::Vendor(args) => vendor::run(&output, args),
    }
}
