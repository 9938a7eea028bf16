//! Error texts with a hint at `--limit` where a decoding limit was exceeded.

use offload_format::{Error, ErrorKind};

/// `error`, with what to do about it.
pub(crate) fn with_limit_hint(error: &Error) -> String {
    match error.kind() {
        ErrorKind::TooLarge { .. } => {
            format!("{error}; use `--limit SIZE` to allow more if you trust the file")
        }
        _ => error.to_string(),
    }
}
