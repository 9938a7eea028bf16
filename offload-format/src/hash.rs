//! The 128-bit content hash of images and packs.

use std::fmt;

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

impl fmt::Debug for Hash128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash128({self})")
    }
}
