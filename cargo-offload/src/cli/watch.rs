//! Options of the hidden command `watch-run`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct WatchRun {
    /// Process to wait for.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) parent: i32,
    /// Value of the environment variable that marks the processes to stop.
    #[arg(long, value_name = "ID")]
    pub(crate) run: String,
}
