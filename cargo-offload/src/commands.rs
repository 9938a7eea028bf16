//! One file a command.

mod asm;
mod compression;
#[cfg(feature = "devices")]
mod devices;
mod export;
mod extract;
mod init;
mod inspect;
mod prune;
mod repack;
mod report;
mod size;
mod targets;
mod verify;

use crate::cli::{Command, Options};
use crate::error::Result;
use crate::exit::ExitStatus;
use crate::output::Output;

/// Runs the command in `options`.
pub(crate) fn run(options: &Options) -> Result<ExitStatus> {
    let output = Output::new(options.format());
    match &options.command {
        Command::Init(args) => init::run(&output, args),
        Command::Targets(args) => targets::run(&output, args),
        Command::Compression(args) => compression::run(&output, args),
        Command::Inspect(args) => inspect::run(&output, args),
        Command::Asm(args) => asm::run(&output, args),
        #[cfg(feature = "devices")]
        Command::Devices(args) => devices::run(&output, args),
        #[cfg(not(feature = "devices"))]
        Command::Devices(_) => Err(crate::error::Error::usage("this build of cargo-offload asks no drivers")
            .hint("install it with its feature `devices`")),
        Command::Report(args) => report::run(&output, args),
        Command::Size(args) => size::run(&output, args),
        Command::Extract(args) => extract::run(&output, args),
        Command::Verify(args) => verify::run(&output, args),
        Command::Prune(args) => prune::run(&output, args),
        Command::Repack(args) => repack::run(&output, args),
        Command::Export(args) => export::run(&output, args),
    }
}
