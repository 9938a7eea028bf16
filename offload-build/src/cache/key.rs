//! Keys: the hash of everything that a result depends on.

use offload_format::Hash128;

/// The identity of an action or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(Hash128);

/// Collects what a result depends on. Every part is length-prefixed, so that no two lists are alike.
#[derive(Debug)]
pub(crate) struct KeyBuilder(blake3::Hasher);

impl KeyBuilder {
    pub(crate) fn new(action: &str) -> KeyBuilder {
        KeyBuilder(blake3::Hasher::new()).part(action.as_bytes())
    }

    pub(crate) fn part(mut self, bytes: &[u8]) -> KeyBuilder {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> Key {
        let mut out = [0; 16];
        self.0.finalize_xof().fill(&mut out);
        Key(Hash128(out))
    }
}

impl Key {
    pub(crate) fn bytes(self) -> [u8; 16] {
        self.0.0
    }

    /// The name of its files: 32 hexadecimal digits.
    pub(super) fn name(self) -> String {
        self.0.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let one = KeyBuilder::new("x").part(b"ab").part(b"c").finish();
        let two = KeyBuilder::new("x").part(b"a").part(b"bc").finish();
        assert_ne!(one, two);
    }
}
