//! Sidecars: files beside a program that hold its images.
//!
//! A pack with sidecars has no images of its own. A value of its metadata under [`SIDECAR`] names each file and the pack in
//! it; for each module and target a [`Missing`](super::Missing) of the kind
//! [`MissingKind::Sidecar`](super::MissingKind::Sidecar) names the file that has its images.

use std::fmt;
use std::str::FromStr;

use super::Pack;
use crate::{Error, ErrorKind, Hash128};

/// Key of the metadata whose values are [`Sidecar`].
pub const SIDECAR: &str = "elsewhere";

/// A pack in a sidecar: one value of the key [`SIDECAR`].
///
/// Its text is the identity of the pack as 32 hexadecimal digits, a space, and the name of the file. The file holds one
/// pack or several, each at a multiple of [`ALIGN`](super::layout::ALIGN); it lies in the directory of the program or
/// library, or where the user says.
///
/// ```
/// use offload_format::Hash128;
/// use offload_format::pack::Sidecar;
///
/// let sidecar = Sidecar::new("app.offload", Hash128::of(b"")).unwrap();
/// assert_eq!(sidecar.to_string(), "af1349b9f5f9a1a6a0404dea36dcc949 app.offload");
/// assert_eq!(sidecar.to_string().parse(), Ok(sidecar));
/// // The file lies beside the program and nowhere else.
/// assert!(Sidecar::new("../app.offload", Hash128::of(b"")).is_none());
/// # Ok::<(), offload_format::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecar {
    file: String,
    id: Hash128,
}

impl Sidecar {
    /// The pack `id` in the file `file`; `None` if that is no plain name of a file.
    pub fn new(file: &str, id: Hash128) -> Option<Sidecar> {
        let plain = !file.is_empty()
            && !matches!(file, "." | "..")
            && !file.contains(['/', '\\', ':'])
            && !file.contains(char::is_control);
        plain.then(|| Sidecar { file: file.to_string(), id })
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

    /// Reads the text that [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Sidecar, Error> {
        let malformed = || ErrorKind::Text { what: "the sidecar of a pack", offset: 0 }.into();
        let parse = || {
            let (digits, file) = text.split_once(' ')?;
            Sidecar::new(file, parse_hash(digits)?)
        };
        parse().ok_or_else(malformed)
    }
}

impl fmt::Display for Sidecar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.file)
    }
}

impl<'a> Pack<'a> {
    /// The sidecars that have the images of this pack; none for a pack that has them itself.
    pub fn sidecars(&self) -> impl Iterator<Item = Result<Sidecar, Error>> + use<'a> {
        self.meta_values(SIDECAR).map(str::parse)
    }
}

fn parse_hash(digits: &str) -> Option<Hash128> {
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if digits.len() != 32 || !digits.bytes().all(lower) {
        return None;
    }
    u128::from_str_radix(digits, 16).ok().map(|value| Hash128(value.to_be_bytes()))
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
