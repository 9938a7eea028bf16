//! Requests that an installed `cargo-offload` carries out.

#![allow(clippy::disallowed_methods, reason = "starts cargo-offload")]

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, ExitStatus, Output, Stdio};

use crate::error::{Error, Result};
use crate::report;
use crate::request::Request;
use crate::variable;

/// Has `cargo-offload` carry out `request` in the environment of this build script. What it prints for cargo goes to
/// the standard output of this process.
pub(crate) fn run(request: Request<'_>) -> Result<()> {
    let text = request.to_toml()?;
    let program = std::env::var_os(variable::CARGO_OFFLOAD).filter(|path| !path.is_empty());
    let program = program.unwrap_or_else(|| OsString::from("cargo-offload"));
    let mut command = Command::new(&program);
    command.args(["offload", "build-script"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    if let Ok(script) = std::env::current_exe() {
        command.env(variable::BUILD_SCRIPT, script);
    }
    if let Some(directory) = report::cargo_directory() {
        command.env(variable::CARGO_DIRECTORY, directory);
    }
    let output = exchange(&mut command, &text).map_err(|error| cannot_run(&program, &error))?;
    if output.status.success() {
        report::note_sent();
        // What tools have left there.
        let _ = io::stderr().write_all(&output.stderr);
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(Error::from_reply(&stderr).unwrap_or_else(|| failed(&program, output.status, &stderr)))
}

fn exchange(command: &mut Command, text: &str) -> io::Result<Output> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that exits before it has read everything says why.
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait_with_output()
}

fn cannot_run(program: &OsString, error: &io::Error) -> Error {
    let program = program.to_string_lossy();
    let version = env!("CARGO_PKG_VERSION");
    if error.kind() != io::ErrorKind::NotFound {
        return Error::new(format!("cannot run `{program}`: {error}"));
    }
    let message = format!(
        "`{program}` is not installed, and offload-build has no compiler without its feature `compiler`"
    );
    Error::missing_tool(message).with_hint(format!(
        "cargo install cargo-offload@{version} --locked, or enable the feature, as default features do"
    ))
}

fn failed(program: &OsString, status: ExitStatus, stderr: &str) -> Error {
    let program = program.to_string_lossy();
    let version = env!("CARGO_PKG_VERSION");
    Error::new(format!("`{program} offload build-script` failed ({status}): {}", stderr.trim())).with_hint(
        format!(
            "its version has to be that of offload-build: cargo install cargo-offload@{version} --locked"
        ),
    )
}
