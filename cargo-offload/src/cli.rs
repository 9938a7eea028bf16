//! The options, each defined once.

mod cargo;
mod life;
mod matrix;
mod show;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

pub(crate) use self::cargo::{Cargo, Package, Project};
pub(crate) use self::life::{
    Build, Cache, CacheAction, Completions, Doctor, Init, Man, New, Run, Toolchain, ToolchainAction, Vcs,
};
pub(crate) use self::matrix::{Axis, Tool};
pub(crate) use self::show::{Asm, Devices, Extract, Inspect, Report, ReportFormat, Select, Size};
use crate::files::publish::Existing;

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
    /// Remove the images of some targets from a linked program or library, from the files beside it, or from a file of packs.
    Prune(Prune),
    /// Move the images of a linked program or library into files beside it or back, compress them anew, or let crates share.
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
pub(crate) struct ConfigFile {
    /// The file to use; otherwise OFFLOAD_CONFIG, or offload.toml here or in a directory above.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Files that the user names.
#[derive(Debug, Args)]
pub(crate) struct Force {
    /// Replace a named file that exists; otherwise it is kept, which is an error unless it would be the same.
    #[arg(long)]
    force: bool,
}

impl Force {
    pub(crate) fn existing(&self) -> Existing {
        if self.force { Existing::Replaced } else { Existing::Kept }
    }
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

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Prune {
    /// A program, a shared library or a file of packs; otherwise the package is built.
    pub(crate) path: Option<PathBuf>,
    /// Targets whose images stay, as `spirv64`, `intel:*` or `all-amd`; all others go.
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',', group = "which")]
    pub(crate) keep: Vec<String>,
    /// Targets whose images go; all others stay.
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',', group = "which")]
    pub(crate) drop: Vec<String>,
    #[command(flatten)]
    pub(crate) destination: Destination,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true)
    .args(["sidecar", "split", "embed", "compression", "merge", "unmerge"]))]
pub(crate) struct Repack {
    /// A program or a shared library, for compression and merging also a file of packs; otherwise the package is built.
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: Form,
    /// Compress the images anew: `none`, `fast`, `balanced`, `max`, a level of zstd from 1 to 22, or `archive`, which the program
    /// reads if it has the feature `archive` of `offload-rt`.
    #[arg(long, value_name = "VALUE")]
    pub(crate) compression: Option<String>,
    /// Store the images of all crates relative to each other.
    #[arg(long, conflicts_with = "unmerge")]
    pub(crate) merge: bool,
    /// Store the images of each crate by themselves, as its build did.
    #[arg(long)]
    pub(crate) unmerge: bool,
    #[command(flatten)]
    pub(crate) destination: Destination,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

/// Where images are to be; otherwise they stay where they are.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Form {
    /// In one file beside the program: PROGRAM.offload.
    #[arg(long)]
    pub(crate) sidecar: bool,
    /// In one file a family of targets: PROGRAM.intel.offload and so on.
    #[arg(long)]
    pub(crate) split: bool,
    /// In the program, from the files beside it, which stay.
    #[arg(long)]
    pub(crate) embed: bool,
}

/// Where a changed program goes.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Destination {
    /// The file to write; it must not exist.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file.
    #[arg(long)]
    pub(crate) in_place: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// A program, a shared library or a pack; otherwise the package is built.
    pub(crate) path: Option<PathBuf>,
    /// The container.
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// The kernel module; needed if there are several. A SYCLBIN may have several.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) module: Vec<String>,
    /// The target of the image. A SYCLBIN may have one for each kind of GPU, beside the SPIR-V; the other containers have
    /// all that they can unless targets are named.
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Vec<String>,
    /// What a program may do with a SYCLBIN.
    #[arg(long, value_enum, default_value_t = SyclState::Executable)]
    pub(crate) state: SyclState,
    /// The release of the SYCL runtime that will read the file.
    #[arg(long, value_enum, default_value_t = SyclRuntime::Oneapi2026)]
    pub(crate) runtime: SyclRuntime,
    /// The version of a compressed bundle.
    #[arg(long, value_enum, default_value_t = BundleVersion::V2)]
    pub(crate) bundle_version: BundleVersion,
    /// The file to write; otherwise MODULE.syclbin, or MODULE and the usual ending.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) package: Package,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A SYCLBIN from the module's SPIR-V and native images.
    Syclbin,
    /// clang's offload bundle of the module's AMD images, for HIP.
    Bundle,
    /// The same, compressed.
    Ccob,
    /// A CUDA fatbin of the module's cubins and PTX.
    Fatbin,
    /// An archive of ocloc: the module's Intel images, and its SPIR-V for other devices.
    OclocAr,
    /// LLVM's OffloadBinary.
    OffloadBinary,
    /// The bytes of the image.
    Raw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BundleVersion {
    /// For LLVM 19 and later, up to 4 GiB.
    #[value(name = "2")]
    V2,
    /// For LLVM 22 and later.
    #[value(name = "3")]
    V3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyclState {
    /// To be compiled and linked.
    Input,
    /// To be linked with other modules.
    Object,
    /// To be launched.
    Executable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyclRuntime {
    /// oneAPI 2026.0 and later.
    #[value(name = "2026")]
    Oneapi2026,
    /// oneAPI 2025.3.
    #[value(name = "2025.3")]
    Oneapi2025_3,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Options::command().debug_assert();
    }
}

#[derive(Debug, Args)]
pub(crate) struct Vendor {
    #[command(flatten)]
    pub(crate) project: Project,
    /// For which targets, instead of those in offload.toml.
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Compile, and compare with what is there instead of writing it.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Also write a bill of materials of the device code (CycloneDX 1.6, JSON).
    #[arg(long, value_name = "FILE")]
    pub(crate) sbom: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
}
