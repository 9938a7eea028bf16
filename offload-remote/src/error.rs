//! Errors for people: what is wrong, and on a line `hint:` what to do.

use std::fmt;

/// What is wrong with settings, or keeps a server from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    hint: Option<String>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error { message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Error {
        Error { hint: Some(hint.into()), ..self }
    }

    /// What is wrong, without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do, if anything.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl std::error::Error for Error {}
