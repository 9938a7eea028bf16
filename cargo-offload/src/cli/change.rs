//! Options of the commands that rewrite programs or export images.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cargo::{Cargo, Package, Project};
use super::common::{Force, IMAGES, OUTPUT};

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Prune {
    /// Program, library or pack. If omitted, the package is built.
    pub(crate) path: Option<PathBuf>,
    /// Keep only images for these targets, such as `spirv64`, `intel:*` or `all-amd`.
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',', group = "which")]
    pub(crate) keep: Vec<String>,
    /// Remove images for these targets.
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
    /// Program or library; with `--compression` or `--merge` also a pack. If omitted, the package is built.
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: Form,
    /// Recompress the images: `none`, `fast`, `balanced`, `max`, `archive`, or a zstd level from 1 to 22.
    ///
    /// A program needs the feature `archive` of `offload-rt` to read `archive`.
    #[arg(long, value_name = "VALUE")]
    pub(crate) compression: Option<String>,
    /// Merge the packs of all crates, which deduplicates their images.
    #[arg(long, conflicts_with = "unmerge")]
    pub(crate) merge: bool,
    /// Store one pack per crate again, as the build does.
    #[arg(long)]
    pub(crate) unmerge: bool,
    #[command(flatten)]
    pub(crate) destination: Destination,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

/// Storage of images. Without an option, they stay where they are.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Form {
    /// Move the images to one sidecar file, PROGRAM.HASH.offload.
    #[arg(long)]
    pub(crate) sidecar: bool,
    /// Move the images to one sidecar file per target family, such as PROGRAM.intel.HASH.offload.
    #[arg(long)]
    pub(crate) split: bool,
    /// Move the images back into the program.
    #[arg(long)]
    pub(crate) embed: bool,
}

/// Destination of a rewritten program.
#[derive(Debug, Args)]
#[command(next_help_heading = OUTPUT)]
#[group(required = true, multiple = false)]
pub(crate) struct Destination {
    /// Write to a new file, which must not exist.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file itself.
    #[arg(long)]
    pub(crate) in_place: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Programs, libraries, packs, or other toolchains' containers. If omitted, the package is built.
    ///
    /// The images of several files become one module: `a.co` and `b.co` make one bundle.
    pub(crate) path: Vec<PathBuf>,
    /// Container format to write.
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// Export only this kernel module; required if the file has several. A SYCLBIN can hold several.
    #[arg(long, short, value_name = "NAME", help_heading = IMAGES)]
    pub(crate) module: Vec<String>,
    /// Export only images for these targets.
    ///
    /// A SYCLBIN holds the SPIR-V and one image per GPU architecture. Other containers default to all images that fit.
    #[arg(long, value_name = "TARGET", help_heading = IMAGES)]
    pub(crate) target: Vec<String>,
    /// State of a SYCLBIN's kernel bundle.
    #[arg(long, value_enum, default_value_t = SyclState::Executable)]
    pub(crate) state: SyclState,
    /// SYCL runtime that loads the SYCLBIN.
    #[arg(long, value_enum, default_value_t = SyclRuntime::Oneapi2026)]
    pub(crate) runtime: SyclRuntime,
    /// Format version of a compressed bundle.
    #[arg(long, value_enum, default_value_t = BundleVersion::V2)]
    pub(crate) bundle_version: BundleVersion,
    /// Write to this file [default: MODULE with the extension of the format].
    #[arg(long, short, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) package: Package,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// SYCLBIN of the module's SPIR-V and native images.
    Syclbin,
    /// Clang offload bundle of the module's AMD images, for HIP.
    Bundle,
    /// Compressed clang offload bundle.
    Ccob,
    /// CUDA fatbin of the module's cubins and PTX.
    Fatbin,
    /// ocloc archive of the module's Intel images, with SPIR-V for other devices.
    OclocAr,
    /// LLVM OffloadBinary.
    OffloadBinary,
    /// Bytes of a single image.
    Raw,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BundleVersion {
    /// Read by LLVM 19 and later; up to 4 GiB.
    #[value(name = "2")]
    V2,
    /// Read by LLVM 22 and later.
    #[value(name = "3")]
    V3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyclState {
    /// Can be compiled and linked.
    Input,
    /// Can be linked with other modules.
    Object,
    /// Can be launched.
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
    /// Compile for these targets [default: those in offload.toml].
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Recompile, and compare with the vendored images without writing.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Write a software bill of materials for the kernels (CycloneDX 1.6, JSON).
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) sbom: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) project: Project,
}
