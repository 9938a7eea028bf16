//! The options of the commands that show what a file carries.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cargo::Cargo;
use super::common::{Deep, IMAGES, OUTPUT};
use super::matrix::Axis;

/// Which images are meant.
#[derive(Debug, Args)]
#[command(next_help_heading = IMAGES)]
pub(crate) struct Select {
    /// Only images for these targets, such as `spirv64`, `intel:*` or `all-amd`.
    #[arg(id = "for", long = "for", value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    pub(crate) target: Vec<String>,
    /// Only images of these modules; `*` stands for anything. For other tool chains, `inspect` shows the names.
    #[arg(long, short, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub(crate) module: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// The file: a program, library, pack, container of another tool chain, or an archive of such files. Without it, build
    /// the package.
    pub(crate) path: Option<PathBuf>,
    /// Show the kernels too. This decodes images of other tool chains.
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
    /// The file: a program, library, pack, container of another tool chain, or an archive of such files. Without it, build
    /// the package.
    pub(crate) path: Option<PathBuf>,
    /// Write to this directory. Without it, FILE.images here.
    #[arg(long, short, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
    /// Write frames and containers as they are stored, not decoded.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stored: bool,
    /// Replace existing files.
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
    /// The file: a program, library, pack, container of another tool chain, or an archive of such files. Without it, build
    /// the package.
    pub(crate) path: Option<PathBuf>,
    /// Show the difference to this file: PATH minus OTHER.
    #[arg(long, value_name = "OTHER", conflicts_with = "alone")]
    pub(crate) compare: Option<PathBuf>,
    /// Also compress every image alone, as a release build would, to show what sharing saves. This takes about a second
    /// per MiB.
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
    /// The file: a program, library, pack, container of another tool chain, or an archive of such files. Without it, build
    /// the package.
    pub(crate) path: Option<PathBuf>,
    /// Fail if a number is worse than in this file. Keep the file under version control.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the baseline again. A file that is no baseline is kept.
    #[arg(long, requires = "baseline")]
    pub(crate) update_baseline: bool,
    /// Also fail if a number is better, so that somebody updates the baseline.
    #[arg(long, requires = "baseline", conflicts_with = "update_baseline")]
    pub(crate) exact: bool,
    /// Choose the form of the table.
    #[arg(long, value_enum, default_value_t = ReportFormat::Table, help_heading = OUTPUT)]
    pub(crate) format: ReportFormat,
    /// Show another build of the same kernels side by side. A baseline applies to PATH only.
    #[arg(long, value_name = "LABEL=FILE")]
    pub(crate) beside: Vec<String>,
    /// Build with several compilers, and show the numbers side by side: `clang=clang-19,clang-22` or
    /// `ptxas=/usr/local/cuda-12/bin/ptxas,/usr/local/cuda-13/bin/ptxas`. Several tools give every combination. The builds go
    /// to `offload-matrix` in the target directory. You can add `--beside`, `--html` and `--format`, but no baseline.
    #[arg(long, value_name = "TOOL=PROGRAM,..")]
    pub(crate) matrix: Vec<Axis>,
    /// Write a page for a browser, complete in one file. A file that is no such page is kept.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
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
    /// For a comment in a review: first what got worse or better, then everything, folded.
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct Devices {
    /// The file whose images to choose from: any that `inspect` reads. Without it, build the package, if it has kernels.
    pub(crate) path: Option<PathBuf>,
    /// List every target whose images fit, not one line per family.
    #[arg(long)]
    pub(crate) all_targets: bool,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}

#[derive(Debug, Args)]
pub(crate) struct Asm {
    /// The file: a program, library, pack, or a container of another tool chain. Without it, build the package.
    pub(crate) path: Option<PathBuf>,
    /// The kernel. Without it, show a file with one image whole, and list the kernels of other files. A kernel can stand
    /// without a file, unless a file has its name.
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) select: Select,
    #[command(flatten)]
    pub(crate) cargo: Cargo,
}
