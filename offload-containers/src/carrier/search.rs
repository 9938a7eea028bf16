//! What a search has found, and what it may still take.

use super::found::{Found, Place};
use super::kind::FileKind;
use offload_format::limits::{Budget, push};
use offload_format::{Error, ErrorKind, Limits};

/// However deep the caller allows: each level takes room on the stack.
const DEEPEST: u32 = 64;

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

    /// Adds `size` bytes at `offset` of `file`.
    pub(super) fn add(
        &mut self,
        file: &'a [u8],
        (offset, size): (u64, u64),
        place: Place<'a>,
        at: At<'a>,
    ) -> Result<(), Error> {
        let bytes = offload_format::bytes::range(file, offset, size, "device images")?;
        let kind = FileKind::detect(bytes);
        let offset = at.offset.saturating_add(offset);
        self.limits.records("the list of device images", self.found.len() as u64 + 1)?;
        push(&mut self.found, Found { kind, offset, bytes, place, member: at.member });
        Ok(())
    }
}
