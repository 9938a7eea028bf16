//! Groups: several images in one compressed stream, with a table in the appendix of the entry's header.
//!
//! The table is {u32 count, u32 size with these 8 bytes}, then an entry header for each member, with the offset in the
//! stream in place of the header size.

use super::entry::{EntryHeader, HEADER_SIZE};
use super::{EntryKind, FatbinEntry};
use offload_format::{Error, Limits, bytes};

const TABLE: &str = "the table of the fatbin's group";

/// An image of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member<'a> {
    /// The header of the image.
    pub record: EntryHeader<'a>,
    /// Its offset in the inflated stream, in bytes.
    pub offset: u64,
    /// Its size with padding, in bytes.
    pub size: u64,
}

impl<'a> FatbinEntry<'a> {
    /// The images of a group; empty for another entry.
    ///
    /// # Errors
    /// [`Truncated`](offload_format::ErrorKind::Truncated) for a table or an image out of bounds;
    /// [`TooMany`](offload_format::ErrorKind::TooMany) over [`Limits::entries`].
    pub fn members(&self, limits: &Limits) -> Result<Vec<Member<'a>>, Error> {
        if self.record.kind != EntryKind::Group {
            return Ok(Vec::new());
        }
        let at = bytes::u32_at(self.header, 20, TABLE)?.into();
        let count = bytes::u32_at(self.header, at, TABLE)?;
        let size = bytes::u32_at(self.header, at.saturating_add(4), TABLE)?;
        limits.records(TABLE, count.into())?;
        let table = bytes::range(self.header, at, size.into(), TABLE)?;
        let mut rest = table.get(8..).unwrap_or_default();
        let mut members = Vec::new();
        for _ in 0..count {
            let (member, behind) = member(rest, self.raw_size)?;
            members.push(member);
            rest = behind;
        }
        Ok(members)
    }
}

fn member(input: &[u8], stream: u64) -> Result<(Member<'_>, &[u8]), Error> {
    let record = EntryHeader::read(input)?;
    let offset: u64 = bytes::u32_at(input, 4, TABLE)?.into();
    let size = bytes::u64_at(input, 8, TABLE)?;
    if offset.checked_add(size).is_none_or(|end| end > stream) {
        return Err(Error::truncated("an image of the fatbin's group", offset, size));
    }
    let step = header_size(input)?;
    let behind = usize::try_from(step).ok().and_then(|step| input.get(step..));
    let behind = behind.ok_or_else(|| Error::truncated(TABLE, 0, step))?;
    Ok((Member { record, offset, size }, behind))
}

/// The size of a member's header, which the table does not record: name and options follow it, zero-terminated and padded
/// to 8 bytes.
fn header_size(input: &[u8]) -> Result<u64, Error> {
    let mut size = HEADER_SIZE;
    if bytes::u32_at(input, 32, TABLE)? != 0 {
        size = size.saturating_add(padded_text_size(bytes::u32_at(input, 36, TABLE)?));
    }
    let options = bytes::u32_at(input, 20, TABLE)?;
    if options != 0 {
        let text = bytes::u32_at(input, u64::from(options).saturating_add(4), TABLE)?;
        size = size.saturating_add(8).saturating_add(padded_text_size(text));
    }
    Ok(size)
}

fn padded_text_size(size: u32) -> u64 {
    u64::from(size).saturating_add(1).next_multiple_of(8)
}
