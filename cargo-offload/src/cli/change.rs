//! Options of the commands that change programs, or write their images elsewhere.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cargo::{Cargo, Package, Project};
use super::common::{Force, IMAGES, OUTPUT};

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Prune {
    /// The file: a program, library or pack. Without it, build the package.
    pub(crate) path: Option<PathBuf>,
    /// Keep images for these targets, such as `spirv64`, `intel:*` or `all-amd`, and remove the others.
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',', group = "which")]
    pub(crate) keep: Vec<String>,
    /// Remove images for these targets, and keep the others.
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
    /// The file: a program or library; with `--compression` or `--merge` also a pack. Without it, build the package.
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: Form,
    /// Compress the images again: `none`, `fast`, `balanced`, `max`, a zstd level from 1 to 22, or `archive`. A program needs
    /// the feature `archive` of `offload-rt` to read the last one.
    #[arg(long, value_name = "VALUE")]
    pub(crate) compression: Option<String>,
    /// Let the images of all crates share bytes.
    #[arg(long, conflicts_with = "unmerge")]
    pub(crate) merge: bool,
    /// Store the images of each crate apart, as its build did.
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
    /// Move the images to one file beside the program: PROGRAM.HASH.offload.
    #[arg(long)]
    pub(crate) sidecar: bool,
    /// Move the images to one file per family of targets: PROGRAM.intel.HASH.offload and so on.
    #[arg(long)]
    pub(crate) split: bool,
    /// Move the images back into the program.
    #[arg(long)]
    pub(crate) embed: bool,
}

/// Where a changed program goes.
#[derive(Debug, Args)]
#[command(next_help_heading = OUTPUT)]
#[group(required = true, multiple = false)]
pub(crate) struct Destination {
    /// Write this file, which must not exist.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Change the file itself.
    #[arg(long)]
    pub(crate) in_place: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The file: a program, library, pack, or a container of another tool chain. Without it, build the package. The images of
    /// several files become one module, as those of `a.co` and `b.co` a bundle.
    pub(crate) path: Vec<PathBuf>,
    /// The container to write.
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// The kernel module; needed if the file has several. A SYCLBIN can hold several.
    #[arg(long, short, value_name = "NAME", help_heading = IMAGES)]
    pub(crate) module: Vec<String>,
    /// Export only images for these targets. A SYCLBIN can hold one for each kind of GPU, and the SPIR-V. The other
    /// containers get all images that fit.
    #[arg(long, value_name = "TARGET", help_heading = IMAGES)]
    pub(crate) target: Vec<String>,
    /// The state of a SYCLBIN: what a program can do with it.
    #[arg(long, value_enum, default_value_t = SyclState::Executable)]
    pub(crate) state: SyclState,
    /// The SYCL runtime that will read the file.
    #[arg(long, value_enum, default_value_t = SyclRuntime::Oneapi2026)]
    pub(crate) runtime: SyclRuntime,
    /// The version of a compressed bundle.
    #[arg(long, value_enum, default_value_t = BundleVersion::V2)]
    pub(crate) bundle_version: BundleVersion,
    /// Write this file. Without it, MODULE.syclbin, or MODULE with the usual ending.
    #[arg(long, short, value_name = "FILE", help_heading = OUTPUT)]
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
    /// An ocloc archive: the module's Intel images, and its SPIR-V for other devices.
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
    /// It can be compiled and linked.
    Input,
    /// It can be linked with other modules.
    Object,
    /// It can be launched.
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
    /// Compile for these targets instead of those in offload.toml.
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Compile, and compare with the images that are there. Write nothing.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Also write a bill of materials for the kernels (CycloneDX 1.6, JSON).
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) sbom: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) project: Project,
}
