//! Options that several commands share.

use std::path::PathBuf;

use clap::Args;

use crate::files::publish::Existing;
use crate::read::input::Search;

/// Heading of the options that select images.
pub(super) const IMAGES: &str = "Image selection";
/// Heading of the options for output files.
pub(super) const OUTPUT: &str = "Output";

#[derive(Debug, Args)]
pub(crate) struct ConfigFile {
    /// Path to offload.toml.
    ///
    /// The default is the file that OFFLOAD_CONFIG names, then the nearest offload.toml in this directory and its parents
    /// within the workspace.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Extent of the search for images in a file.
#[derive(Debug, Args)]
#[command(next_help_heading = IMAGES)]
pub(crate) struct Deep {
    /// Scan the whole file for containers and images, not only the sections where toolchains put them.
    #[arg(long)]
    deep: bool,
}

impl Deep {
    pub(crate) fn search(&self) -> Search {
        if self.deep { Search::Deep } else { Search::Known }
    }
}

/// Treatment of existing files.
#[derive(Debug, Args)]
#[command(next_help_heading = OUTPUT)]
pub(crate) struct Force {
    /// Overwrite an existing file that differs.
    #[arg(long)]
    force: bool,
}

impl Force {
    pub(crate) fn existing(&self) -> Existing {
        if self.force { Existing::Replaced } else { Existing::Kept }
    }
}
