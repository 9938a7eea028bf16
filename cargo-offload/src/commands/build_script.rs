//! `build-script`: kernels for a build script that has no compiler.

use std::io::{self, Write};

use crate::error::{Error, ExitStatus, Result};

/// Reads the request from standard input. The environment is that of the build script, for which lines to cargo go to
/// standard output, and an error to standard error.
pub(super) fn run() -> Result<ExitStatus> {
    let request = io::read_to_string(io::stdin())
        .map_err(|error| Error::usage(format!("cannot read the request of a build script: {error}")))?;
    match offload_build::shared::run_received(&request) {
        Ok(()) => Ok(ExitStatus::Success),
        Err(error) => {
            // Where it cannot be written, the exit code says that there is one.
            let _ = writeln!(io::stderr(), "{}", error.to_reply());
            Ok(ExitStatus::CheckFailed)
        }
    }
}
