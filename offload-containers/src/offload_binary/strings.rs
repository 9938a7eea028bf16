//! The string map of an entry, read in place.

use std::ffi::CStr;

use super::raw::{RawEntry, RawHeader};
use offload_format::limits::Budget;
use offload_format::{Error, ErrorKind, bytes};

const WHAT: &str = "a string of the OffloadBinary";

/// The map of one entry in the inflated binary.
#[derive(Clone, Copy, Debug)]
pub(super) struct StringMap<'a> {
    binary: &'a [u8],
    map: &'a [u8],
    pair_size: u64,
}

impl<'a> StringMap<'a> {
    /// The map of `entry`.
    pub fn new(binary: &'a [u8], header: &RawHeader, entry: &RawEntry) -> Result<StringMap<'a>, Error> {
        let pair_size = header.pair_size();
        let size = entry.strings.checked_mul(pair_size);
        let size = size.ok_or_else(|| Error::truncated(WHAT, entry.strings_offset, u64::MAX))?;
        // LLVM's packager leaves the offset of an empty map undefined.
        let at = if size == 0 { 0 } else { entry.strings_offset };
        Ok(StringMap { binary, map: bytes::range(binary, at, size, WHAT)?, pair_size })
    }

    /// Checks every string. Maps may overlap, so that `budget` bounds the sum of their strings.
    pub fn check(&self, budget: &mut Budget) -> Result<(), Error> {
        for index in 0..self.len() {
            budget.spend(self.pair_size)?;
            let (key, value) = self.pair(index)?;
            budget.spend((key.len() as u64).saturating_add(value.len() as u64))?;
        }
        Ok(())
    }

    /// The pairs of a checked map.
    pub fn pairs(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        (0..self.len()).filter_map(move |index| self.pair(index).ok())
    }

    fn len(&self) -> u64 {
        (self.map.len() as u64).checked_div(self.pair_size).unwrap_or(0)
    }

    fn pair(&self, index: u64) -> Result<(&'a [u8], &'a [u8]), Error> {
        let at = index.saturating_mul(self.pair_size);
        let key = self.terminated(bytes::u64_at(self.map, at, WHAT)?)?;
        let value = bytes::u64_at(self.map, at.saturating_add(8), WHAT)?;
        if self.pair_size < 24 {
            return Ok((key, self.terminated(value)?));
        }
        let size = bytes::u64_at(self.map, at.saturating_add(16), WHAT)?;
        Ok((key, bytes::range(self.binary, value, size, WHAT)?))
    }

    /// The zero-terminated string at `offset`.
    fn terminated(&self, offset: u64) -> Result<&'a [u8], Error> {
        let size = (self.binary.len() as u64).saturating_sub(offset);
        let rest = bytes::range(self.binary, offset, size, WHAT)?;
        let text = CStr::from_bytes_until_nul(rest);
        text.map(CStr::to_bytes).map_err(|_| ErrorKind::Text { what: WHAT, offset }.into())
    }
}
