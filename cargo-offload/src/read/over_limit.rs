//! Errors of readers for people: what allows more, where a limit was met.

use offload_format::{Error, ErrorKind};

/// `error`, with what to do about it.
pub(crate) fn told(error: &Error) -> String {
    match error.kind() {
        ErrorKind::TooLarge { .. } => {
            format!("{error}; if the file is to be trusted, `--limit SIZE` allows more")
        }
        _ => error.to_string(),
    }
}
