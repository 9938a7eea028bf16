//! Writing the fields of a record.

/// The fields so far.
#[derive(Default)]
pub(super) struct Record(Vec<u8>);

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

    pub(super) fn text(self, (offset, size): (u32, u32)) -> Record {
        self.u32(offset).u32(size)
    }

    pub(super) fn done(mut self, size: u64) -> Vec<u8> {
        self.0.resize(size as usize, 0);
        self.0
    }
}
