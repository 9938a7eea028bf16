//! Options of the commands that change programs, or write their images elsewhere.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cargo::{Cargo, Package, Project};
use super::common::Force;

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
    /// In one sidecar, a file beside the program: PROGRAM.HASH.offload.
    #[arg(long)]
    pub(crate) sidecar: bool,
    /// In one sidecar a family of targets: PROGRAM.intel.HASH.offload and so on.
    #[arg(long)]
    pub(crate) split: bool,
    /// In the program, from its sidecars.
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
