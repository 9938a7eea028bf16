//! The 128-bit content hash of images and packs.

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind};

/// The first 16 bytes of a BLAKE3 hash (<https://github.com/BLAKE3-team/BLAKE3-specs>).
///
/// Used as identity (equal images are stored once) and against damage; shown as 32 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash128(pub [u8; 16]);

impl Hash128 {
    /// Hashes `bytes`.
    ///
    /// ```
    /// use offload_format::Hash128;
    /// assert_eq!(Hash128::of(b"").to_string(), "af1349b9f5f9a1a6a0404dea36dcc949");
    /// ```
    pub fn of(bytes: &[u8]) -> Hash128 {
        Hash128::of_parts(&[bytes])
    }

    /// Hashes the concatenation of `parts`.
    pub fn of_parts(parts: &[&[u8]]) -> Hash128 {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(part);
        }
        let mut out = [0; 16];
        hasher.finalize_xof().fill(&mut out);
        Hash128(out)
    }
}

impl fmt::Display for Hash128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Hash128 {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes.
    ///
    /// ```
    /// use offload_format::Hash128;
    /// let hash = Hash128::of(b"");
    /// assert_eq!(hash.to_string().parse(), Ok(hash));
    /// assert!("af13".parse::<Hash128>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Hash128, Error> {
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u128::from_str_radix(text, 16).ok().filter(|_| digits);
        value
            .map(|value| Hash128(value.to_be_bytes()))
            .ok_or_else(|| ErrorKind::Text { what: "a hash", offset: 0 }.into())
    }
}

impl fmt::Debug for Hash128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash128({self})")
    }
}
