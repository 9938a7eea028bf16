//! The records on disk.

use super::MAGIC;
use offload_format::{Error, ErrorKind, bytes};

/// Size of an entry in bytes.
pub(super) const ENTRY_SIZE: u64 = 40;
/// Size of the header of versions 1 and 2.
pub(super) const HEADER_SIZE: u64 = 32;
/// Size of the header of version 3.
pub(super) const HEADER_SIZE_V3: u64 = 40;
const WHAT: &str = "the OffloadBinary header";

/// The header of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawHeader {
    /// 1, 2 or 3.
    pub version: u32,
    /// Size of the binary in bytes, header included.
    pub size: u64,
    /// The offset of the entries.
    pub entries_offset: u64,
    /// Version 1: the size of the entry; later versions: the number of entries.
    pub entries: u64,
    /// Inflated size in bytes, header included; 0 if it is not compressed, as always before version 3.
    pub inflated_size: u64,
}

impl RawHeader {
    /// Reads the header at the start of `input`.
    pub(super) fn parse(input: &[u8]) -> Result<RawHeader, Error> {
        if bytes::array(input, 0, WHAT)? != MAGIC {
            return Err(ErrorKind::Magic { what: "an OffloadBinary" }.into());
        }
        let version = bytes::u32_at(input, 4, WHAT)?;
        let inflated_size = if version == 3 { bytes::u64_at(input, 32, WHAT)? } else { 0 };
        Ok(RawHeader {
            version,
            size: bytes::u64_at(input, 8, WHAT)?,
            entries_offset: bytes::u64_at(input, 16, WHAT)?,
            entries: bytes::u64_at(input, 24, WHAT)?,
            inflated_size,
        })
    }

    /// Size of the header itself.
    pub(super) fn header_size(&self) -> u64 {
        if self.version < 3 { HEADER_SIZE } else { HEADER_SIZE_V3 }
    }

    /// The number of entries.
    pub(super) fn count(&self) -> Result<u64, Error> {
        match (self.version, self.entries) {
            (1, ENTRY_SIZE) => Ok(1),
            (1, other) => Err(Error::invalid("the size of the OffloadBinary's entry", other)),
            (2 | 3, count) => Ok(count),
            (other, _) => Err(ErrorKind::Version { what: "the OffloadBinary", found: other.into() }.into()),
        }
    }

    /// Size of an element of a string map.
    pub(super) fn pair_size(&self) -> u64 {
        if self.version < 2 { 16 } else { 24 }
    }
}

/// An entry of a binary; offsets are from the start of the inflated binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawEntry {
    /// LLVM's number of the image kind; Intel's releases use 6 and 7 for SYCLBIN.
    pub image_kind: u16,
    /// LLVM's number of the offload kind; releases disagree on it.
    pub offload_kind: u16,
    /// [`FLAG_METADATA`](super::FLAG_METADATA) or 0.
    pub flags: u32,
    /// The offset of the string map.
    pub strings_offset: u64,
    /// The number of strings.
    pub strings: u64,
    /// The offset of the image.
    pub image_offset: u64,
    /// Size of the image in bytes.
    pub image_size: u64,
}

impl RawEntry {
    /// Reads the entry at the start of `record`.
    pub(super) fn parse(record: &[u8]) -> Result<RawEntry, Error> {
        const WHAT: &str = "the OffloadBinary entry";
        Ok(RawEntry {
            image_kind: bytes::u16_at(record, 0, WHAT)?,
            offload_kind: bytes::u16_at(record, 2, WHAT)?,
            flags: bytes::u32_at(record, 4, WHAT)?,
            strings_offset: bytes::u64_at(record, 8, WHAT)?,
            strings: bytes::u64_at(record, 16, WHAT)?,
            image_offset: bytes::u64_at(record, 24, WHAT)?,
            image_size: bytes::u64_at(record, 32, WHAT)?,
        })
    }

    /// The record's bytes.
    pub(super) fn encode(&self) -> Vec<u8> {
        let fields: [&[u8]; 7] = [
            &self.image_kind.to_le_bytes(),
            &self.offload_kind.to_le_bytes(),
            &self.flags.to_le_bytes(),
            &self.strings_offset.to_le_bytes(),
            &self.strings.to_le_bytes(),
            &self.image_offset.to_le_bytes(),
            &self.image_size.to_le_bytes(),
        ];
        fields.concat()
    }
}
