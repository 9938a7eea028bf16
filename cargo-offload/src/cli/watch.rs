//! The options of the process beside a run.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct WatchRun {
    /// The process that is watched.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) parent: i32,
    /// What its processes have in their environment.
    #[arg(long, value_name = "ID")]
    pub(crate) run: String,
}
