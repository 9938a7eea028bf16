//! The error of a build: the request, the failure and the next step.

#[cfg(feature = "compiler")]
mod compile;
mod reply;

use std::fmt;

#[cfg(feature = "compiler")]
pub(crate) use self::compile::all;

/// Why kernels could not be compiled or embedded.
///
/// [`Display`](fmt::Display) names the file, command or value concerned and ends, where there is one, with a line
/// `hint:` that says the next step. A compiler's own text is part of it, unchanged.
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// The function that an image leaves undefined.
    #[cfg(feature = "compiler")]
    undefined: Option<String>,
}

/// What sort of failure an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What the build script, the configuration or a kernel source asks for cannot be done.
    Request,
    /// A compiler, or a library of its, is not installed. Nothing is wrong with what it was to compile.
    MissingTool,
    /// A tool ran and failed; the message has its own text.
    Tool,
    /// A compiler refused kernels because the device has no double precision: it takes the same small kernel with
    /// `float`, and not with `double`.
    MissingFp64,
    /// A file holds other bytes than its format wants.
    Format,
    /// A file could not be read or written.
    Io,
    /// An entry of the compile cache was damaged or removed while it was needed, time and again.
    CacheEntry,
    /// Other users could have written into the directory of the compile cache.
    UntrustedCache,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What sort of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What is wrong, without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The next step, where there is one: a command that installs a tool, what to write instead.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error {
            kind: ErrorKind::Request,
            message: message.into(),
            hint: None,
            source: None,
            #[cfg(feature = "compiler")]
            undefined: None,
        }
    }

    /// Something that compiles is not installed.
    pub(crate) fn missing_tool(message: impl Into<String>) -> Error {
        Error { kind: ErrorKind::MissingTool, ..Error::new(message) }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
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
