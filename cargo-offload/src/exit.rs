//! The exit codes of `cargo offload`. Their meaning never changes.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitStatus {
    /// 0: done, and everything is as it should be.
    Success,
    /// 1: done, and something is not as it should be: a damaged image, a missing crate, no images at all.
    CheckFailed,
    /// 2: the request is wrong: an unknown option, target or module.
    Usage,
    /// 3: a file cannot be read or written, or cargo cannot be asked.
    Io,
    /// 101: cargo failed, and has said why; cargo itself exits with this when a build fails.
    CargoFailed,
    /// What the program that `run` has run exited with.
    Program(u8),
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> ExitCode {
        ExitCode::from(match status {
            ExitStatus::Success => 0,
            ExitStatus::CheckFailed => 1,
            ExitStatus::Usage => 2,
            ExitStatus::Io => 3,
            ExitStatus::CargoFailed => 101,
            ExitStatus::Program(code) => code,
        })
    }
}
