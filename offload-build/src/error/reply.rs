//! Errors on their way from `cargo-offload` to a build script without a compiler.

use super::{Error, ErrorKind};

/// What a reply begins with.
const START: &str = "offload-build: ";
/// What no part of an error has.
const END: char = '\0';

/// The name of each kind.
const NAMES: [(ErrorKind, &str); 8] = [
    (ErrorKind::Request, "request"),
    (ErrorKind::MissingTool, "missing-tool"),
    (ErrorKind::Tool, "tool"),
    (ErrorKind::MissingFp64, "missing-fp64"),
    (ErrorKind::Format, "format"),
    (ErrorKind::Io, "io"),
    (ErrorKind::CacheEntry, "cache-entry"),
    (ErrorKind::UntrustedCache, "untrusted-cache"),
];

impl Error {
    /// The error in the form that [`Error::from_reply`] reads.
    #[doc(hidden)]
    #[cfg(feature = "compiler")]
    pub fn to_reply(&self) -> String {
        let kind = NAMES.iter().find(|(kind, _)| *kind == self.kind).map_or("request", |(_, name)| name);
        let message = self.message.replace(END, " ");
        let hint = self.hint.as_deref().unwrap_or_default().replace(END, " ");
        format!("{START}{kind}{END}{message}{END}{hint}{END}")
    }

    /// The error of a reply; what comes before and after it is of others.
    #[cfg(any(test, not(feature = "compiler")))]
    pub(crate) fn from_reply(text: &str) -> Option<Error> {
        let (_, reply) = text.split_once(START)?;
        let mut parts = reply.split(END);
        let name = parts.next()?;
        let kind = NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)?;
        let mut error = Error::new(parts.next()?);
        error.kind = kind;
        error.hint = parts.next().filter(|hint| !hint.is_empty()).map(str::to_string);
        Some(error)
    }
}

#[cfg(test)]
#[cfg(feature = "compiler")]
mod tests {
    use super::*;

    #[test]
    fn an_error_arrives_as_it_was_sent() {
        let errors = [
            Error::new("kernels/a.cl:1:2: error: x\n  y").with_hint("do this"),
            Error::missing_tool("clang is not installed"),
            Error::new("a\0b").with_kind(ErrorKind::UntrustedCache),
        ];
        for error in errors {
            let reply = format!("warning: of a tool\n{}\n", error.to_reply());
            let received = Error::from_reply(&reply).unwrap();
            assert_eq!((received.kind(), received.hint()), (error.kind(), error.hint()));
            assert_eq!(received.message(), error.message().replace('\0', " "));
        }
        assert!(Error::from_reply("thread main panicked").is_none());
        assert!(Error::from_reply("offload-build: nonsense\0a\0b\0").is_none());
    }
}
