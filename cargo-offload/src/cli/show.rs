//! The options of the commands that show what a file carries.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cargo::Cargo;
use super::matrix::Axis;

/// Which images are meant.
#[derive(Debug, Args)]
pub(crate) struct Select {
    /// Only images for these targets, as `spirv64`, `intel:*` or `all-amd`.
    #[arg(id = "for", long = "for", value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    pub(crate) target: Vec<String>,
    /// Only images of these modules; `*` stands for anything. In containers of other tool chains `inspect` tells the
    /// names.
    #[arg(long, short, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub(crate) module: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// A program, a shared library, a pack, or a file or container of another tool chain with device images; otherwise the
    /// package is built.
    pub(crate) path: Option<PathBuf>,
    /// Show the kernels too. Images of other tool chains are decoded for it.
    #[arg(long)]
    pub(crate) kernels: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Extract {
    /// A program, a shared library, a pack, or a file or container of another tool chain with device images; otherwise the
    /// package is built.
    pub(crate) path: Option<PathBuf>,
    /// The directory to write to, which is made; otherwise FILE.images here.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write frames and foreign containers as they are stored, without decoding them.
    #[arg(long)]
    pub(crate) stored: bool,
    /// Replace files that exist.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Size {
    /// A program, a shared library, a pack, or a file or container of another tool chain with device images; otherwise the
    /// package is built.
    pub(crate) path: Option<PathBuf>,
    /// Show what changed since this file: a number is that of PATH less that of OTHER.
    #[arg(long, value_name = "OTHER", conflicts_with = "alone")]
    pub(crate) compare: Option<PathBuf>,
    /// Compress every image alone as well, as strongly as a release build does, to tell what sharing saves. This takes
    /// about a second for each MiB.
    #[arg(long)]
    pub(crate) alone: bool,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A program, a shared library, a pack, or a file or container of another tool chain with device images; otherwise the
    /// package is built.
    pub(crate) path: Option<PathBuf>,
    /// A file of numbers that the kernels must not exceed; it belongs under version control.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the baseline anew. A file that is none is kept.
    #[arg(long, requires = "baseline")]
    pub(crate) update_baseline: bool,
    /// Fail also if a kernel got better than the baseline says, so that the baseline follows.
    #[arg(long, requires = "baseline", conflicts_with = "update_baseline")]
    pub(crate) exact: bool,
    /// How to print for people.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
    /// Show the numbers of other builds of the same kernels side by side, as those of another compiler. A
    /// baseline is that of PATH alone.
    #[arg(long, value_name = "LABEL=FILE")]
    pub(crate) beside: Vec<String>,
    /// Build the package with each of several compilers, and show the numbers side by side, as `clang=clang-19,clang-22`
    /// or `ptxas=/usr/local/cuda-12/bin/ptxas,/usr/local/cuda-13/bin/ptxas`; several tools make every combination. The builds
    /// lie in `offload-matrix` in the target directory. `--beside`, `--html` and `--format` go with it, a baseline does not.
    #[arg(long, value_name = "TOOL=PROGRAM,..")]
    pub(crate) matrix: Vec<Axis>,
    /// Write a page for a browser: one file that needs no other. A file that is no such page is kept.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Aligned columns.
    Table,
    /// For a comment on a change: what is worse and better than the baseline, then everything, folded.
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct Devices {
    /// Tell which image of this file each device would get, and why; any file that `inspect` reads. Otherwise of what the
    /// package's build makes, if it has kernels.
    pub(crate) path: Option<PathBuf>,
    /// List every target whose images fit, not one line for each family.
    #[arg(long)]
    pub(crate) all_targets: bool,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Asm {
    /// A program, a shared library, a pack, or a file or container of another tool chain with device images; otherwise the
    /// package is built.
    pub(crate) path: Option<PathBuf>,
    /// The kernel; without it a file with one image is shown whole, and of others the kernels are listed. It may stand
    /// alone, if no file is called so.
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}
