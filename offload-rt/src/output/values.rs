//! The words of a message, one value after the other.

/// Little-endian words.
pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| word.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
        .collect()
}

/// A reader of the values of a message.
pub(super) struct Values<'w> {
    words: &'w [u32],
}

impl<'w> Values<'w> {
    pub(super) fn new(words: &'w [u32]) -> Values<'w> {
        Values { words }
    }

    pub(super) fn word(&mut self) -> Option<u32> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*first)
    }

    pub(super) fn double_word(&mut self) -> Option<u64> {
        Some(u64::from(self.word()?) | u64::from(self.word()?) << 32)
    }

    /// So many bytes, which are padded to words.
    pub(super) fn bytes(&mut self, size: usize) -> Option<Vec<u8>> {
        let (own, rest) = self.words.split_at_checked(size.div_ceil(4))?;
        self.words = rest;
        let mut bytes: Vec<u8> = own.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(size);
        Some(bytes)
    }

    /// A string behind its size; `None` inside for a null pointer.
    pub(super) fn string(&mut self) -> Option<Option<Vec<u8>>> {
        match self.word()? {
            u32::MAX => Some(None),
            size => self.bytes(size as usize).map(Some),
        }
    }
}
