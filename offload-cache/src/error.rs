//! Errors of the cache: lost entries, directories that others may write to, and files.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why the cache, or an entry of it, cannot be used.
///
/// [`Display`](fmt::Display) names the file, and ends with a line `hint:` where there is a next step.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<&'static str>,
    source: Option<io::Error>,
}

/// The sort of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file or directory cannot be read or written.
    Io,
    /// An entry was evicted or damaged after its lookup. Another attempt is a miss, and creates it.
    LostEntry,
    /// Other users could have written into the directory.
    Untrusted,
    /// An entry is no text.
    NotText,
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of work that uses the cache.
pub trait CacheFailure: From<Error> {
    /// Whether it is that of a lost entry, [`ErrorKind::LostEntry`].
    fn is_lost_entry(&self) -> bool;
}

impl Error {
    /// The sort of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The text without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The next step, where there is one.
    pub fn hint(&self) -> Option<&str> {
        self.hint
    }

    pub(crate) fn io(action: &str, path: &Path, error: io::Error) -> Error {
        let message = format!("cannot {action} `{}`: {error}", path.display());
        let is_lost = error.get_ref().is_some_and(|inner| inner.is::<LostEntry>());
        let kind = if is_lost { ErrorKind::LostEntry } else { ErrorKind::Io };
        Error { kind, message, hint: None, source: Some(error) }
    }

    #[cfg(unix)]
    pub(crate) fn untrusted(message: String, hint: &'static str) -> Error {
        Error { kind: ErrorKind::Untrusted, message, hint: Some(hint), source: None }
    }

    pub(crate) fn not_text(path: &Path) -> Error {
        let message = format!("`{}` is not UTF-8", path.display());
        Error { kind: ErrorKind::NotText, message, hint: None, source: None }
    }
}

impl CacheFailure for Error {
    fn is_lost_entry(&self) -> bool {
        self.kind == ErrorKind::LostEntry
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

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// The reason why the bytes of an entry cannot be read: it was evicted after its lookup, or a disk failed.
///
/// An [`io::Error`] carries it, because entries are also read in the midst of writing.
#[derive(Debug)]
pub struct LostEntry(pub(crate) PathBuf);

impl fmt::Display for LostEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the cache entry `{}` was damaged or removed while it was needed", self.0.display())
    }
}

impl StdError for LostEntry {}
