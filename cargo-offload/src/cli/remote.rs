//! Options of `remote-server`, the client of remote caches and workers that build scripts start.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct RemoteServer {
    /// The socket on which to listen. Its directory belongs to the user alone.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: PathBuf,
    /// The table `remote` of offload.toml as text, with absolute paths.
    #[arg(long, value_name = "TOML")]
    pub(crate) settings: String,
}
