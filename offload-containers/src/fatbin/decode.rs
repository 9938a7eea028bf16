//! From an entry to its images.

use std::borrow::Cow;

use super::entry::{Compression, EntryHeader};
use super::{EntryKind, FatbinEntry};
use crate::{Checksum, frame};
use offload_format::{Error, ErrorKind, Limits, bytes};

const IMAGE: &str = "the inflated image of the fatbin";
/// An LZ4 sequence makes at most 255 bytes of one.
const LZ4_RATIO: u64 = 255;

/// An image, no longer compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InflatedImage<'a> {
    /// What the header says about it.
    pub record: EntryHeader<'a>,
    /// Its bytes, without what pads them.
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> FatbinEntry<'a> {
    /// The image, without what pads it: PTX ends before the zero behind it, a cubin with its tables. The members of a
    /// group come as they lie in the stream; see [`FatbinEntry::images`].
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

    /// With what the content is compared where it is inflated: zstd frames may have a checksum.
    pub fn checksum(&self) -> Option<Checksum> {
        match self.compression {
            Compression::Zstd => frame::checksum(self.stored),
            _ => None,
        }
    }

    /// The image with its record, or those of a group.
    ///
    /// # Errors
    /// As [`FatbinEntry::image`] and [`FatbinEntry::members`].
    pub fn images(&self, limits: &Limits) -> Result<Vec<InflatedImage<'a>>, Error> {
        if self.record.kind != EntryKind::Group {
            return Ok(vec![InflatedImage { record: self.record, bytes: self.image(limits)? }]);
        }
        let members = self.members(limits)?;
        // Members may claim the same bytes; what a caller gets is bounded as what is inflated.
        let sum = members.iter().fold(0, |sum, member| u64::saturating_add(sum, member.size));
        limits.inflated(IMAGE, sum, self.stored.len() as u64)?;
        let stream = self.inflate(limits)?;
        let image = |member: &super::Member<'a>| {
            let bytes = Cow::Owned(member.image(&stream)?.to_vec());
            Ok(InflatedImage { record: member.record, bytes })
        };
        members.iter().map(image).collect()
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
    let possible = (block.len() as u64).saturating_mul(LZ4_RATIO);
    let mismatch = || Error::invalid("the uncompressed size of the fatbin's entry", declared);
    let size = usize::try_from(declared).ok().filter(|_| declared <= possible).ok_or_else(mismatch)?;
    let failed = |error: lz4_flex::block::DecompressError| ErrorKind::Compression {
        format: "LZ4",
        message: error.to_string(),
    };
    let mut out = vec![0; size];
    let made = lz4_flex::block::decompress_into(block, &mut out).map_err(failed)?;
    if made == size { Ok(out) } else { Err(mismatch()) }
}

fn trim(kind: EntryKind, image: &[u8]) -> &[u8] {
    let padded = match kind {
        EntryKind::Ptx => image.iter().rev().take_while(|byte| **byte == 0).count(),
        EntryKind::Elf => elf_padding(image),
        EntryKind::LtoIr | EntryKind::Group | EntryKind::Unknown(_) => 0,
    };
    image.get(..image.len().saturating_sub(padded)).unwrap_or(image)
}

/// How many bytes behind the tables of an ELF file pad it to a multiple of 8. A cubin ends with its program headers, or,
/// if it has none, with its section headers.
fn elf_padding(image: &[u8]) -> usize {
    let size = |at: u64, number: u64| {
        let (entry, count) =
            (bytes::u16_at(image, number, "").ok()?, bytes::u16_at(image, number.checked_add(2)?, "").ok()?);
        bytes::u64_at(image, at, "").ok()?.checked_add(u64::from(entry).checked_mul(count.into())?)
    };
    let end = size(0x20, 0x36).max(size(0x28, 0x3a));
    let padding = end.and_then(|end| (image.len() as u64).checked_sub(end));
    padding.filter(|padding| *padding < 8).unwrap_or(0) as usize
}
