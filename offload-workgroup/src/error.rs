//! The error of a pass: the refused construct, and the next step.

use std::fmt;

/// The reason why a module or a kernel is refused.
///
/// [`Display`](fmt::Display) ends, where there is a next step, with a line `hint:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    hint: Option<&'static str>,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error { message: message.into(), hint: None }
    }

    pub(crate) fn with_hint(self, hint: &'static str) -> Error {
        Error { hint: Some(hint), ..self }
    }

    /// The message without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The next step, where there is one.
    pub fn hint(&self) -> Option<&'static str> {
        self.hint
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
