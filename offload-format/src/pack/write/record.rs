//! Writing the fields of a record.

use super::super::layout::IMAGE_STORED;
use super::super::place::Stored;

/// The fields so far.
#[derive(Default)]
pub(super) struct Record(Vec<u8>);

/// Where a text lies in the table of texts.
#[derive(Clone, Copy)]
pub(super) struct TextReference {
    pub(super) offset: u32,
    pub(super) size: u32,
}

impl Record {
    pub(super) fn bytes(mut self, bytes: &[u8]) -> Record {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn u16(self, value: u16) -> Record {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn u32(self, value: u32) -> Record {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn u64(self, value: u64) -> Record {
        self.bytes(&value.to_le_bytes())
    }

    pub(super) fn text(self, text: TextReference) -> Record {
        self.u32(text.offset).u32(text.size)
    }

    /// The fields of an image from [`IMAGE_STORED`] on that say how it is stored.
    pub(super) fn stored(self, stored: &Stored) -> Record {
        let frame = &stored.frame;
        self.u16(frame.codec.to_u16())
            .u16(frame.filter.to_u16())
            .u32(stored.parent)
            .u32(stored.block)
            .u64(stored.offset)
            .u64(frame.stored_size)
            .u64(frame.raw_size)
            .bytes(&frame.hash.0)
    }

    /// An image of another pack, of which nothing else is said.
    pub(super) fn parent(stored: &Stored) -> Record {
        Record::default().bytes(&[0; IMAGE_STORED as usize]).stored(stored)
    }

    pub(super) fn done(mut self, size: u64) -> Vec<u8> {
        self.0.resize(size as usize, 0);
        self.0
    }
}
