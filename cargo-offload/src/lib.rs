//! The cargo subcommand `cargo offload`: builds programs with GPU kernels, and inspects, checks and exports their device
//! images.
//!
//! [`run`] is the whole program. Each command is a file under `commands`; each prints for people, or, with
//! `--message-format json`, one JSON object a line with a field `reason`.
#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod cargo;
mod change;
mod cli;
mod commands;
mod error;
mod files;
mod machine;
mod print;
#[cfg(target_os = "linux")]
mod processes;
mod read;
mod settings;
mod threads;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;

pub use crate::error::ExitStatus;
use crate::print::output::Output;

/// Runs the command in `args`, as cargo passes them (with `offload` as the second) or without.
///
/// ```
/// let args = ["cargo-offload", "offload", "--version"].map(Into::into);
/// assert_eq!(cargo_offload::run(args), std::process::ExitCode::SUCCESS);
/// ```
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if args.get(1).is_some_and(|arg| arg == "offload") {
        args.remove(1);
    }
    let matches = cli::command().try_get_matches_from(args);
    let options = match matches.and_then(|matches| cli::Options::from_arg_matches(&matches)) {
        Ok(options) => options,
        Err(error) => return usage(&error),
    };
    let output = Output::new(&options);
    match commands::run(&output, &options.command) {
        Ok(status) => status.into(),
        Err(error) => {
            output.error(&error);
            error.status().into()
        }
    }
}

/// Prints a usage error, the help or the version: clap returns all three as an error.
fn usage(error: &clap::Error) -> ExitCode {
    let status = if error.use_stderr() { ExitStatus::Usage } else { ExitStatus::Success };
    // Nothing can be reported if the terminal is gone.
    let _ = error.print();
    status.into()
}
