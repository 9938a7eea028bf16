//! The options, each defined once.

mod cargo;
mod change;
mod common;
mod examples;
mod life;
mod matrix;
mod remote;
mod show;
mod size;
mod test;
mod watch;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use offload_format::Limits;

pub(crate) use self::cargo::{Cargo, Project};
pub(crate) use self::change::{
    BundleVersion, Destination, Export, ExportFormat, Form, Prune, Repack, SyclRuntime, SyclState, Vendor,
};
pub(crate) use self::common::{ConfigFile, Deep};
pub(crate) use self::life::{
    Build, Cache, CacheAction, Completions, CratesSource, Doctor, Init, Man, New, Run, Toolchain,
    ToolchainAction, Vcs,
};
pub(crate) use self::matrix::{Axis, Tool};
pub(crate) use self::remote::RemoteServer;
pub(crate) use self::show::{Asm, Devices, Extract, Inspect, Report, ReportFormat, Select, Size};
pub(crate) use self::test::{Bench, Test, TestProgram};
#[cfg(feature = "devices")]
pub(crate) use self::test::{TestDevices, TestRunning};
pub(crate) use self::watch::WatchRun;

/// The definition under the name of the program, as shells and `man` look for it.
pub(crate) fn of_program() -> clap::Command {
    Options::command().name("cargo-offload").display_name("cargo-offload")
}

/// What stands above the options of every command.
const PRINTING: &str = "Every command";

/// Put GPU kernels into Rust programs, and look into programs that carry some.
#[derive(Debug, Parser)]
#[command(name = "cargo offload", bin_name = "cargo offload", version, arg_required_else_help = true)]
pub(crate) struct Options {
    /// Choose how to print.
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t = MessageFormat::Human, help_heading = PRINTING)]
    pub(crate) message_format: MessageFormat,
    /// Print JSON: the same as `--message-format json`.
    #[arg(long, global = true, help_heading = PRINTING)]
    pub(crate) json: bool,
    /// Choose when to use colours.
    #[arg(long, global = true, value_enum, value_name = "WHEN", help_heading = PRINTING)]
    pub(crate) color: Option<Color>,
    /// Print less.
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = PRINTING)]
    pub(crate) quiet: bool,
    /// Print more.
    #[arg(long, short, global = true, action = clap::ArgAction::Count, help_heading = PRINTING)]
    pub(crate) verbose: u8,
    /// Let the images in a file decode to this size, such as `8GiB`; only for files that you trust. Without it, they may
    /// decode to 128 times the size of the file, or to 8 MiB.
    #[arg(long, global = true, value_name = "SIZE", value_parser = size::parse, help_heading = PRINTING)]
    pub(crate) limit: Option<u64>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Options {
    /// What files that are not trusted may hold.
    pub(crate) fn limits(&self) -> Limits {
        let default = Limits::default();
        self.limit.map_or(default, |limit| {
            default.with_raw_bytes(limit.max(default.raw_bytes)).with_any_ratio(limit)
        })
    }

    /// How to print.
    pub(crate) fn format(&self) -> MessageFormat {
        if self.json { MessageFormat::Json } else { self.message_format }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// Tables and sentences.
    Human,
    /// One object per line, with a field `reason`.
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
    /// Make a new package with kernels that builds and runs.
    #[command(after_help = examples::NEW)]
    New(New),
    /// Add what kernels need to a package: dependencies, build.rs, kernels, offload.toml.
    #[command(after_help = examples::INIT)]
    Init(Init),
    /// Build like `cargo build`, with a bar for kernels.
    #[command(after_help = examples::BUILD)]
    Build(Build),
    /// Build and run like `cargo run`, with a bar for kernels.
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// Build and run, and compile kernels that are saved while the program runs: it takes them at its next launch.
    #[command(after_help = examples::DEV)]
    Dev(Run),
    /// Check a package like `cargo check`, and the syntax of its kernels.
    #[command(after_help = examples::CHECK)]
    Check(Build),
    /// Run the tests on each device of this machine, and show which is right where.
    #[command(after_help = examples::TEST)]
    Test(Test),
    /// Run a program with tests, as `test` has cargo do.
    #[command(hide = true)]
    TestProgram(TestProgram),
    /// End what a command has started, once the command itself has ended.
    #[command(hide = true)]
    WatchRun(WatchRun),
    /// Serve build scripts as the client of a remote cache.
    #[command(hide = true)]
    RemoteServer(RemoteServer),
    /// Run the benchmarks on each device of this machine, and show how long kernels take where.
    #[command(after_help = examples::BENCH)]
    Bench(Bench),
    /// Show which tools are installed, what each target lacks, and what installs it.
    #[command(after_help = examples::DOCTOR)]
    Doctor(Doctor),
    /// Install compilers without root.
    #[command(after_help = examples::TOOLCHAIN)]
    Toolchain(Toolchain),
    /// Look after the cache of compiled kernels.
    #[command(after_help = examples::CACHE)]
    Cache(Cache),
    /// List or change the targets in offload.toml.
    #[command(after_help = examples::TARGETS)]
    Targets(Targets),
    /// Show or change the compression in offload.toml.
    #[command(after_help = examples::COMPRESSION)]
    Compression(Compression),
    /// Show the images in a program, a library, a pack or a container of another tool chain.
    #[command(after_help = examples::INSPECT)]
    Inspect(Inspect),
    /// Show the machine code of a kernel.
    #[command(after_help = examples::ASM)]
    Asm(Asm),
    /// Show the devices of this machine, and which image each one gets.
    #[command(after_help = examples::DEVICES)]
    Devices(Devices),
    /// Show registers, spills and memory of each kernel, and compare them with a baseline.
    #[command(after_help = examples::REPORT)]
    Report(Report),
    /// Show how large the images are, by module, target and kernel.
    #[command(after_help = examples::SIZE)]
    Size(Size),
    /// Write each image to a file of its own.
    #[command(after_help = examples::EXTRACT)]
    Extract(Extract),
    /// Decode and check every image, and name crates whose kernels were not linked.
    #[command(after_help = examples::VERIFY)]
    Verify(Verify),
    /// Remove the images of some targets from a finished program or library.
    #[command(after_help = examples::PRUNE)]
    Prune(Prune),
    /// Move the images of a finished program to files beside it (sidecars) or back, or compress them again.
    #[command(after_help = examples::REPACK)]
    Repack(Repack),
    /// Write images in a container of SYCL, HIP, CUDA, Intel or LLVM.
    #[command(after_help = examples::EXPORT)]
    Export(Export),
    /// Add compiled images to a package, so that it builds without compilers for kernels.
    #[command(after_help = examples::VENDOR)]
    Vendor(Vendor),
    /// Print the completion script of a shell.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
    /// Print the manual.
    #[command(after_help = examples::MAN)]
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
    /// Show the targets, and what else the installed tools can build. `--quiet` prints names only.
    #[command(after_help = examples::TARGETS_LIST)]
    List,
    /// Add targets.
    #[command(after_help = examples::TARGETS_ADD)]
    Add {
        #[command(flatten)]
        targets: Named,
    },
    /// Replace the list of targets. Comments stay with targets that stay.
    #[command(after_help = examples::TARGETS_SET)]
    Set {
        #[command(flatten)]
        targets: Named,
    },
    /// Remove targets.
    #[command(after_help = examples::TARGETS_REMOVE)]
    Remove {
        /// Targets, as `targets list` prints them.
        #[arg(required = true)]
        targets: Vec<String>,
    },
}

/// Targets, and whether a build may do without them.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Targets, such as `spirv64` or `intel:pvc`.
    #[arg(required_unless_present = "optional", value_name = "TARGET", value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Targets that a build may leave out if a tool is missing.
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    pub(crate) optional: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Compression {
    #[command(flatten)]
    pub(crate) file: ConfigFile,
    /// The new setting: `none`, `fast`, `balanced`, `max`, `archive`, or a zstd level from 1 to 22. Without it, show the setting,
    /// and what each mode makes of the package's images.
    #[arg(conflicts_with_all = ["on", "setting"])]
    pub(crate) value: Option<String>,
    /// Try the modes on the images of this file: a program, library, pack, Python wheel, or a container of another tool
    /// chain.
    #[arg(long, value_name = "PATH")]
    pub(crate) on: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) deep: Deep,
    /// Pack everything in every mode, which takes about two seconds per MiB. Without it, slow modes are estimated from a
    /// sample (`~`) above 8 MiB.
    #[arg(long, conflicts_with = "value")]
    pub(crate) exact: bool,
    /// Print only the setting.
    #[arg(long, conflicts_with_all = ["on", "exact"])]
    pub(crate) setting: bool,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The file: a program, library, pack, SYCLBIN, or a container of another tool chain. Without it, build the package.
    /// With it, options that name a package say what the program was built from. Several files, and archives (wheels, zip,
    /// tar, packages), are taken too; with `--require` or `--device` also directories.
    pub(crate) path: Vec<PathBuf>,
    /// The SYCL runtime that will read a SYCLBIN. Without it, any of them may.
    #[arg(long = "for", value_enum, value_name = "RUNTIME")]
    pub(crate) runtime: Option<SyclRelease>,
    /// A SYCLBIN with which a program will link this one, and no other: all imported symbols have to be there.
    #[arg(long, value_name = "FILE")]
    pub(crate) linked_with: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) gate: Gate,
    #[command(flatten)]
    pub(crate) deep: Deep,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

/// What a release has to run on.
#[derive(Debug, Args)]
#[command(next_help_heading = "For which devices")]
pub(crate) struct Gate {
    /// Fail if a module has no image for one of these: `sm_90` (native code that such a GPU takes), `gfx90a`, `pvc`,
    /// `ptx>=sm_90` (PTX for this architecture or a later one), `ptx<=sm_80`, or a target as `cubin:sm_90`. Without it and
    /// without PATH, the list `require` in offload.toml.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) require: Vec<String>,
    /// Fail if a device would not run a module, and say which image it takes: `B200`, `MI300X`, `Arc A770`, or an
    /// architecture as `sm_90`.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) device: Vec<String>,
    /// The driver of these devices: NVIDIA's release (`550`, `550.54.14`), or the version of ROCm (`6.3`).
    #[arg(long, value_name = "VERSION", requires = "device")]
    pub(crate) driver: Option<String>,
    /// Ask less of some modules: `nccl*=sm_100f` lets them lack that. The name is that of a module, a library or a file, in
    /// which `*` stands for anything. The table `except` in offload.toml does the same.
    #[arg(long, value_name = "NAME=WHAT", value_delimiter = ',')]
    pub(crate) except: Vec<String>,
    /// Let all files pass that cannot be looked into, such as 7z archives and links that lead elsewhere.
    #[arg(long)]
    pub(crate) allow_unread: bool,
    /// Let those pass that have such a name, in which `*` stands for anything. The list `allow-unread` in offload.toml does
    /// the same.
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) allow_unread_of: Vec<String>,
    /// Judge PATH by the lists `require`, `except` and `allow-unread` of this file, in the form of offload.toml.
    #[arg(long, value_name = "FILE", requires = "path")]
    pub(crate) settings: Option<PathBuf>,
}

impl Gate {
    /// Whether anything has to be there.
    pub(crate) fn is_asked(&self) -> bool {
        !self.require.is_empty() || !self.device.is_empty() || self.settings.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyclRelease {
    /// oneAPI 2025.3.
    #[value(name = "sycl-2025.3")]
    Oneapi2025_3,
    /// oneAPI 2026.2.
    #[value(name = "sycl-2026.2")]
    Oneapi2026_2,
}

#[cfg(test)]
mod tests;
