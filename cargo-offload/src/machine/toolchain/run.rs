//! Invocations of package managers and unpackers.

#![allow(clippy::disallowed_methods, reason = "reads the environment and starts processes")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use offload_protocol::variable;

use crate::error::{Error, IoContext, Result};

/// The architecture of this machine's packages.
pub(super) const ARCH: &str = std::env::consts::ARCH;

/// Runs `program` of `PATH` in `directory`; what it prints on standard output.
///
/// # Errors
/// It is not installed, or fails; the error contains its standard error.
pub(super) fn output<T: AsRef<OsStr>>(program: &str, args: &[T], directory: &Path) -> Result<String> {
    let path = which(program).ok_or_else(|| {
        Error::usage(format!("{program} is not installed")).hint(format!("install {program}"))
    })?;
    let run = Command::new(&path).args(args).current_dir(directory).env(variable::LC_ALL, "C").output();
    let run = run.io_context("run", &path)?;
    if run.status.success() {
        return Ok(String::from_utf8_lossy(&run.stdout).into_owned());
    }
    let words: Vec<String> = args.iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
    let stderr = String::from_utf8_lossy(&run.stderr);
    Err(Error::check(format!("{}\n{} ({} {})", stderr.trim(), run.status, program, words.join(" "))))
}

/// The program in an absolute directory of `PATH`.
pub(crate) fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable::PATH).unwrap_or_default();
    let dirs = std::env::split_paths(&path).filter(|dir| dir.is_absolute()).collect::<Vec<_>>();
    dirs.into_iter().map(|dir| dir.join(program)).find(|file| file.is_file())
}
