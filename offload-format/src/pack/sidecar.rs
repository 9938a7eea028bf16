//! Sidecars: files next to a program with the packs of its images.
//!
//! A pack with sidecars has no images of its own. Its metadata has a value under [`SIDECAR`] for each file with the
//! identity of the pack in it; for each module and target a [`Missing`](super::Missing) of the kind
//! [`MissingKind::Sidecar`](super::MissingKind::Sidecar) names the file.

use std::fmt;
use std::str::FromStr;

use super::Pack;
use crate::{Error, ErrorKind, Hash128};

/// Metadata key of [`Sidecar`] values.
pub const SIDECAR: &str = "elsewhere";

/// A pack in a sidecar: one value of the key [`SIDECAR`].
///
/// Its text is the identity of the pack as 32 hexadecimal digits, a space, and the name of the file. The file contains one
/// or more packs, each at a multiple of [`ALIGN`](super::layout::ALIGN). It is in the directory of the program or library,
/// or in one that the user configures.
///
/// ```
/// use offload_format::Hash128;
/// use offload_format::pack::Sidecar;
///
/// let sidecar = Sidecar::new("app.offload", Hash128::digest(b"")).unwrap();
/// assert_eq!(sidecar.to_string(), "af1349b9f5f9a1a6a0404dea36dcc949 app.offload");
/// assert_eq!(sidecar.to_string().parse(), Ok(sidecar));
/// // No name leads out of the directory.
/// assert!(Sidecar::new("../app.offload", Hash128::digest(b"")).is_none());
/// # Ok::<(), offload_format::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecar {
    file: String,
    id: Hash128,
}

impl Sidecar {
    /// The pack `id` in the file `file`; `None` if that is not a plain file name.
    pub fn new(file: &str, id: Hash128) -> Option<Sidecar> {
        let is_plain = !file.is_empty()
            && !matches!(file, "." | "..")
            && !file.contains(['/', '\\', ':'])
            && !file.contains(char::is_control);
        is_plain.then(|| Sidecar { file: file.to_string(), id })
    }

    /// The name of the file, without a directory.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The identity of the pack in it.
    pub fn id(&self) -> Hash128 {
        self.id
    }
}

impl FromStr for Sidecar {
    type Err = Error;

    /// Parses the text that [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Sidecar, Error> {
        parse(text).ok_or_else(|| ErrorKind::Text { what: "the sidecar of a pack", offset: 0 }.into())
    }
}

fn parse(text: &str) -> Option<Sidecar> {
    let (digits, file) = text.split_once(' ')?;
    Sidecar::new(file, parse_hash(digits)?)
}

impl fmt::Display for Sidecar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.file)
    }
}

impl<'a> Pack<'a> {
    /// The sidecars with the images of this pack; none for a pack with its own images.
    pub fn sidecars(&self) -> impl Iterator<Item = Result<Sidecar, Error>> + use<'a> {
        self.meta_values(SIDECAR).map(str::parse)
    }
}

/// The hash with these digits, in lower case, so that a sidecar has one text.
fn parse_hash(digits: &str) -> Option<Hash128> {
    if digits.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_texts_are_refused() {
        let hash = "af1349b9f5f9a1a6a0404dea36dcc949";
        assert_eq!(format!("{hash} a b").parse::<Sidecar>().unwrap().file(), "a b");
        for text in [
            "",
            "app",
            hash,
            &format!("{hash} "),
            &format!("{hash} .."),
            &format!("{hash} /etc/passwd"),
            &format!("{hash} a\nb"),
            &format!("{} app", hash.to_uppercase()),
            &format!("+{} app", &hash[1..]),
        ] {
            assert!(text.parse::<Sidecar>().is_err(), "{text:?}");
        }
    }
}
