//! `remote-server`: the client daemon of remote caches and workers.

use std::time::Duration;

use offload_remote::{ServeOptions, Settings, serve};

use crate::cli;
use crate::error::{Error, ExitStatus, Result};

/// Cargo runs build scripts in succession; after a longer pause the next one starts another daemon.
const IDLE: Duration = Duration::from_secs(10);

pub(super) fn run(args: &cli::RemoteServer) -> Result<ExitStatus> {
    let settings = Settings::parse(&args.settings).map_err(Error::from_remote)?;
    let options = ServeOptions { socket: args.socket.clone(), settings, idle: IDLE };
    serve(&options).map_err(Error::from_remote)?;
    Ok(ExitStatus::Success)
}
