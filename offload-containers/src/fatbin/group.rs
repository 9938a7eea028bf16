//! Groups: several images in one compressed stream, with a table in the appendix of the entry's header.
//!
//! The table is {u32 number, u32 size with these 8 bytes}, then a header for each member as for an entry, with the
//! offset in the stream in place of the header's size.

use super::entry::{EntryHeader, HEADER_SIZE};
use super::{EntryKind, FatbinEntry};
use offload_format::{Error, Limits, bytes};

const TABLE: &str = "the table of the fatbin's group";

/// An image of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member<'a> {
    /// What the table says about the image.
    pub record: EntryHeader<'a>,
    /// Where it lies in the inflated stream, in bytes.
    pub offset: u64,
    /// Its size with what pads it, in bytes.
    pub size: u64,
}

impl<'a> FatbinEntry<'a> {
    /// The images of a group; none for another entry.
    ///
    /// # Errors
    /// [`Truncated`](offload_format::ErrorKind::Truncated) for a table or an image that is not where it should be;
    /// [`TooMany`](offload_format::ErrorKind::TooMany) over [`Limits::entries`].
    pub fn members(&self, limits: &Limits) -> Result<Vec<Member<'a>>, Error> {
        if self.record.kind != EntryKind::Group {
            return Ok(Vec::new());
        }
        let at = bytes::u32_at(self.header, 20, TABLE)?.into();
        let (count, size) = (
            bytes::u32_at(self.header, at, TABLE)?,
            bytes::u32_at(self.header, at.saturating_add(4), TABLE)?,
        );
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
    let (offset, size) = (bytes::u32_at(input, 4, TABLE)?.into(), bytes::u64_at(input, 8, TABLE)?);
    let inside = |end: &u64| *end <= stream;
    u64::checked_add(offset, size)
        .filter(inside)
        .ok_or_else(|| Error::truncated("an image of the fatbin's group", offset, size))?;
    let step = header_size(input)?;
    let behind = usize::try_from(step).ok().and_then(|step| input.get(step..));
    let behind = behind.ok_or_else(|| Error::truncated(TABLE, 0, step))?;
    Ok((Member { record, offset, size }, behind))
}

/// The table does not say where the next member begins: its name and its options, each with a zero at its end, are
/// padded to 8 bytes.
fn header_size(input: &[u8]) -> Result<u64, Error> {
    let padded = |size: u32| u64::from(size).saturating_add(1).next_multiple_of(8);
    let mut size = HEADER_SIZE;
    if bytes::u32_at(input, 32, TABLE)? != 0 {
        size = size.saturating_add(padded(bytes::u32_at(input, 36, TABLE)?));
    }
    let options = bytes::u32_at(input, 20, TABLE)?;
    if options != 0 {
        let text = bytes::u32_at(input, u64::from(options).saturating_add(4), TABLE)?;
        size = size.saturating_add(8).saturating_add(padded(text));
    }
    Ok(size)
}
