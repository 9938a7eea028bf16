//! The options, each defined once.

mod cargo;
mod change;
mod common;
mod life;
mod matrix;
mod show;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

pub(crate) use self::cargo::{Cargo, Project};
pub(crate) use self::change::{
    BundleVersion, Destination, Export, ExportFormat, Form, Prune, Repack, SyclRuntime, SyclState, Vendor,
};
pub(crate) use self::common::ConfigFile;
pub(crate) use self::life::{
    Build, Cache, CacheAction, Completions, Doctor, Init, Man, New, Run, Toolchain, ToolchainAction, Vcs,
};
pub(crate) use self::matrix::{Axis, Tool};
pub(crate) use self::show::{Asm, Devices, Extract, Inspect, Report, ReportFormat, Select, Size};

/// The definition under the name of the program, as shells and `man` look for it.
pub(crate) fn of_program() -> clap::Command {
    Options::command().name("cargo-offload").display_name("cargo-offload")
}

/// Manages, shows, checks and exports the GPU device images that a Rust program carries.
#[derive(Debug, Parser)]
#[command(name = "cargo offload", bin_name = "cargo offload", version, arg_required_else_help = true)]
pub(crate) struct Options {
    /// How to print.
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t = MessageFormat::Human)]
    pub(crate) message_format: MessageFormat,
    /// The same as `--message-format json`.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours.
    #[arg(long, global = true, value_enum, value_name = "WHEN")]
    pub(crate) color: Option<Color>,
    /// Say less.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more.
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Options {
    /// How to print.
    pub(crate) fn format(&self) -> MessageFormat {
        if self.json { MessageFormat::Json } else { self.message_format }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// Tables and sentences.
    Human,
    /// One object a line, with a field `reason`.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a package with kernels that builds and runs.
    New(New),
    /// Add what kernels need to a package: dependencies, build.rs, kernels, offload.toml.
    Init(Init),
    /// Build, as `cargo build`, and show how far the kernels are.
    Build(Build),
    /// Build and run, as `cargo run`.
    Run(Run),
    /// Check a package as `cargo check`, and the syntax of its kernels.
    Check(Build),
    /// Tell which tools are installed, and what each target lacks.
    Doctor(Doctor),
    /// Install compilers without root.
    Toolchain(Toolchain),
    /// Look after the cache of compiled kernels.
    Cache(Cache),
    /// List or change the targets in offload.toml.
    Targets(Targets),
    /// Show or change the compression in offload.toml.
    Compression(Compression),
    /// Show the images of a program, a library, a pack or a container of another tool chain, stripped or not.
    Inspect(Inspect),
    /// Show the machine code of a kernel.
    Asm(Asm),
    /// Show the devices of this machine, and which images each would get.
    Devices(Devices),
    /// Show what kernels use of each device, and hold it against a baseline.
    Report(Report),
    /// Show where the bytes are, and what sharing saves.
    Size(Size),
    /// Write images to files, one each.
    Extract(Extract),
    /// Decode and check every image, and find crates with kernels that were not linked.
    Verify(Verify),
    /// Remove the images of some targets from a linked program or library, from its sidecars, or from a file of packs.
    Prune(Prune),
    /// Move the images of a linked program or library into sidecars (files beside it) or back, compress them anew, or let
    /// crates share.
    Repack(Repack),
    /// Write images in the containers of others.
    Export(Export),
    /// Put compiled images into a package, so that it builds without compilers for kernels.
    Vendor(Vendor),
    /// Write what a shell needs to complete command lines.
    Completions(Completions),
    /// Write the manual.
    Man(Man),
}

#[derive(Debug, Args)]
pub(crate) struct Targets {
    #[command(flatten)]
    pub(crate) file: ConfigFile,
    #[command(subcommand)]
    pub(crate) action: Option<TargetsAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TargetsAction {
    /// Print the targets, whether the installed tools can build them, and what else they can build. With `--quiet` the names alone.
    List,
    /// Add targets.
    Add {
        #[command(flatten)]
        targets: Named,
    },
    /// Make these the targets, in this order; comments stay with the targets that stay.
    Set {
        #[command(flatten)]
        targets: Named,
    },
    /// Remove targets.
    Remove {
        /// As `targets list` prints them.
        #[arg(required = true)]
        targets: Vec<String>,
    },
}

/// Targets, and whether a build may do without them.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// As `spirv64` or `intel:pvc`.
    #[arg(required_unless_present = "optional", value_name = "TARGET", value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Targets that a build leaves out where it lacks the tools.
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    pub(crate) optional: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Compression {
    #[command(flatten)]
    pub(crate) file: ConfigFile,
    /// `none`, `fast`, `balanced`, `max`, `archive`, or a level of zstd from 1 to 22. Without it the setting is printed, and what
    /// each mode makes of the images of the package's build.
    #[arg(conflicts_with_all = ["on", "setting"])]
    pub(crate) value: Option<String>,
    /// Try the modes on the images of this program, library or file of packs instead.
    #[arg(long, value_name = "PATH")]
    pub(crate) on: Option<PathBuf>,
    /// Pack everything in every mode. Otherwise `balanced`, `max` and `archive` are tried on a sample where there are more than
    /// 8 MiB of images, and what they would make of all is told about. To pack everything takes about two seconds for each MiB.
    #[arg(long, conflicts_with = "value")]
    pub(crate) exact: bool,
    /// Print the setting alone.
    #[arg(long, conflicts_with_all = ["on", "exact"])]
    pub(crate) setting: bool,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// A program, a shared library, a pack, a SYCLBIN, or a file or container of another tool chain with device images;
    /// otherwise the package is built. Options that name a package tell what the program was built from.
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[cfg(test)]
mod tests;
