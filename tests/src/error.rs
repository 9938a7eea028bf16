//! The error of every task: a text for a person.

use std::fmt;

/// A sentence, and the next step on lines of its own.
#[derive(Debug)]
pub struct Error(String);

/// What a task, or a part of one, ends with.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// `text` is a sentence without a full stop.
    pub fn new(text: impl Into<String>) -> Error {
        Error(text.into())
    }

    /// Adds the next step.
    #[must_use]
    pub fn hint(self, text: impl fmt::Display) -> Error {
        Error(format!("{}\nhint: {text}", self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<xshell::Error> for Error {
    fn from(error: xshell::Error) -> Error {
        Error::new(error.to_string())
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Error {
        Error::new(error.to_string())
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::new(error.to_string())
    }
}
