//! The options of what build scripts start: the process that reaches other machines, and what they run.

use std::path::PathBuf;

use clap::Args;
use offload_format::Hash128;

#[derive(Debug, Args)]
pub(crate) struct RemoteServer {
    /// The socket on which to listen. Its directory belongs to the user alone.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: PathBuf,
    /// The table `remote` of offload.toml as text, with absolute paths.
    #[arg(long, value_name = "TOML")]
    pub(crate) settings: String,
}

/// Numbers of codecs and filters are those of packs.
#[derive(Debug, Args)]
pub(crate) struct PackFrame {
    /// Where to write the frame.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The compressor that is asked for; another one would make other bytes.
    #[arg(long, value_name = "HASH")]
    pub(crate) compressor: Hash128,
    /// How the frame holds its content.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) codec: u16,
    /// The level of zstd.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i32).range(1..=22))]
    pub(crate) level: i32,
    /// What each image goes through before.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) filter: u16,
    /// What each image of the parent goes through before.
    #[arg(long, value_name = "NUMBER", requires = "parents")]
    pub(crate) parent_filter: Option<u16>,
    /// How many files, from the last one on, are the parent.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) parents: usize,
    /// The images, one after the other.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}
