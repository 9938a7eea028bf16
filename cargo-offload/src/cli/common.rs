//! Options that several commands have.

use std::path::PathBuf;

use clap::Args;

use crate::files::publish::Existing;
use crate::read::input::Search;

/// Above the options that say which images are meant, and where they are looked for.
pub(super) const IMAGES: &str = "Which images";
/// Above those that say what is written, and where.
pub(super) const OUTPUT: &str = "Output";

#[derive(Debug, Args)]
pub(crate) struct ConfigFile {
    /// Use this file. Without it, the one that OFFLOAD_CONFIG names, or the nearest offload.toml, here or further up in
    /// the workspace.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// How far to look for images.
#[derive(Debug, Args)]
#[command(next_help_heading = IMAGES)]
pub(crate) struct Deep {
    /// Search all bytes of the file for containers and images, not only the places where tool chains put them.
    #[arg(long)]
    deep: bool,
}

impl Deep {
    pub(crate) fn search(&self) -> Search {
        if self.deep { Search::Deep } else { Search::Known }
    }
}

/// Files that the user names.
#[derive(Debug, Args)]
#[command(next_help_heading = OUTPUT)]
pub(crate) struct Force {
    /// Replace an existing file. Without it, a different existing file is an error.
    #[arg(long)]
    force: bool,
}

impl Force {
    pub(crate) fn existing(&self) -> Existing {
        if self.force { Existing::Replaced } else { Existing::Kept }
    }
}
