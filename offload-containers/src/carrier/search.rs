//! What a search has found, and what it may still take.

use super::found::{Found, Place};
use super::kind::FileKind;
use super::memory::Memory;
use offload_format::limits::{Budget, push};
use offload_format::{Error, ErrorKind, Limits};

/// However deep the caller allows: each level takes room on the stack.
const DEEPEST: u32 = 64;

/// A part of the bytes being searched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part<'a> {
    /// What is searched: the file, a member of an archive, or an architecture's part.
    pub(super) file: &'a [u8],
    /// Where it starts in `file`.
    pub(super) offset: u64,
    /// Its size in bytes.
    pub(super) size: u64,
}

impl<'a> Part<'a> {
    /// All of `file`.
    pub(super) fn whole(file: &'a [u8]) -> Part<'a> {
        Part { file, offset: 0, size: file.len() as u64 }
    }

    /// `size` bytes from `offset` bytes behind its start on.
    pub(super) fn inner(self, offset: u64, size: u64) -> Part<'a> {
        Part { offset: self.offset.saturating_add(offset), size, ..self }
    }

    /// Its bytes.
    pub(super) fn bytes(self) -> Result<&'a [u8], Error> {
        offload_format::bytes::range(self.file, self.offset, self.size, "the device images")
    }
}

/// Where the bytes being searched lie in the file.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) offset: u64,
    pub(super) member: Option<&'a [u8]>,
    pub(super) depth: u32,
}

pub(super) struct Search<'a> {
    pub(super) limits: Limits,
    pub(super) found: Vec<Found<'a>>,
    /// Archives and sections may claim the same bytes again and again.
    pub(super) budget: Budget,
    /// What holds the file, if it wants to know what was searched.
    pub(super) memory: Option<&'a dyn Memory>,
}

impl<'a> Search<'a> {
    /// One level further in.
    pub(super) fn inner(&self, at: At<'a>, offset: u64, member: Option<&'a [u8]>) -> Result<At<'a>, Error> {
        let depth = at.depth.saturating_add(1);
        let limit = self.limits.depth.min(DEEPEST);
        if depth > limit {
            return Err(ErrorKind::Nested { what: "archives", limit }.into());
        }
        Ok(At { offset: at.offset.saturating_add(offset), member: member.or(at.member), depth })
    }

    /// Adds a part.
    pub(super) fn add(&mut self, part: Part<'a>, place: Place<'a>, at: At<'a>) -> Result<(), Error> {
        let bytes = part.bytes()?;
        let kind = FileKind::detect(bytes);
        let offset = at.offset.saturating_add(part.offset);
        self.limits.records("the list of device images", self.found.len() as u64 + 1)?;
        push(&mut self.found, Found { kind, offset, bytes, place, member: at.member });
        Ok(())
    }
}
