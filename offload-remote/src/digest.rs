//! Digests: SHA-256 and size of a blob, its name in content-addressed storage.

use std::fmt::{self, Write};

use sha2::{Digest as _, Sha256};

use crate::api;

/// The digest of a blob.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Digest {
    pub(crate) sha256: [u8; 32],
    /// In bytes.
    pub(crate) size: u64,
}

impl Digest {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Digest {
        Digest { sha256: Sha256::digest(bytes).into(), size: bytes.len() as u64 }
    }

    /// Whether `bytes` have this digest.
    pub(crate) fn matches(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.size && Digest::from_bytes(bytes) == *self
    }

    /// The SHA-256 in 64 digits.
    pub(crate) fn hex(&self) -> String {
        hex(&self.sha256)
    }

    pub(crate) fn message(&self) -> api::Digest {
        api::Digest { hash: self.hex(), size_bytes: i64::try_from(self.size).unwrap_or(i64::MAX) }
    }

    /// Parses a message; `None` if it is absent or malformed.
    pub(crate) fn from_message(message: Option<&api::Digest>) -> Option<Digest> {
        let message = message?;
        Some(Digest { sha256: unhex(&message.hash)?, size: u64::try_from(message.size_bytes).ok()? })
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.hex(), self.size)
    }
}

/// Hexadecimal text, two digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 in 64 digits; `None` for any other text.
pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_the_digest_that_everybody_knows() {
        let empty = Digest::from_bytes(b"");
        assert_eq!(empty.hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(Digest::from_message(Some(&empty.message())), Some(empty));
        assert!(empty.matches(b"") && !empty.matches(b"a"));
    }

    fn message(hash: &str, size_bytes: i64) -> api::Digest {
        api::Digest { hash: hash.into(), size_bytes }
    }

    #[test]
    fn what_is_no_digest_is_none() {
        let digest = "0".repeat(64);
        assert!(Digest::from_message(Some(&message(&digest, 1))).is_some());
        for (hash, size) in [(digest.as_str(), -1), ("", 0), ("+f", 0), (&"é".repeat(32), 0)] {
            assert_eq!(Digest::from_message(Some(&message(hash, size))), None);
        }
        assert_eq!(Digest::from_message(None), None);
    }
}
