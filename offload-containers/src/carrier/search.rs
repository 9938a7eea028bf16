//! The state of a search: results and budget.

use super::kind::FileKind;
use super::memory::Memory;
use super::range::{ImageRange, RangeOrigin};
use offload_format::limits::{Budget, push};
use offload_format::{Error, ErrorKind, Limits};

/// The nesting depth, whatever the caller allows: each level takes stack space.
const MAX_DEPTH: u32 = 64;

/// A range of the searched bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileRange<'a> {
    /// The searched bytes: the file, a member of an archive, or one architecture of a universal file.
    pub(super) file: &'a [u8],
    /// Its offset in `file`.
    pub(super) offset: u64,
    /// Its size in bytes.
    pub(super) size: u64,
}

impl<'a> FileRange<'a> {
    /// All of `file`.
    pub(super) fn whole(file: &'a [u8]) -> FileRange<'a> {
        FileRange { file, offset: 0, size: file.len() as u64 }
    }

    /// The subrange of `size` bytes at `offset`.
    pub(super) fn inner(self, offset: u64, size: u64) -> FileRange<'a> {
        FileRange { offset: self.offset.saturating_add(offset), size, ..self }
    }

    /// Its bytes.
    pub(super) fn bytes(self) -> Result<&'a [u8], Error> {
        offload_format::bytes::range(self.file, self.offset, self.size, "the device images")
    }
}

/// The position of the searched bytes in the file.
#[derive(Clone, Copy)]
pub(super) struct Position<'a> {
    pub(super) offset: u64,
    pub(super) member: Option<&'a [u8]>,
    pub(super) depth: u32,
}

pub(super) struct Search<'a> {
    pub(super) limits: Limits,
    pub(super) found: Vec<ImageRange<'a>>,
    /// Bounds the work: archives and sections may claim the same bytes many times.
    pub(super) budget: Budget,
    /// Releases searched bytes.
    pub(super) memory: Option<&'a dyn Memory>,
}

impl<'a> Search<'a> {
    /// The position one level deeper.
    pub(super) fn inner(
        &self,
        at: Position<'a>,
        offset: u64,
        member: Option<&'a [u8]>,
    ) -> Result<Position<'a>, Error> {
        let depth = at.depth.saturating_add(1);
        let limit = self.limits.depth.min(MAX_DEPTH);
        if depth > limit {
            return Err(ErrorKind::Nested { what: "archives", limit }.into());
        }
        Ok(Position { offset: at.offset.saturating_add(offset), member: member.or(at.member), depth })
    }

    /// Adds a range to the results.
    pub(super) fn add(
        &mut self,
        range: FileRange<'a>,
        origin: RangeOrigin<'a>,
        at: Position<'a>,
    ) -> Result<(), Error> {
        let bytes = range.bytes()?;
        let kind = FileKind::detect(bytes);
        let offset = at.offset.saturating_add(range.offset);
        self.limits.records("the list of device images", self.found.len() as u64 + 1)?;
        push(&mut self.found, ImageRange { kind, offset, bytes, origin, member: at.member });
        Ok(())
    }
}
