//! Commands, one per file.

mod asm;
#[cfg(feature = "devices")]
mod bench;
mod build;
mod build_script;
mod cache;
mod completions;
mod compression;
mod dev;
#[cfg(feature = "devices")]
mod devices;
mod doctor;
mod export;
mod extract;
mod init;
mod inspect;
mod man;
mod new;
mod prune;
#[cfg(all(feature = "remote", unix))]
mod remote_server;
mod repack;
mod report;
mod size;
mod targets;
#[cfg(feature = "devices")]
mod test;
mod toolchain;
mod vendor;
mod verify;

use crate::cargo::watch;
use crate::cli::Command;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::output::Output;

/// Runs `command`.
pub(crate) fn run(output: &Output, command: &Command) -> Result<ExitStatus> {
    match command {
        Command::New(args) => new::run(output, args),
        Command::Init(args) => init::run(output, args),
        Command::Build(args) => build::build(output, args),
        Command::Run(args) => build::run(output, args),
        Command::Dev(args) => dev::run(output, args),
        Command::Check(args) => build::check(output, args),
        #[cfg(feature = "devices")]
        Command::Test(args) => test::run(output, args),
        #[cfg(feature = "devices")]
        Command::TestProgram(args) => test::run_program(output, args),
        #[cfg(feature = "devices")]
        Command::Bench(args) => bench::run(output, args),
        #[cfg(not(feature = "devices"))]
        Command::Test(_) | Command::TestProgram(_) | Command::Bench(_) => Err(no_devices()),
        Command::BuildScript => build_script::run(),
        Command::WatchRun(args) => {
            watch::run(args);
            Ok(ExitStatus::Success)
        }
        #[cfg(all(feature = "remote", unix))]
        Command::RemoteServer(args) => remote_server::run(args),
        #[cfg(not(all(feature = "remote", unix)))]
        Command::RemoteServer(_) => Err(crate::error::Error::without_remote()),
        Command::Doctor(args) => doctor::run(output, args),
        Command::Toolchain(args) => toolchain::run(output, args),
        Command::Cache(args) => cache::run(output, args),
        Command::Targets(args) => targets::run(output, args),
        Command::Compression(args) => compression::run(output, args),
        Command::Inspect(args) => inspect::run(output, args),
        Command::Asm(args) => asm::run(output, args),
        #[cfg(feature = "devices")]
        Command::Devices(args) => devices::run(output, args),
        #[cfg(not(feature = "devices"))]
        Command::Devices(_) => Err(no_devices()),
        Command::Report(args) => report::run(output, args),
        Command::Size(args) => size::run(output, args),
        Command::Extract(args) => extract::run(output, args),
        #[cfg(not(feature = "devices"))]
        Command::Verify(args) if args.gate.has_requirements() => Err(no_devices()),
        Command::Verify(args) => verify::run(output, args),
        Command::Prune(args) => prune::run(output, args),
        Command::Repack(args) => repack::run(output, args),
        Command::Export(args) => export::run(output, args),
        Command::Vendor(args) => vendor::run(output, args),
        Command::Completions(args) => completions::run(output, args),
        Command::Man(args) => man::run(output, args),
    }
}

#[cfg(not(feature = "devices"))]
fn no_devices() -> crate::error::Error {
    crate::error::Error::usage("this build of cargo-offload has no device support")
        .hint("install it with the feature `devices`")
}
