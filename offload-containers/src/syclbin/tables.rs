//! The tables of version 1: header, records, metadata, binaries.

use super::MAGIC;
use offload_format::{Error, ErrorKind, bytes};

/// Size of the header in bytes.
pub(super) const HEADER_SIZE: u64 = 56;
/// Size of each record in bytes.
pub(super) const RECORD_SIZE: u64 = 32;
/// The version that is written.
pub(super) const VERSION: u32 = 1;
const WHAT: &str = "the SYCLBIN header";

/// The header; `u32` 0 follows the three counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawHeader {
    /// 0 or 1.
    pub version: u32,
    /// The number of abstract modules.
    pub modules: u32,
    /// The number of IR modules of all of them.
    pub ir: u32,
    /// The number of native images of all of them.
    pub native: u32,
    /// Size of the metadata in bytes, without padding.
    pub metadata_size: u64,
    /// Size of the binaries in bytes.
    pub binary_size: u64,
    /// The offset of the global metadata in the metadata.
    pub global_offset: u64,
    /// Its size in bytes.
    pub global_size: u64,
}

/// The record of an abstract module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawModule {
    /// The offset of its metadata in the metadata.
    pub metadata_offset: u64,
    /// Size of its metadata in bytes.
    pub metadata_size: u64,
    /// The number of its IR modules.
    pub ir: u32,
    /// The index of its first IR module.
    pub first_ir: u32,
    /// The number of its native images.
    pub native: u32,
    /// The index of its first native image.
    pub first_native: u32,
}

/// The record of an IR module or native image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawPayload {
    /// The offset of its metadata in the metadata.
    pub metadata_offset: u64,
    /// Size of its metadata in bytes.
    pub metadata_size: u64,
    /// The offset of its bytes in the binaries.
    pub offset: u64,
    /// Size of its bytes.
    pub size: u64,
}

impl RawHeader {
    pub(super) fn parse(inner: &[u8]) -> Result<RawHeader, Error> {
        if bytes::u32_at(inner, 0, WHAT)? != MAGIC {
            return Err(ErrorKind::Magic { what: "a SYCLBIN" }.into());
        }
        let version = bytes::u32_at(inner, 4, WHAT)?;
        if version > VERSION {
            return Err(ErrorKind::Version { what: "the SYCLBIN", found: version.into() }.into());
        }
        Ok(RawHeader {
            version,
            modules: bytes::u32_at(inner, 8, WHAT)?,
            ir: bytes::u32_at(inner, 12, WHAT)?,
            native: bytes::u32_at(inner, 16, WHAT)?,
            metadata_size: bytes::u64_at(inner, 24, WHAT)?,
            binary_size: bytes::u64_at(inner, 32, WHAT)?,
            global_offset: bytes::u64_at(inner, 40, WHAT)?,
            global_size: bytes::u64_at(inner, 48, WHAT)?,
        })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let counts = [MAGIC, self.version, self.modules, self.ir, self.native, 0].map(u32::to_le_bytes);
        let sizes = [self.metadata_size, self.binary_size, self.global_offset, self.global_size];
        [counts.concat(), sizes.map(u64::to_le_bytes).concat()].concat()
    }
}

impl RawModule {
    pub(super) fn parse(record: &[u8]) -> Result<RawModule, Error> {
        const WHAT: &str = "the record of a SYCLBIN's module";
        Ok(RawModule {
            metadata_offset: bytes::u64_at(record, 0, WHAT)?,
            metadata_size: bytes::u64_at(record, 8, WHAT)?,
            ir: bytes::u32_at(record, 16, WHAT)?,
            first_ir: bytes::u32_at(record, 20, WHAT)?,
            native: bytes::u32_at(record, 24, WHAT)?,
            first_native: bytes::u32_at(record, 28, WHAT)?,
        })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let at = [self.metadata_offset, self.metadata_size].map(u64::to_le_bytes);
        let counts = [self.ir, self.first_ir, self.native, self.first_native].map(u32::to_le_bytes);
        [at.concat(), counts.concat()].concat()
    }
}

impl RawPayload {
    pub(super) fn parse(record: &[u8]) -> Result<RawPayload, Error> {
        const WHAT: &str = "the record of a SYCLBIN's image";
        Ok(RawPayload {
            metadata_offset: bytes::u64_at(record, 0, WHAT)?,
            metadata_size: bytes::u64_at(record, 8, WHAT)?,
            offset: bytes::u64_at(record, 16, WHAT)?,
            size: bytes::u64_at(record, 24, WHAT)?,
        })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        [self.metadata_offset, self.metadata_size, self.offset, self.size].map(u64::to_le_bytes).concat()
    }
}

/// The tables of a file, at the offsets in its header.
pub(super) struct Tables<'a> {
    pub(super) header: RawHeader,
    records: &'a [u8],
    pub(super) metadata: &'a [u8],
    pub(super) binary: &'a [u8],
}

impl<'a> Tables<'a> {
    pub(super) fn parse(inner: &'a [u8]) -> Result<Tables<'a>, Error> {
        let header = RawHeader::parse(inner)?;
        let count = u64::from(header.modules) + u64::from(header.ir) + u64::from(header.native);
        let records = bytes::range(inner, HEADER_SIZE, count * RECORD_SIZE, "the records of the SYCLBIN")?;
        let metadata_at = HEADER_SIZE + count * RECORD_SIZE;
        let metadata = bytes::range(inner, metadata_at, header.metadata_size, "the metadata of the SYCLBIN")?;
        let binary_at = metadata_at.checked_add(header.metadata_size).and_then(|end| bytes::align_up(end, 8));
        let binary_at = binary_at.unwrap_or(u64::MAX);
        // Without binaries the padding before them may be missing.
        let binary_at = if header.binary_size == 0 { 0 } else { binary_at };
        let binary = bytes::range(inner, binary_at, header.binary_size, "the binaries of the SYCLBIN")?;
        Ok(Tables { header, records, metadata, binary })
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = Result<RawModule, Error>> {
        self.records(0, self.header.modules).map(|record| RawModule::parse(record?))
    }

    pub(super) fn ir(&self, first: u32, count: u32) -> impl Iterator<Item = Result<RawPayload, Error>> {
        let at = u64::from(self.header.modules) + u64::from(first);
        self.records(at, count).map(|record| RawPayload::parse(record?))
    }

    pub(super) fn native(&self, first: u32, count: u32) -> impl Iterator<Item = Result<RawPayload, Error>> {
        let at = u64::from(self.header.modules) + u64::from(self.header.ir) + u64::from(first);
        self.records(at, count).map(|record| RawPayload::parse(record?))
    }

    fn records(&self, first: u64, count: u32) -> impl Iterator<Item = Result<&'a [u8], Error>> {
        let records = self.records;
        (first..first + u64::from(count)).map(move |index| {
            bytes::range(records, index * RECORD_SIZE, RECORD_SIZE, "the record of the SYCLBIN")
        })
    }
}
