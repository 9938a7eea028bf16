//! The error of every reader and writer in this crate.

use std::fmt;

/// An error of reading or writing a binary format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
}

/// The cases of [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input ends before `what` does.
    Truncated {
        /// The structure being read.
        what: &'static str,
        /// Where it starts, in bytes from the start of the input.
        offset: u64,
        /// How many bytes it needs.
        size: u64,
    },
    /// The first bytes are not those of the format.
    Magic {
        /// The expected format.
        what: &'static str,
    },
    /// A version this release does not know.
    Version {
        /// The structure that carries the version.
        what: &'static str,
        /// The version found.
        found: u64,
    },
    /// A field has a value that the format does not allow.
    Invalid {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// The file lacks a part that it has to have.
    Missing {
        /// The part.
        what: &'static str,
    },
    /// Text that is not UTF-8 or not of the expected form.
    Text {
        /// The field.
        what: &'static str,
        /// Where it starts.
        offset: u64,
    },
    /// The bytes are well formed but their hash is not the recorded one.
    Damaged {
        /// What was hashed.
        what: &'static str,
    },
    /// Compressed data is malformed, or data cannot be compressed.
    Compression {
        /// The compression: `zstd`, `zlib`, `LZ4` or `LZMA`.
        format: &'static str,
        /// The decoder's or encoder's own message.
        message: String,
    },
    /// Data that needs a disabled cargo feature.
    Feature {
        /// The data.
        what: &'static str,
        /// The cargo feature.
        feature: &'static str,
    },
    /// A feature of the format that this release cannot read yet.
    Unsupported {
        /// The feature.
        what: &'static str,
        /// Its number in the file.
        value: u64,
    },
    /// More than the caller's limit allows.
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Containers lie deeper in one another than the caller's limit allows.
    Nested {
        /// The containers.
        what: &'static str,
        /// How deep they may lie.
        limit: u32,
    },
    /// More records than the caller's limit allows.
    TooMany {
        /// The table.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
}

impl Error {
    /// The case, for programs that react to it.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The input ends before `what`, which needs `size` bytes at `offset`.
    pub fn truncated(what: &'static str, offset: u64, size: u64) -> Error {
        ErrorKind::Truncated { what, offset, size }.into()
    }

    /// The field `what` has a value that the format does not allow.
    pub fn invalid(what: &'static str, value: u64) -> Error {
        ErrorKind::Invalid { what, value }.into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error { kind }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Truncated { what, offset, size } => {
                write!(f, "the data ends early: {what} should have {size} bytes at offset {offset:#x}")
            }
            ErrorKind::Magic { what } => write!(f, "this is not {what}: it starts with other bytes"),
            ErrorKind::Version { what, found } => {
                write!(f, "{what} has version {found}, which this release does not know")
            }
            ErrorKind::Invalid { what, value } => write!(f, "{what} is invalid: {value:#x}"),
            ErrorKind::Missing { what } => write!(f, "{what} is missing"),
            ErrorKind::Text { what, offset } => write!(f, "{what} at offset {offset:#x} is malformed"),
            ErrorKind::Damaged { what } => write!(f, "{what} is damaged: its hash is not the recorded one"),
            ErrorKind::Compression { format, message } => write!(f, "{format} failed: {message}"),
            ErrorKind::Feature { what, feature } => write!(
                f,
                "{what} needs the feature `{feature}` of the crate `offload-rt`: this program was built without it"
            ),
            ErrorKind::Unsupported { what, value } => {
                write!(f, "this release does not support {what} {value}")
            }
            ErrorKind::TooLarge { what, size, limit } => {
                write!(f, "{what} would take {size} bytes; the limit is {limit}")
            }
            ErrorKind::Nested { what, limit } => {
                write!(f, "{what} are nested deeper than the limit of {limit}")
            }
            ErrorKind::TooMany { what, count, limit } => {
                write!(f, "{what} would have {count} records; the limit is {limit}")
            }
        }
    }
}

impl std::error::Error for Error {}
