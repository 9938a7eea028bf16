//! Checked conversions of sizes, record numbers and offsets for the writer.

use super::layout::ALIGN;
use crate::{Error, bytes};

pub(super) fn small(value: usize) -> Result<u32, Error> {
    u32::try_from(value).map_err(|_| too_large(value as u64))
}

pub(super) fn usize_of(value: u64) -> Result<usize, Error> {
    usize::try_from(value).map_err(|_| too_large(value))
}

pub(super) fn aligned(offset: u64) -> Result<u64, Error> {
    bytes::align_up(offset, ALIGN).ok_or_else(|| too_large(offset))
}

pub(super) fn too_large(value: u64) -> Error {
    Error::invalid("the size of the pack", value)
}
