//! Options that several commands have.

use std::path::PathBuf;

use clap::Args;

use crate::files::publish::Existing;

#[derive(Debug, Args)]
pub(crate) struct ConfigFile {
    /// The file to use; otherwise OFFLOAD_CONFIG, or offload.toml here or in a directory above.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Files that the user names.
#[derive(Debug, Args)]
pub(crate) struct Force {
    /// Replace a named file that exists; otherwise it is kept, which is an error unless it would be the same.
    #[arg(long)]
    force: bool,
}

impl Force {
    pub(crate) fn existing(&self) -> Existing {
        if self.force { Existing::Replaced } else { Existing::Kept }
    }
}
