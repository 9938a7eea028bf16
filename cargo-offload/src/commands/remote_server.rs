//! `remote-server`: the process that asks other machines for build scripts.

use std::time::Duration;

use offload_remote::{Options, Settings, serve};

use crate::cli;
use crate::error::{Error, ExitStatus, Result};

/// Cargo starts one build script after another; where it pauses for longer, the next one starts another server.
const IDLE: Duration = Duration::from_secs(10);

pub(super) fn run(args: &cli::RemoteServer) -> Result<ExitStatus> {
    let settings = Settings::parse(&args.settings).map_err(Error::from_remote)?;
    let options = Options { socket: args.socket.clone(), settings, idle: IDLE };
    serve(&options).map_err(Error::from_remote)?;
    Ok(ExitStatus::Success)
}
