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
    /// assert_eq!(Hash128::digest(b"").to_string(), "af1349b9f5f9a1a6a0404dea36dcc949");
    /// ```
    pub fn digest(bytes: &[u8]) -> Hash128 {
        Hash128::digest_parts(&[bytes])
    }

    /// Hashes the concatenation of `parts`.
    pub fn digest_parts(parts: &[&[u8]]) -> Hash128 {
        let mut hasher = blake3::Hasher::new();
        if let [head, rest] = parts {
            update_in_step(&mut hasher, head, rest);
        } else {
            for part in parts {
                hasher.update(part);
            }
        }
        let mut out = [0; 16];
        hasher.finalize_xof().fill(&mut out);
        Hash128(out)
    }
}

/// Bytes that BLAKE3 hashes in parallel with the widest vector instructions.
const STEP: usize = 4 << 10;

/// Hashes `head` with the beginning of `rest` as one step, then the remainder: an update of less than a step misaligns all
/// that follow, which takes almost twice as long.
fn update_in_step(hasher: &mut blake3::Hasher, head: &[u8], rest: &[u8]) {
    let mut first = [0; STEP];
    if let Some((front, back)) = first.split_at_mut_checked(head.len())
        && let Some((begin, rest)) = rest.split_at_checked(back.len())
    {
        front.copy_from_slice(head);
        back.copy_from_slice(begin);
        hasher.update(&first).update(rest);
        return;
    }
    hasher.update(head).update(rest);
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
    /// let hash = Hash128::digest(b"");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_hash_of_the_whole() {
        let bytes: Vec<u8> = (0..40_000u32).map(|number| ((number * number) >> 5) as u8).collect();
        for size in [10, 2 * STEP, bytes.len()] {
            let whole = &bytes[..size];
            for at in [0, 1, 48, 1024, STEP - 1, STEP, STEP + 1, size].into_iter().filter(|at| *at <= size) {
                let (head, rest) = whole.split_at(at);
                assert_eq!(Hash128::digest_parts(&[head, rest]), Hash128::digest(whole), "{size} {at}");
                assert_eq!(Hash128::digest_parts(&[head, &[], rest]), Hash128::digest(whole), "{size} {at}");
            }
        }
        assert_ne!(Hash128::digest_parts(&[&bytes[1..], &bytes]), Hash128::digest_parts(&[&bytes, &bytes]));
    }
}
