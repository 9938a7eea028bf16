//! The options, each defined once.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Manages, shows, checks and exports the GPU device images that a Rust program carries.
#[derive(Debug, Parser)]
#[command(name = "cargo offload", bin_name = "cargo offload", version, arg_required_else_help = true)]
pub(crate) struct Options {
    /// How to print.
    #[arg(long, global = true, value_enum, default_value_t = MessageFormat::Human)]
    pub(crate) message_format: MessageFormat,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MessageFormat {
    /// Tables and sentences.
    Human,
    /// One object a line, with a field `reason`.
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write offload.toml and the setting through which build scripts find it.
    Init(Init),
    /// List or change the targets in offload.toml.
    Targets(Targets),
    /// Show or change the compression in offload.toml.
    Compression(Compression),
    /// Show the images of a program, a library or a pack, stripped or not.
    Inspect(Inspect),
    /// Decode and check every image, and find crates with kernels that were not linked.
    Verify(Verify),
    /// Write images in the containers of others.
    Export(Export),
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The workspace's root.
    #[arg(default_value = ".")]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigFile {
    /// The file to use; otherwise OFFLOAD_CONFIG, or offload.toml here or in a directory above.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
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
    /// Print the targets.
    List,
    /// Add targets.
    Add {
        /// As `spirv64` or `intel:pvc`.
        #[arg(required = true)]
        targets: Vec<String>,
    },
    /// Remove targets.
    Remove {
        /// As `targets list` prints them.
        #[arg(required = true)]
        targets: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Compression {
    #[command(flatten)]
    pub(crate) file: ConfigFile,
    /// `none`, `fast`, `balanced`, `max`, `archive`, or a level of zstd from 1 to 22; without it the setting is printed.
    pub(crate) value: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// A program, a shared library or a pack.
    pub(crate) path: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// A program, a shared library or a pack.
    pub(crate) path: PathBuf,
    /// The manifest of the package or workspace that the program was built from.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// The package that the program was built from.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) package: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// A program, a shared library or a pack.
    pub(crate) path: PathBuf,
    /// The container.
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// The kernel module; needed if there are several.
    #[arg(long, short, value_name = "NAME")]
    pub(crate) module: Option<String>,
    /// The target of the image; for SYCLBIN a SPIR-V one.
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// The release of the SYCL runtime that will read the file.
    #[arg(long, value_enum, default_value_t = SyclRuntime::Oneapi2026)]
    pub(crate) runtime: SyclRuntime,
    /// The file to write; otherwise MODULE.syclbin, or MODULE and the usual ending.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A SYCLBIN in executable state, from the module's SPIR-V.
    Syclbin,
    /// The bytes of the image.
    Raw,
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
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Options::command().debug_assert();
    }
}
