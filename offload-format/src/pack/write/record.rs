//! Encoding of the fields of a record.

use super::super::layout::IMAGE_STORED;
use super::super::place::StorageFields;

/// A record under construction.
#[derive(Default)]
pub(super) struct Record(Vec<u8>);

/// A range in the table of texts.
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

    /// The storage fields of an image, which begin at [`IMAGE_STORED`].
    pub(super) fn storage(self, storage: &StorageFields) -> Record {
        let frame = &storage.frame;
        self.u16(frame.codec.to_u16())
            .u16(frame.filter.to_u16())
            .u32(storage.parent)
            .u32(storage.block)
            .u64(storage.offset)
            .u64(frame.stored_size)
            .u64(frame.raw_size)
            .bytes(&frame.hash.0)
    }

    /// A parent in another pack: its storage fields alone.
    pub(super) fn parent(storage: &StorageFields) -> Record {
        Record::default().bytes(&[0; IMAGE_STORED as usize]).storage(storage)
    }

    /// The bytes of the record, zero-padded to `size`.
    pub(super) fn pad_to(mut self, size: u64) -> Vec<u8> {
        self.0.resize(size as usize, 0);
        self.0
    }
}
