//! The settings `embed` and `vendored`: where packs go, and where images come from.

use std::str::FromStr;

use crate::error::{Error, Result};

/// Which packs the program carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Embedding {
    /// In development builds small ones, in others all.
    #[default]
    Auto,
    /// All.
    Always,
    /// In development builds none, in others all.
    Release,
}

impl FromStr for Embedding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Embedding> {
        match text {
            "auto" => Ok(Embedding::Auto),
            "always" => Ok(Embedding::Always),
            "release" => Ok(Embedding::Release),
            _ => Err(Error::new(format!("`{}` does not say when to embed", text.escape_default()))
                .with_hint("write \"auto\", \"always\" or \"release\"")),
        }
    }
}

/// When vendored images are used that were made of the very sources and options at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UseVendored {
    /// Where the tools that would compile are not installed.
    #[default]
    Fallback,
    /// Always; what is missing is compiled.
    Prefer,
    Never,
}

impl FromStr for UseVendored {
    type Err = Error;

    fn from_str(text: &str) -> Result<UseVendored> {
        match text {
            "fallback" => Ok(UseVendored::Fallback),
            "prefer" => Ok(UseVendored::Prefer),
            "never" => Ok(UseVendored::Never),
            _ => Err(Error::new(format!("`vendored = \"{}\"` is not understood", text.escape_default()))
                .with_hint("write \"fallback\", \"prefer\" or \"never\"")),
        }
    }
}
