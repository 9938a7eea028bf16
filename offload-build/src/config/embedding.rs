//! The setting `embed`: which builds put packs into the program, and which leave them in the compile cache.

use std::str::FromStr;

use serde::Deserialize;

use crate::error::Error;

/// Which packs the program carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
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

    fn from_str(text: &str) -> Result<Embedding, Error> {
        match text {
            "auto" => Ok(Embedding::Auto),
            "always" => Ok(Embedding::Always),
            "release" => Ok(Embedding::Release),
            _ => Err(Error::new(format!("`{}` does not say when to embed", text.escape_default()))
                .with_hint("write \"auto\", \"always\" or \"release\"")),
        }
    }
}

impl TryFrom<String> for Embedding {
    type Error = Error;

    fn try_from(text: String) -> Result<Embedding, Error> {
        text.parse()
    }
}
