//! Options of the commands that create, build and set up projects.

use std::path::PathBuf;

use crate::machine::toolchain::part::ToolchainPart;
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::cargo::Cargo;
use super::common::{ConfigFile, Force};
use super::examples;

#[derive(Debug, Args)]
pub(crate) struct New {
    /// Directory to create. Its name is the name of the package.
    pub(crate) path: PathBuf,
    /// Set the package name [default: the directory name].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Initialize a repository for this version control system.
    #[arg(long, value_enum, value_name = "VCS")]
    pub(crate) vcs: Option<Vcs>,
    #[command(flatten)]
    pub(crate) source: CratesSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Vcs {
    /// Git.
    Git,
    /// Mercurial.
    Hg,
    /// Pijul.
    Pijul,
    /// Fossil.
    Fossil,
    /// No repository.
    None,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Directory of the package or workspace.
    #[arg(default_value = ".")]
    pub(crate) directory: PathBuf,
    /// Overwrite an existing build.rs and the kernels of the template.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) source: CratesSource,
}

/// Source of the crates that a package depends on.
#[derive(Debug, Args)]
pub(crate) struct CratesSource {
    /// Depend on the crates in this checkout of cargo-offload.
    ///
    /// The default is the checkout that cargo-offload was built in, if it exists, and otherwise crates.io.
    #[arg(long, value_name = "DIR", conflicts_with = "published")]
    pub(crate) checkout: Option<PathBuf>,
    /// Depend on the crates of crates.io.
    #[arg(long)]
    pub(crate) published: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Build {
    #[command(flatten)]
    pub(crate) cargo: Cargo,
    /// Further options for cargo.
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
    /// Targets to check [default: those in offload.toml].
    ///
    /// `cuda` alone lists the compilers for CUDA C++, and what each requires.
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
    /// Show the cache directory and its size.
    #[command(after_help = examples::CACHE_STATS)]
    Stats,
    /// Remove cache entries.
    ///
    /// Later builds compile the kernels again.
    #[command(after_help = examples::CACHE_CLEAN)]
    Clean {
        /// Remove only entries that were not used for this many days.
        #[arg(long, value_name = "DAYS")]
        unused: Option<u32>,
    },
    /// Check every entry, and remove damaged ones.
    #[command(after_help = examples::CACHE_VERIFY)]
    Verify,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to generate the script for.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write one page per command to this directory.
    ///
    /// If omitted, prints the page of `cargo offload` itself.
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
    /// Download compilers to the user's toolchain directory, where builds find them.
    ///
    /// The compilers are Debian and Python packages, pinned by hash in a lock file.
    #[command(after_help = examples::TOOLCHAIN_INSTALL)]
    Install {
        /// Parts to install [default: llvm and ptxas].
        #[arg(value_enum)]
        parts: Vec<ToolchainPart>,
        /// Lock file with versions and hashes [default: offload-toolchain.lock in the directory of offload.toml].
        #[arg(long, value_name = "FILE")]
        lock: Option<PathBuf>,
        /// Install the newest versions, and update the lock file.
        #[arg(long)]
        update: bool,
    },
    /// List available and installed parts, and their download sizes.
    #[command(after_help = examples::TOOLCHAIN_LIST)]
    List,
    /// Remove the toolchain directory.
    ///
    /// The lock file stays, and `install` restores the same versions.
    #[command(after_help = examples::TOOLCHAIN_REMOVE)]
    Remove,
    /// Print the toolchain directory.
    ///
    /// It is OFFLOAD_TOOLCHAIN, or a directory in the user's data directory.
    #[command(after_help = examples::TOOLCHAIN_PATH)]
    Path,
}
