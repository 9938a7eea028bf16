//! The options of the commands for a project's life: from `new` to `vendor`.

use std::path::PathBuf;

use crate::machine::toolchain::part::Part;
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::cargo::Cargo;
use super::common::{ConfigFile, Force};
use super::examples;

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The directory to make. Its last part is the package's name.
    pub(crate) path: PathBuf,
    /// Give the package this name.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Set up this version control.
    #[arg(long, value_enum, value_name = "VCS")]
    pub(crate) vcs: Option<Vcs>,
    #[command(flatten)]
    pub(crate) source: CratesSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Vcs {
    /// A git repository.
    Git,
    /// A Mercurial repository.
    Hg,
    /// A Pijul repository.
    Pijul,
    /// A Fossil repository.
    Fossil,
    /// None.
    None,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The directory of the package or workspace.
    #[arg(default_value = ".")]
    pub(crate) directory: PathBuf,
    /// Replace build.rs and the kernels of the template if they exist.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) source: CratesSource,
}

/// Where the crates come from that a package depends on.
#[derive(Debug, Args)]
pub(crate) struct CratesSource {
    /// Use the crates in this checkout of cargo-offload. Without it, those of the checkout that it was built in, or the
    /// published ones.
    #[arg(long, value_name = "DIR", conflicts_with = "published")]
    pub(crate) checkout: Option<PathBuf>,
    /// Use the published crates.
    #[arg(long)]
    pub(crate) published: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Build {
    #[command(flatten)]
    pub(crate) cargo: Cargo,
    /// More options for cargo.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) rest: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) cargo: Cargo,
    /// Arguments for the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) rest: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) file: ConfigFile,
    /// Look at these targets. Without them, those in offload.toml, or the defaults. `cuda` alone: every way to compile
    /// CUDA C++, and what it takes.
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Cache {
    #[command(subcommand)]
    pub(crate) action: CacheAction,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum CacheAction {
    /// Show where the cache is, and how large it is.
    #[command(after_help = examples::CACHE_STATS)]
    Stats,
    /// Remove entries. Builds make them again.
    #[command(after_help = examples::CACHE_CLEAN)]
    Clean {
        /// Remove only entries that nothing used for so many days.
        #[arg(long, value_name = "DAYS")]
        unused: Option<u32>,
    },
    /// Read every entry, and remove damaged ones.
    #[command(after_help = examples::CACHE_VERIFY)]
    Verify,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write one page per command into this directory. Without it, print the first page.
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) force: Force,
}

#[derive(Debug, Args)]
pub(crate) struct Toolchain {
    #[command(subcommand)]
    pub(crate) action: ToolchainAction,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ToolchainAction {
    /// Download compilers (packages of Debian and Python) into a folder of yours, where builds find them.
    #[command(after_help = examples::TOOLCHAIN_INSTALL)]
    Install {
        /// Install only these. Without one: llvm and ptxas.
        #[arg(value_enum)]
        parts: Vec<Part>,
        /// The file with versions and hashes. Without it, offload-toolchain.lock beside offload.toml.
        #[arg(long, value_name = "FILE")]
        lock: Option<PathBuf>,
        /// Take the newest versions, and write the file again. A file that is not a lock file is kept.
        #[arg(long)]
        update: bool,
    },
    /// List the parts, what each downloads, and which are installed.
    #[command(after_help = examples::TOOLCHAIN_LIST)]
    List,
    /// Remove the folder. The lock file stays, and `install` makes the same again.
    #[command(after_help = examples::TOOLCHAIN_REMOVE)]
    Remove,
    /// Show where the folder is: OFFLOAD_TOOLCHAIN, or the usual place for data.
    #[command(after_help = examples::TOOLCHAIN_PATH)]
    Path,
}
