//! Options of the commands that inspect a file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cargo::Cargo;
use super::common::{Deep, IMAGES, OUTPUT};
use super::matrix::Axis;

/// Selection of images by target and module.
#[derive(Debug, Args)]
#[command(next_help_heading = IMAGES)]
pub(crate) struct Select {
    /// Select images for these targets, such as `spirv64`, `intel:*` or `all-amd`.
    #[arg(id = "for", long = "for", value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    pub(crate) target: Vec<String>,
    /// Select images of modules that match a glob. `inspect` lists the modules of a file.
    #[arg(long, short, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub(crate) module: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Program, library, pack, another toolchain's container, or an archive of these. If omitted, the package is built.
    pub(crate) path: Option<PathBuf>,
    /// List the kernels of each image, which decodes other toolchains' images.
    #[arg(long)]
    pub(crate) kernels: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) deep: Deep,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Extract {
    /// Program, library, pack, another toolchain's container, or an archive of these. If omitted, the package is built.
    pub(crate) path: Option<PathBuf>,
    /// Write to this directory [default: FILE.images].
    #[arg(long, short, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
    /// Write compressed frames and containers as stored, without decoding.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stored: bool,
    /// Overwrite existing files.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) deep: Deep,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Size {
    /// Program, library, pack, another toolchain's container, or an archive of these. If omitted, the package is built.
    pub(crate) path: Option<PathBuf>,
    /// Show the difference to another file: PATH minus OTHER.
    #[arg(long, value_name = "OTHER", conflicts_with = "alone")]
    pub(crate) compare: Option<PathBuf>,
    /// Measure what deduplication saves, by compressing each image alone.
    ///
    /// This takes about a second per MiB.
    #[arg(long)]
    pub(crate) alone: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) deep: Deep,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Program, library, pack, another toolchain's container, or an archive of these. If omitted, the package is built.
    pub(crate) path: Option<PathBuf>,
    /// Fail if a number is worse than in this file.
    ///
    /// Keep the file under version control.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Update the baseline.
    #[arg(long, requires = "baseline")]
    pub(crate) update_baseline: bool,
    /// Fail on any difference from the baseline, improvements included.
    #[arg(long, requires = "baseline", conflicts_with = "update_baseline")]
    pub(crate) exact: bool,
    /// Table format.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table, help_heading = OUTPUT)]
    pub(crate) format: ReportFormat,
    /// Compare with another build of the same kernels. A baseline applies to PATH only.
    #[arg(long, value_name = "LABEL=FILE")]
    pub(crate) beside: Vec<String>,
    /// Build with several compilers and compare them: `clang=clang-19,clang-22`.
    ///
    /// Programs are names in PATH or paths, as in `ptxas=/usr/local/cuda-12/bin/ptxas,/usr/local/cuda-13/bin/ptxas`. Several
    /// tools are combined. Builds go to `offload-matrix` in the target directory. Works with `--beside`, `--html` and
    /// `--format`, but not with a baseline.
    #[arg(long, value_name = "TOOL=PROGRAM,..")]
    pub(crate) matrix: Vec<Axis>,
    /// Write a self-contained HTML page.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Aligned columns for a terminal.
    Table,
    /// Markdown for a review comment: changes first, then the whole table, folded.
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct Devices {
    /// File that the images come from, of any type that `inspect` reads. If omitted, a package with kernels is built.
    pub(crate) path: Option<PathBuf>,
    /// List every compatible target instead of one line per family.
    #[arg(long)]
    pub(crate) all_targets: bool,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Asm {
    /// Program, library, pack, or another toolchain's container. If omitted, the package is built.
    pub(crate) path: Option<PathBuf>,
    /// Kernel to disassemble.
    ///
    /// If omitted, a file with a single image is shown whole, and the kernels of other files are listed. A single argument
    /// that is not the name of a file is a kernel.
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}
