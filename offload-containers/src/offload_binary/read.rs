//! The reader of all three versions.

use std::borrow::Cow;

use super::raw::{ENTRY_SIZE, RawEntry, RawHeader};
use super::strings::StringMap;
use super::{ALIGN, OffloadKindNumber, inflate};
use crate::Checksum;
use offload_format::limits::Budget;
use offload_format::{Error, ErrorKind, Limits, bytes};

/// One binary; [`Binary::entries`] are its images.
#[derive(Clone, Debug)]
pub struct Binary<'a> {
    /// The inflated binary with its header.
    bytes: Cow<'a, [u8]>,
    header: RawHeader,
    entries: Vec<RawEntry>,
    checksum: Option<Checksum>,
}

/// An image with the strings that describe it.
#[derive(Clone, Copy, Debug)]
pub struct OffloadEntry<'a> {
    /// LLVM's number of the image kind; releases disagree on that of SYCLBIN.
    pub image_kind: u16,
    /// The number of the offload kind.
    pub offload_kind: OffloadKindNumber,
    /// [`FLAG_METADATA`](super::FLAG_METADATA) or 0.
    pub flags: u32,
    /// The image.
    pub image: &'a [u8],
    strings: StringMap<'a>,
}

/// The binaries of a file or section, one after another.
#[derive(Clone, Debug)]
pub struct Binaries<'a> {
    file: &'a [u8],
    at: u64,
    limits: Limits,
}

/// Reads every binary of `file`.
///
/// # Errors
/// Those of [`Binaries`].
pub fn parse<'a>(file: &'a [u8], limits: &Limits) -> Result<Vec<Binary<'a>>, Error> {
    binaries(file, limits).collect()
}

/// The binaries of `file`; `limits` hold for their sum.
pub fn binaries<'a>(file: &'a [u8], limits: &Limits) -> Binaries<'a> {
    Binaries { file, at: 0, limits: *limits }
}

impl<'a> Binary<'a> {
    /// Reads the binary at the start of `input`, which may be longer.
    ///
    /// # Errors
    /// [`ErrorKind::Magic`], [`ErrorKind::Version`], [`ErrorKind::Truncated`], [`ErrorKind::Invalid`],
    /// [`ErrorKind::Text`] for a string without an end, and [`ErrorKind::TooMany`], [`ErrorKind::TooLarge`] over the
    /// limits; for a compressed one also those of the method.
    pub fn parse(input: &'a [u8], limits: &Limits) -> Result<Binary<'a>, Error> {
        let header = RawHeader::parse(input)?;
        header.count()?;
        let stored = bytes::range(input, 0, header.size.max(header.header_size()), "OffloadBinary")?;
        let bytes = match header.inflated_size {
            0 => Cow::Borrowed(stored),
            _ => Cow::Owned(inflate::inflate(stored, &header, limits)?),
        };
        let entries = read_entries(&bytes, &header, limits)?;
        let checksum = match header.inflated_size {
            0 => None,
            _ => inflate::checksum(stored, &header),
        };
        Ok(Binary { bytes, header, entries, checksum })
    }

    /// The header on disk.
    pub fn header(&self) -> &RawHeader {
        &self.header
    }

    /// The checksum that [`Binary::parse`] has verified; `None` for a binary that is not compressed.
    pub fn checksum(&self) -> Option<Checksum> {
        self.checksum
    }

    /// The entries on disk.
    pub fn raw_entries(&self) -> &[RawEntry] {
        &self.entries
    }

    /// The images with their strings, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = OffloadEntry<'_>> {
        // `parse` has checked all of them.
        self.entries.iter().filter_map(|raw| OffloadEntry::new(&self.bytes, &self.header, raw).ok())
    }
}

impl<'a> OffloadEntry<'a> {
    fn new(binary: &'a [u8], header: &RawHeader, raw: &RawEntry) -> Result<OffloadEntry<'a>, Error> {
        // LLVM's packager leaves the offset of an empty image undefined.
        let at = if raw.image_size == 0 { 0 } else { raw.image_offset };
        Ok(OffloadEntry {
            image_kind: raw.image_kind,
            offload_kind: OffloadKindNumber(raw.offload_kind),
            flags: raw.flags,
            image: bytes::range(binary, at, raw.image_size, "the image of an OffloadBinary")?,
            strings: StringMap::new(binary, header, raw)?,
        })
    }

    /// The strings, in the order of the file.
    pub fn strings(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        self.strings.pairs()
    }

    /// The value of the string `key`.
    pub fn string(&self, key: &str) -> Option<&'a [u8]> {
        self.strings().find(|(other, _)| *other == key.as_bytes()).map(|(_, value)| value)
    }

    /// The value of the string `key`, if it is UTF-8: `triple`, `arch`, `feature`.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        std::str::from_utf8(self.string(key)?).ok()
    }
}

/// Reads the entries, and checks everything that they refer to.
fn read_entries(binary: &[u8], header: &RawHeader, limits: &Limits) -> Result<Vec<RawEntry>, Error> {
    const WHAT: &str = "the table of entries of the OffloadBinary";
    let count = limits.records("the OffloadBinary", header.count()?)?;
    let table = bytes::range(binary, header.entries_offset, count.saturating_mul(ENTRY_SIZE), WHAT)?;
    let mut budget = Budget::for_file(WHAT, binary.len() as u64);
    let mut entries = Vec::new();
    for record in table.chunks_exact(ENTRY_SIZE as usize) {
        let raw = RawEntry::parse(record)?;
        OffloadEntry::new(binary, header, &raw)?.strings.check(&mut budget)?;
        entries.push(raw);
    }
    Ok(entries)
}

/// The first entry of an uncompressed binary: all that a SYCL runtime reads. Its strings are not checked.
#[cfg(feature = "syclbin")]
pub(crate) fn first(input: &[u8]) -> Result<(RawHeader, OffloadEntry<'_>), Error> {
    let header = RawHeader::parse(input)?;
    if header.count()? == 0 {
        return Err(ErrorKind::Missing { what: "the entry of the OffloadBinary" }.into());
    }
    if header.inflated_size != 0 {
        return Err(Error::invalid(
            "the inflated size of the OffloadBinary around a SYCLBIN",
            header.inflated_size,
        ));
    }
    let binary = bytes::range(input, 0, header.size.max(header.header_size()), "OffloadBinary")?;
    let record = bytes::range(binary, header.entries_offset, ENTRY_SIZE, "the OffloadBinary entry")?;
    let raw = RawEntry::parse(record)?;
    Ok((header, OffloadEntry::new(binary, &header, &raw)?))
}

/// The entries of an uncompressed binary.
#[cfg(feature = "syclbin")]
pub(crate) fn borrowed<'a>(input: &'a [u8], limits: &Limits) -> Result<Vec<OffloadEntry<'a>>, Error> {
    let (header, _) = first(input)?;
    let binary = bytes::range(input, 0, header.size.max(header.header_size()), "OffloadBinary")?;
    let raw = read_entries(binary, &header, limits)?;
    raw.iter().map(|raw| OffloadEntry::new(binary, &header, raw)).collect()
}

impl<'a> Binaries<'a> {
    /// The offset of the next binary in the file, in bytes.
    pub fn offset(&self) -> u64 {
        self.at
    }

    fn rest(&self) -> &'a [u8] {
        let size = (self.file.len() as u64).saturating_sub(self.at);
        bytes::range(self.file, self.at, size, "OffloadBinary").unwrap_or_default()
    }

    /// The offset of the binary behind this one, if its size is plausible.
    fn end(&self, header: &RawHeader) -> Option<u64> {
        let end = self.at.checked_add(header.size)?;
        // LLVM aligns the next binary only behind version 3, whose size is not a multiple of the alignment.
        let end = if header.version < 3 { end } else { bytes::align_up(end, ALIGN)? };
        (header.size >= header.header_size()).then_some(end)
    }

    fn read(&mut self, rest: &'a [u8]) -> Result<Binary<'a>, Error> {
        let binary = Binary::parse(rest, &self.limits)?;
        self.limits.entries = self.limits.entries.saturating_sub(binary.entries.len() as u64);
        self.limits.raw_bytes = self.limits.raw_bytes.saturating_sub(binary.header.inflated_size);
        Ok(binary)
    }
}

/// A binary of a later version is an error, and the iteration continues behind it; it ends after any other error.
impl<'a> Iterator for Binaries<'a> {
    type Item = Result<Binary<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest();
        // Padding at the end of a section.
        if rest.iter().take(ALIGN as usize).all(|byte| *byte == 0) && rest.len() < ALIGN as usize {
            return None;
        }
        let end = RawHeader::parse(rest).ok().and_then(|header| self.end(&header));
        let binary = self.read(rest);
        let can_continue = match &binary {
            Ok(_) => true,
            Err(error) => matches!(error.kind(), ErrorKind::Version { .. }),
        };
        self.at = end.filter(|_| can_continue).unwrap_or(self.file.len() as u64);
        Some(binary)
    }
}
