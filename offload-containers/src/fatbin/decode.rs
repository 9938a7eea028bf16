//! Decoding of entries.

use std::borrow::Cow;

use super::entry::{Compression, EntryHeader};
use super::{EntryKind, FatbinEntry};
use crate::{Checksum, frame};
use offload_format::{Error, ErrorKind, Limits, bytes};

const IMAGE: &str = "the inflated image of the fatbin";
/// The largest ratio of an LZ4 block.
const LZ4_RATIO: u64 = 255;

/// A decompressed image.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InflatedImage<'a> {
    /// Its header.
    pub record: EntryHeader<'a>,
    /// Its bytes, without padding.
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> FatbinEntry<'a> {
    /// The image without padding: PTX ends before its terminating zero, a cubin with its tables. For a group it is the whole
    /// stream; see [`FatbinEntry::images`].
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for a recorded size over [`Limits::raw_bytes`] or over [`Limits::ratio`];
    /// [`ErrorKind::Compression`] for damaged bytes; [`ErrorKind::Invalid`] for another size;
    /// [`ErrorKind::Unsupported`] for another compression.
    pub fn image(&self, limits: &Limits) -> Result<Cow<'a, [u8]>, Error> {
        Ok(match self.inflate(limits)? {
            Cow::Borrowed(bytes) => Cow::Borrowed(trim(self.record.kind, bytes)),
            Cow::Owned(mut bytes) => {
                bytes.truncate(trim(self.record.kind, &bytes).len());
                Cow::Owned(bytes)
            }
        })
    }

    /// The checksum that decompression verifies: zstd frames may have one.
    pub fn checksum(&self) -> Option<Checksum> {
        match self.compression {
            Compression::Zstd => frame::checksum(self.stored),
            _ => None,
        }
    }

    /// The image with its header, or the images of a group.
    ///
    /// # Errors
    /// As [`FatbinEntry::image`] and [`FatbinEntry::members`].
    pub fn images(&self, limits: &Limits) -> Result<Vec<InflatedImage<'a>>, Error> {
        if self.record.kind != EntryKind::Group {
            return Ok(vec![InflatedImage { record: self.record, bytes: self.image(limits)? }]);
        }
        let members = self.members(limits)?;
        // Members may share bytes, so that the copies have to be bounded too.
        let sum = members.iter().fold(0, |sum, member| u64::saturating_add(sum, member.size));
        limits.inflated(IMAGE, sum, self.stored.len() as u64)?;
        let stream = self.inflate(limits)?;
        let mut images = Vec::with_capacity(members.len());
        for member in members {
            let bytes = Cow::Owned(member.image(&stream)?.to_vec());
            images.push(InflatedImage { record: member.record, bytes });
        }
        Ok(images)
    }

    /// The stream of a group.
    #[cfg(feature = "contents")]
    pub(crate) fn stream(&self, limits: &Limits) -> Result<Cow<'a, [u8]>, Error> {
        self.inflate(limits)
    }

    fn inflate(&self, limits: &Limits) -> Result<Cow<'a, [u8]>, Error> {
        match self.compression {
            Compression::Stored => Ok(Cow::Borrowed(self.stored)),
            Compression::Lz4 => lz4(self.stored, self.declared(limits)?).map(Cow::Owned),
            Compression::Zstd => frame::inflate(self.stored, self.declared(limits)?).map(Cow::Owned),
            Compression::Unknown => {
                let what = "the compression of a fatbin's entry with flags";
                Err(ErrorKind::Unsupported { what, value: self.record.flags.0 }.into())
            }
        }
    }

    fn declared(&self, limits: &Limits) -> Result<u64, Error> {
        limits.inflated(IMAGE, self.raw_size, self.stored.len() as u64)
    }
}

impl super::Member<'_> {
    /// The image, in the inflated stream of its group.
    pub(crate) fn image<'s>(&self, stream: &'s [u8]) -> Result<&'s [u8], Error> {
        let bytes = bytes::range(stream, self.offset, self.size, IMAGE)?;
        Ok(trim(self.record.kind, bytes))
    }
}

fn lz4(block: &[u8], declared: u64) -> Result<Vec<u8>, Error> {
    const SIZE: &str = "the uncompressed size of the fatbin's entry";
    let max_size = (block.len() as u64).saturating_mul(LZ4_RATIO);
    if declared > max_size {
        return Err(Error::invalid(SIZE, declared));
    }
    let size = usize::try_from(declared).map_err(|_| Error::invalid(SIZE, declared))?;
    let mut out = vec![0; size];
    let written = lz4_flex::block::decompress_into(block, &mut out)
        .map_err(|error| ErrorKind::Compression { format: "LZ4", message: error.to_string() })?;
    if written != size {
        return Err(Error::invalid(SIZE, declared));
    }
    Ok(out)
}

fn trim(kind: EntryKind, image: &[u8]) -> &[u8] {
    let padded = match kind {
        EntryKind::Ptx => image.iter().rev().take_while(|byte| **byte == 0).count(),
        EntryKind::Elf => elf_padding(image),
        EntryKind::LtoIr | EntryKind::Group | EntryKind::Unknown(_) => 0,
    };
    image.get(..image.len().saturating_sub(padded)).unwrap_or(image)
}

/// The number of bytes behind the tables of an ELF file that pad it to a multiple of 8. A cubin ends with its program
/// headers, or, if it has none, with its section headers.
fn elf_padding(image: &[u8]) -> usize {
    let end = table_end(image, 0x20, 0x36).max(table_end(image, 0x28, 0x3a));
    let padding = end.and_then(|end| (image.len() as u64).checked_sub(end));
    padding.filter(|padding| *padding < 8).unwrap_or(0) as usize
}

/// The end of an ELF table, whose offset is in the field at `offset_field`, and entry size and count at `size_field`.
fn table_end(image: &[u8], offset_field: u64, size_field: u64) -> Option<u64> {
    let offset = bytes::u64_at(image, offset_field, "").ok()?;
    let entry_size = bytes::u16_at(image, size_field, "").ok()?;
    let count = bytes::u16_at(image, size_field.checked_add(2)?, "").ok()?;
    offset.checked_add(u64::from(entry_size).checked_mul(count.into())?)
}
