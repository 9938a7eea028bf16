//! The error of a build: what was asked, what failed, what to do next.

use std::fmt;
use std::io;
use std::path::Path;

use crate::cache::Stale;

/// Why kernels could not be compiled or embedded.
///
/// [`Display`](fmt::Display) names the file, command or value concerned and ends, where there is one, with a line
/// `hint:` that says the next step. A compiler's own text is part of it, unchanged.
pub struct Error {
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    lacks_tool: bool,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error { message: message.into(), hint: None, source: None, lacks_tool: false }
    }

    pub(crate) fn io(action: &str, path: &Path, error: io::Error) -> Error {
        let message = format!("cannot {action} `{}`: {error}", path.display());
        Error { source: Some(Box::new(error)), ..Error::new(message) }
    }

    /// Whether a cache entry was gone or damaged when it was needed: the same again misses it, and makes it anew.
    pub(crate) fn is_stale(&self) -> bool {
        let source = self.source.as_ref().and_then(|source| source.downcast_ref::<io::Error>());
        source.is_some_and(Stale::is_behind)
    }

    /// Something that compiles is not installed.
    pub(crate) fn missing_tool(message: impl Into<String>) -> Error {
        Error { lacks_tool: true, ..Error::new(message) }
    }

    /// Whether a compiler or a library of its is not installed: nothing is wrong with what it was to compile.
    pub(crate) fn lacks_tool(&self) -> bool {
        self.lacks_tool
    }

    /// The same error for another who failed for the same reason.
    pub(crate) fn again(&self) -> Error {
        Error { hint: self.hint.clone(), lacks_tool: self.lacks_tool, ..Error::new(self.message.clone()) }
    }

    /// What failed, in a line.
    pub(crate) fn summary(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// What is wrong, and the next step.
    pub(crate) fn parts(&self) -> (&str, Option<&str>) {
        (&self.message, self.hint.as_deref())
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\nhint: {hint}"))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `fn main() -> Result<(), Error>` prints Debug: it has to be readable.
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

impl From<offload_format::Error> for Error {
    fn from(error: offload_format::Error) -> Error {
        Error { source: Some(Box::new(error.clone())), ..Error::new(error.to_string()) }
    }
}
