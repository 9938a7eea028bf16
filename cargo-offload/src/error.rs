//! Results of commands: exit codes, whose meaning never changes, and errors.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitStatus {
    /// 0: done, and everything is as it should be.
    Success,
    /// 1: done, and something is not as it should be: a damaged image, a missing crate, no images at all, a failed test.
    CheckFailed,
    /// 2: the request is wrong: an unknown option, target or module.
    Usage,
    /// 3: a file cannot be read or written, or cargo cannot be asked.
    Io,
    /// 101: cargo failed, and has printed the reason; cargo itself exits with this when a build fails.
    CargoFailed,
    /// Exit code of the program that `run` started.
    Program(u8),
}

impl ExitStatus {
    /// `other`, if this one is a success.
    pub(crate) fn worse(self, other: ExitStatus) -> ExitStatus {
        if self == ExitStatus::Success { other } else { self }
    }
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

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// An error for people: what was asked, what is wrong, and on a line `hint:` what to do.
#[derive(Clone, Debug)]
pub(crate) struct Error {
    message: String,
    hint: Option<String>,
    status: ExitStatus,
}

impl Error {
    /// The request is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Error {
        Error { message: message.into(), hint: None, status: ExitStatus::Usage }
    }

    /// The file is not as it should be.
    pub(crate) fn check(message: impl Into<String>) -> Error {
        Error { message: message.into(), hint: None, status: ExitStatus::CheckFailed }
    }

    /// Cargo failed, and has printed the reason.
    pub(crate) fn cargo(message: impl Into<String>) -> Error {
        Error { message: message.into(), hint: None, status: ExitStatus::CargoFailed }
    }

    /// offload-build could not do what was asked.
    pub(crate) fn from_build(error: offload_build::Error) -> Error {
        Error { hint: error.hint().map(str::to_string), ..Error::usage(error.message()) }
    }

    /// offload-remote could not do what was asked.
    #[cfg(all(feature = "remote", unix))]
    pub(crate) fn from_remote(error: offload_remote::Error) -> Error {
        Error { hint: error.hint_text().map(str::to_string), ..Error::usage(error.message()) }
    }

    /// This program reaches no other machines.
    #[cfg(not(all(feature = "remote", unix)))]
    pub(crate) fn without_remote() -> Error {
        Error::usage("this cargo-offload was built without the feature `remote`")
            .hint("`cargo install cargo-offload --features remote`")
    }

    pub(crate) fn io(action: &str, path: &Path, error: &io::Error) -> Error {
        Error {
            message: format!("cannot {action} `{}`: {error}", path.display()),
            hint: None,
            status: ExitStatus::Io,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// The same, of what `context` names.
    pub(crate) fn context(self, context: &str) -> Error {
        Error { message: format!("{context}: {}", self.message), ..self }
    }

    /// As a file, or an image, that is not as it should be.
    pub(crate) fn failed_check(self) -> Error {
        Error { status: ExitStatus::CheckFailed, ..self }
    }

    /// The message, without the hint.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The hint, if there is one.
    pub(crate) fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn status(&self) -> ExitStatus {
        self.status
    }
}

/// Context of an I/O error: the action that failed, and its path.
pub(crate) trait IoContext<T> {
    /// Turns an I/O error into "cannot `action` `path`".
    fn io_context(self, action: &str, path: impl AsRef<Path>) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn io_context(self, action: &str, path: impl AsRef<Path>) -> Result<T> {
        self.map_err(|error| Error::io(action, path.as_ref(), &error))
    }
}

impl From<offload_format::Error> for Error {
    fn from(error: offload_format::Error) -> Error {
        Error::check(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl std::error::Error for Error {}
