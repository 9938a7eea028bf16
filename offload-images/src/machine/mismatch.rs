//! The error for an image that is not for its target.

use std::fmt;

use crate::ImageFormat;
use offload_format::Error;

/// The difference between an image and its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(String);

impl Mismatch {
    pub(super) fn new(text: impl Into<String>) -> Mismatch {
        Mismatch(text.into())
    }

    /// The image is of the wrong format, which is `None` if it is unknown.
    pub(super) fn format(format: Option<ImageFormat>) -> Mismatch {
        Mismatch(match format {
            Some(format) => format!("the image is {format}"),
            None => "the image is of no known format".to_string(),
        })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mismatch {}

impl From<Error> for Mismatch {
    fn from(error: Error) -> Mismatch {
        Mismatch(error.to_string())
    }
}
