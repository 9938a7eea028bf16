//! Errors of compilers, tools and the cache.

use std::fmt;
use std::io;
use std::path::Path;

use offload_cache::{CacheFailure, LostEntry};

use super::{Error, ErrorKind, Result};

/// All values, or what is wrong with every file that a tool refused; another failure comes first, and alone.
pub(crate) fn all<T>(results: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut values: Vec<T> = Vec::new();
    let mut refused: Option<Error> = None;
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(error) if error.kind != ErrorKind::Tool => return Err(error),
            Err(error) => {
                refused = Some(match refused {
                    None => error,
                    Some(first) if first.message == error.message => first,
                    Some(first) => {
                        let hint = first.hint.clone().or_else(|| error.hint.clone());
                        Error { hint, ..first.note(&error.message) }
                    }
                });
            }
        }
    }
    refused.map_or(Ok(values), Err)
}

impl Error {
    pub(crate) fn io(action: &str, path: &Path, error: io::Error) -> Error {
        let message = format!("cannot {action} `{}`: {error}", path.display());
        let is_lost = error.get_ref().is_some_and(|inner| inner.is::<LostEntry>());
        let kind = if is_lost { ErrorKind::CacheEntry } else { ErrorKind::Io };
        Error { kind, source: Some(Box::new(error)), ..Error::new(message) }
    }

    /// An image leaves `function` undefined.
    pub(crate) fn undefined_function(function: &str, message: impl Into<String>) -> Error {
        Error { undefined: Some(function.to_string()), ..Error::new(message) }
    }

    /// The function that an image leaves undefined, if that is what is wrong.
    pub(crate) fn undefined(&self) -> Option<&str> {
        self.undefined.as_deref()
    }

    /// The same of what `tool` wrote. A function without a definition is no fault of the tool's.
    pub(crate) fn with_output_of(self, tool: &Path) -> Error {
        match self.undefined {
            Some(_) => self,
            None => self
                .context(format!("`{}` exited with success, but its output is not usable", tool.display())),
        }
    }

    /// The same error as another kind.
    pub(crate) fn with_kind(self, kind: ErrorKind) -> Error {
        Error { kind, ..self }
    }

    /// Whether a cache entry was evicted or damaged before its use. Another attempt is a miss, and creates it.
    pub(crate) fn is_lost_entry(&self) -> bool {
        self.kind == ErrorKind::CacheEntry
    }

    pub(crate) fn is_missing_tool(&self) -> bool {
        self.kind == ErrorKind::MissingTool
    }

    /// The same error for another who failed for the same reason.
    pub(crate) fn again(&self) -> Error {
        let hint = self.hint.clone();
        let undefined = self.undefined.clone();
        Error { kind: self.kind, hint, undefined, ..Error::new(self.message.clone()) }
    }

    /// What failed, in a line.
    pub(crate) fn summary(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// Says more about what failed.
    pub(crate) fn note(mut self, text: impl fmt::Display) -> Error {
        self.message = format!("{}\n{text}", self.message);
        self
    }

    /// The same below a line that says what could not be done.
    pub(crate) fn below(mut self, heading: impl fmt::Display) -> Error {
        self.message = format!("{heading}\n{}", self.message);
        self
    }

    pub(crate) fn context(mut self, context: impl fmt::Display) -> Error {
        self.message = format!("{context}: {}", self.message);
        self
    }
}

impl From<offload_workgroup::Error> for Error {
    fn from(error: offload_workgroup::Error) -> Error {
        let converted = Error::new(error.message());
        match error.hint() {
            Some(hint) => converted.with_hint(hint),
            None => converted,
        }
    }
}

impl From<offload_format::Error> for Error {
    fn from(error: offload_format::Error) -> Error {
        let message = error.to_string();
        Error { kind: ErrorKind::Format, source: Some(Box::new(error)), ..Error::new(message) }
    }
}

impl From<offload_cache::Error> for Error {
    fn from(error: offload_cache::Error) -> Error {
        let kind = match error.kind() {
            offload_cache::ErrorKind::Io => ErrorKind::Io,
            offload_cache::ErrorKind::LostEntry => ErrorKind::CacheEntry,
            offload_cache::ErrorKind::Untrusted => ErrorKind::UntrustedCache,
            _ => ErrorKind::Request,
        };
        let hint = error.hint().map(str::to_string);
        let message = error.message().to_string();
        Error { kind, hint, source: Some(Box::new(error)), ..Error::new(message) }
    }
}

impl CacheFailure for Error {
    fn is_lost_entry(&self) -> bool {
        self.kind == ErrorKind::CacheEntry
    }
}
