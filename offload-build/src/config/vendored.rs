//! The setting `vendored`: when images that a package brings along are used.

use std::str::FromStr;

use serde::Deserialize;

use crate::error::{Error, Result};

/// When vendored images are used that were made of the very sources and options at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Vendored {
    /// Where the tools that would compile are not installed.
    #[default]
    Fallback,
    /// Always; what is missing is compiled.
    Prefer,
    Never,
}

impl FromStr for Vendored {
    type Err = Error;

    fn from_str(text: &str) -> Result<Vendored> {
        match text {
            "fallback" => Ok(Vendored::Fallback),
            "prefer" => Ok(Vendored::Prefer),
            "never" => Ok(Vendored::Never),
            _ => Err(Error::new(format!("`vendored = \"{}\"` is not understood", text.escape_default()))
                .with_hint("write \"fallback\", \"prefer\" or \"never\"")),
        }
    }
}

impl TryFrom<String> for Vendored {
    type Error = Error;

    fn try_from(text: String) -> Result<Vendored> {
        text.parse()
    }
}
