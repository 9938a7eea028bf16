//! Command line: every command and option, defined once for the parser, the help, man pages and completions.

mod cargo;
mod change;
mod common;
mod examples;
mod groups;
mod inspect;
mod matrix;
mod project;
mod remote;
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
pub(crate) use self::inspect::{Asm, Devices, Extract, Inspect, Report, ReportFormat, Select, Size};
pub(crate) use self::matrix::{Axis, Tool};
pub(crate) use self::project::{
    Build, Cache, CacheAction, Completions, CratesSource, Doctor, Init, Man, New, Run, Toolchain,
    ToolchainAction, Vcs,
};
pub(crate) use self::remote::RemoteServer;
pub(crate) use self::test::{Bench, Test, TestProgram};
#[cfg(feature = "devices")]
pub(crate) use self::test::{TestDevices, TestRunning};
pub(crate) use self::watch::WatchRun;

/// The command line of `cargo offload`.
pub(crate) fn command() -> clap::Command {
    groups::with_groups(Options::command())
}

/// [`command`] under the name of the program, by which shells and `man` look for it.
pub(crate) fn program_command() -> clap::Command {
    command().name("cargo-offload").display_name("cargo-offload")
}

/// Heading of the options that every command takes.
const GLOBAL: &str = "Global options";

/// Build, inspect and ship GPU kernels in Rust programs.
#[derive(Debug, Parser)]
#[command(name = "cargo offload", bin_name = "cargo offload", version, arg_required_else_help = true)]
#[command(after_help = examples::HELP)]
pub(crate) struct Options {
    /// Output format.
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t = MessageFormat::Human, help_heading = GLOBAL)]
    pub(crate) message_format: MessageFormat,
    /// Print JSON; short for `--message-format json`.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// Coloring of output.
    #[arg(long, global = true, value_enum, value_name = "WHEN", help_heading = GLOBAL)]
    pub(crate) color: Option<Color>,
    /// Use less output.
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = GLOBAL)]
    pub(crate) quiet: bool,
    /// Use more output.
    #[arg(long, short, global = true, action = clap::ArgAction::Count, help_heading = GLOBAL)]
    pub(crate) verbose: u8,
    /// Maximum decoded size of the images in a file, such as `8GiB`. Raise it only for files that you trust.
    ///
    /// The default is 128 times the size of the file, and at least 8 MiB.
    #[arg(long, global = true, value_name = "SIZE", value_parser = size::parse, help_heading = GLOBAL)]
    pub(crate) limit: Option<u64>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Options {
    /// Decoding limits for untrusted files.
    pub(crate) fn limits(&self) -> Limits {
        let default = Limits::default();
        self.limit.map_or(default, |limit| {
            default.with_raw_bytes(limit.max(default.raw_bytes)).with_any_ratio(limit)
        })
    }

    /// The output format of `--message-format` or `--json`.
    pub(crate) fn format(&self) -> MessageFormat {
        if self.json { MessageFormat::Json } else { self.message_format }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// Tables and text for people.
    Human,
    /// One JSON object per line, each with a field `reason`.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// Color on a terminal.
    Auto,
    /// Color always.
    Always,
    /// Never color.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a package with GPU kernels.
    #[command(after_help = examples::NEW)]
    New(New),
    /// Add GPU kernels to an existing package.
    ///
    /// Adds the dependencies, a build.rs, example kernels and offload.toml. Existing files stay as they are.
    #[command(after_help = examples::INIT)]
    Init(Init),
    /// Compile a package and its kernels.
    ///
    /// Passes its options to `cargo build`, and shows a progress bar for kernels.
    #[command(after_help = examples::BUILD)]
    Build(Build),
    /// Build and run a program.
    ///
    /// Passes its options to `cargo run`, and shows a progress bar for kernels.
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// Run a program, and recompile kernels as they are saved.
    ///
    /// The running program loads a recompiled kernel at its next launch.
    #[command(after_help = examples::DEV)]
    Dev(Run),
    /// Check a package and the syntax of its kernels.
    ///
    /// Passes its options to `cargo check`. Kernels are parsed, but not compiled.
    #[command(after_help = examples::CHECK)]
    Check(Build),
    /// Run kernel tests on every device.
    ///
    /// Runs the tests of a package once on each device of this machine, and prints the results as a table of tests and
    /// devices.
    #[command(after_help = examples::TEST)]
    Test(Test),
    /// Run a test binary in place of cargo's own runner.
    #[command(hide = true)]
    TestProgram(TestProgram),
    /// Compile the kernels of a build script, whose request is read from standard input.
    #[command(hide = true)]
    BuildScript,
    /// Stop the processes of a command that has exited.
    #[command(hide = true)]
    WatchRun(WatchRun),
    /// Serve build scripts as the client of a remote cache.
    #[command(hide = true)]
    RemoteServer(RemoteServer),
    /// Run kernel benchmarks on every device.
    ///
    /// Runs the benchmarks of a package once on each device of this machine, and prints the times as a table of
    /// benchmarks and devices.
    #[command(after_help = examples::BENCH)]
    Bench(Bench),
    /// Check that the compilers for each target are installed.
    ///
    /// Lists the installed tools, what each target lacks, and the command that installs it.
    #[command(after_help = examples::DOCTOR)]
    Doctor(Doctor),
    /// Install kernel compilers without root.
    #[command(after_help = examples::TOOLCHAIN)]
    Toolchain(Toolchain),
    /// Manage the kernel compile cache.
    #[command(after_help = examples::CACHE)]
    Cache(Cache),
    /// List or change the targets in offload.toml.
    #[command(after_help = examples::TARGETS)]
    Targets(Targets),
    /// Show or change the compression in offload.toml.
    #[command(after_help = examples::COMPRESSION)]
    Compression(Compression),
    /// List the device images in a file.
    #[command(after_help = examples::INSPECT)]
    Inspect(Inspect),
    /// Show the machine code of a kernel.
    #[command(after_help = examples::ASM)]
    Asm(Asm),
    /// List devices, and the image that each of them loads.
    #[command(after_help = examples::DEVICES)]
    Devices(Devices),
    /// Report registers, spills and memory of each kernel.
    ///
    /// Compares the numbers with a baseline, another build or other compilers on request.
    #[command(after_help = examples::REPORT)]
    Report(Report),
    /// Show the size of images by module, target and kernel.
    #[command(after_help = examples::SIZE)]
    Size(Size),
    /// Write each image to its own file.
    #[command(after_help = examples::EXTRACT)]
    Extract(Extract),
    /// Check images, and that given devices can run them.
    ///
    /// Decodes and checks every image, and lists crates whose kernels the linker dropped. With `--require` or
    /// `--device`, fails if a module has no image for one of the devices.
    #[command(after_help = examples::VERIFY)]
    Verify(Verify),
    /// Remove images from a program or library.
    #[command(after_help = examples::PRUNE)]
    Prune(Prune),
    /// Move images to sidecar files and back, or recompress them.
    #[command(after_help = examples::REPACK)]
    Repack(Repack),
    /// Write images as a SYCL, HIP, CUDA, Intel or LLVM container.
    #[command(after_help = examples::EXPORT)]
    Export(Export),
    /// Store compiled images in a package.
    ///
    /// The package then builds on machines without kernel compilers.
    #[command(after_help = examples::VENDOR)]
    Vendor(Vendor),
    /// Generate shell completions.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
    /// Generate man pages.
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
    /// List the targets, and others that the installed compilers support.
    ///
    /// `--quiet` prints only the names.
    #[command(after_help = examples::TARGETS_LIST)]
    List,
    /// Add targets.
    #[command(after_help = examples::TARGETS_ADD)]
    Add {
        #[command(flatten)]
        targets: Named,
    },
    /// Replace the list of targets.
    ///
    /// Comments of targets that remain are kept.
    #[command(after_help = examples::TARGETS_SET)]
    Set {
        #[command(flatten)]
        targets: Named,
    },
    /// Remove targets.
    #[command(after_help = examples::TARGETS_REMOVE)]
    Remove {
        /// Targets to remove, as `targets list` prints them.
        #[arg(required = true)]
        targets: Vec<String>,
    },
}

/// Required and optional targets.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Targets that every build compiles for, such as `spirv64` or `intel:pvc`.
    #[arg(required_unless_present = "optional", value_name = "TARGET", value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Targets that a build skips if their compiler is missing.
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    pub(crate) optional: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Compression {
    #[command(flatten)]
    pub(crate) file: ConfigFile,
    /// New setting: `none`, `fast`, `balanced`, `max`, `archive`, or a zstd level from 1 to 22.
    ///
    /// If omitted, prints the setting, and the size of the package's images in each mode.
    #[arg(conflicts_with_all = ["on", "setting"])]
    pub(crate) value: Option<String>,
    /// Measure every mode on the images of a program, library, pack, Python wheel, or another toolchain's container.
    #[arg(long, value_name = "PATH")]
    pub(crate) on: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) deep: Deep,
    /// Compress all images in every mode, which takes about two seconds per MiB.
    ///
    /// The default for files above 8 MiB is to estimate slow modes from a sample, and to mark them with `~`.
    #[arg(long, conflicts_with = "value")]
    pub(crate) exact: bool,
    /// Print the setting and nothing else.
    #[arg(long, conflicts_with_all = ["on", "exact"])]
    pub(crate) setting: bool,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Programs, libraries, packs, SYCLBIN files, other toolchains' containers, or archives (wheel, zip, tar, deb, rpm).
    ///
    /// If omitted, the package is built and checked. With a path, options that select a package name the source of the
    /// program. `--require` and `--device` also accept directories.
    pub(crate) path: Vec<PathBuf>,
    /// SYCL runtime that a SYCLBIN must load in [default: all of them].
    #[arg(long = "for", value_enum, value_name = "RUNTIME")]
    pub(crate) runtime: Option<SyclRelease>,
    /// SYCLBIN that is linked with PATH. Fail if an imported symbol is not exported by one of these.
    #[arg(long, value_name = "FILE")]
    pub(crate) linked_with: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) gate: Gate,
    #[command(flatten)]
    pub(crate) deep: Deep,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

/// Devices that a release must support.
#[derive(Debug, Args)]
#[command(next_help_heading = "Release requirements")]
pub(crate) struct Gate {
    /// Fail if a module has no image for one of these architectures or targets.
    ///
    /// `sm_90`, `gfx90a` and `pvc` require native code that such a GPU loads; `ptx>=sm_90` requires PTX for this
    /// architecture or a later one, `ptx<=sm_80` for this or an earlier one; `cubin:sm_90` requires an image for exactly this
    /// target. Without PATH, the default is the list `require` in offload.toml.
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) require: Vec<String>,
    /// Fail if a device cannot run a module, and print the image that it loads.
    ///
    /// A device is a product such as `B200`, `MI300X` or `Arc A770`, or an architecture such as `sm_90`.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) device: Vec<String>,
    /// Driver of these devices: NVIDIA's release (`550`, `550.54.14`), or the ROCm version (`6.3`).
    #[arg(long, value_name = "VERSION", requires = "device")]
    pub(crate) driver: Option<String>,
    /// Exempt modules from a requirement: `nccl*=sm_100f`.
    ///
    /// The glob matches the name of a module, library or file. Adds to the table `except` in offload.toml.
    #[arg(long, value_name = "NAME=WHAT", value_delimiter = ',')]
    pub(crate) except: Vec<String>,
    /// Accept files that cannot be read, such as 7z archives and links to files outside of PATH.
    #[arg(long)]
    pub(crate) allow_unread: bool,
    /// Accept unreadable files whose name matches a glob. Adds to the list `allow-unread` in offload.toml.
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    pub(crate) allow_unread_of: Vec<String>,
    /// Read `require`, `except` and `allow-unread` for PATH from this file, which has the format of offload.toml.
    #[arg(long, value_name = "FILE", requires = "path")]
    pub(crate) settings: Option<PathBuf>,
}

impl Gate {
    /// Whether the command line states a requirement.
    pub(crate) fn has_requirements(&self) -> bool {
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
