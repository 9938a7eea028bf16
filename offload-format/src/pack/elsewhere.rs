//! Packs whose images lie in other files, beside the program.
//!
//! Such a pack has no images of its own. A value of its metadata under [`ELSEWHERE`] names each file and the pack in
//! it; a notice of the kind [`NoticeKind::Elsewhere`](super::NoticeKind::Elsewhere) says for each module and target in
//! which file its images are.

use std::fmt;

use super::Pack;
use crate::{Error, ErrorKind, Hash128};

/// Key of the metadata whose values are [`Elsewhere`].
pub const ELSEWHERE: &str = "elsewhere";

/// A pack in another file: one value of the key [`ELSEWHERE`].
///
/// Its text is the identity of the pack as 32 hexadecimal digits, a space, and the name of the file. The file holds one
/// pack or several, each at a multiple of [`ALIGN`](super::layout::ALIGN); it lies in the directory of the program or
/// library, or where the user says.
///
/// ```
/// use offload_format::Hash128;
/// use offload_format::pack::Elsewhere;
///
/// let there = Elsewhere::new("app.offload", Hash128::of(b"")).unwrap();
/// assert_eq!(there.to_string(), "af1349b9f5f9a1a6a0404dea36dcc949 app.offload");
/// assert_eq!(Elsewhere::parse(&there.to_string())?, there);
/// // The file lies beside the program and nowhere else.
/// assert!(Elsewhere::new("../app.offload", Hash128::of(b"")).is_none());
/// # Ok::<(), offload_format::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    file: String,
    id: Hash128,
}

impl Elsewhere {
    /// The pack `id` in the file `file`; `None` if that is no plain name of a file.
    pub fn new(file: &str, id: Hash128) -> Option<Elsewhere> {
        let plain = !file.is_empty()
            && !matches!(file, "." | "..")
            && !file.contains(['/', '\\', ':'])
            && !file.contains(char::is_control);
        plain.then(|| Elsewhere { file: file.to_string(), id })
    }

    /// Reads the text that [`Display`](fmt::Display) writes.
    ///
    /// # Errors
    /// [`ErrorKind::Text`].
    pub fn parse(text: &str) -> Result<Elsewhere, Error> {
        let malformed = || ErrorKind::Text { what: "the place of a pack", offset: 0 }.into();
        let parse = || {
            let (digits, file) = text.split_once(' ')?;
            Elsewhere::new(file, parse_hash(digits)?)
        };
        parse().ok_or_else(malformed)
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

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id, self.file)
    }
}

impl<'a> Pack<'a> {
    /// Where the images of this pack lie if they are in other files; nothing for a pack that has them.
    pub fn elsewhere(&self) -> impl Iterator<Item = Result<Elsewhere, Error>> + use<'a> {
        self.meta_values(ELSEWHERE).map(Elsewhere::parse)
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
    fn malformed_places_are_refused() {
        let hash = "af1349b9f5f9a1a6a0404dea36dcc949";
        assert_eq!(Elsewhere::parse(&format!("{hash} a b")).unwrap().file(), "a b");
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
            assert!(Elsewhere::parse(text).is_err(), "{text:?}");
        }
    }
}
