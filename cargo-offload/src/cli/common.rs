//! Options that several commands have.

use std::path::PathBuf;

use clap::Args;

use crate::files::publish::Existing;

#[derive(Debug, Args)]
pub(crate) struct ConfigFile {
    /// Use this file. Without it, the one that OFFLOAD_CONFIG names, or the nearest offload.toml, here or further up in
    /// the workspace.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Files that the user names.
#[derive(Debug, Args)]
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
