//! Checked little-endian reads: nothing else in this crate slices its input.

use crate::{Error, ErrorKind};

/// `size` bytes of `bytes` at `offset`; `what` names the structure in the error.
///
/// # Errors
/// [`ErrorKind::Truncated`] if the range is not inside `bytes`.
pub fn range<'a>(bytes: &'a [u8], offset: u64, size: u64, what: &'static str) -> Result<&'a [u8], Error> {
    slice(bytes, offset, size).ok_or_else(|| Error::truncated(what, offset, size))
}

fn slice(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = usize::try_from(offset.checked_add(size)?).ok()?;
    bytes.get(start..end)
}

/// The `N` bytes at `offset`.
///
/// # Errors
/// [`ErrorKind::Truncated`] if they are not all there.
pub fn array<const N: usize>(bytes: &[u8], offset: u64, what: &'static str) -> Result<[u8; N], Error> {
    let slice = range(bytes, offset, N as u64, what)?;
    slice.try_into().map_err(|_| Error::truncated(what, offset, N as u64))
}

/// The `u16` at `offset`.
///
/// # Errors
/// [`ErrorKind::Truncated`].
pub fn u16_at(bytes: &[u8], offset: u64, what: &'static str) -> Result<u16, Error> {
    array(bytes, offset, what).map(u16::from_le_bytes)
}

/// The `u32` at `offset`.
///
/// # Errors
/// [`ErrorKind::Truncated`].
pub fn u32_at(bytes: &[u8], offset: u64, what: &'static str) -> Result<u32, Error> {
    array(bytes, offset, what).map(u32::from_le_bytes)
}

/// The `u64` at `offset`.
///
/// # Errors
/// [`ErrorKind::Truncated`].
pub fn u64_at(bytes: &[u8], offset: u64, what: &'static str) -> Result<u64, Error> {
    array(bytes, offset, what).map(u64::from_le_bytes)
}

/// The `i64` at `offset`.
///
/// # Errors
/// [`ErrorKind::Truncated`].
pub fn i64_at(bytes: &[u8], offset: u64, what: &'static str) -> Result<i64, Error> {
    array(bytes, offset, what).map(i64::from_le_bytes)
}

/// UTF-8 text of `size` bytes at `offset`.
///
/// # Errors
/// [`ErrorKind::Truncated`], or [`ErrorKind::Text`] if it is not UTF-8.
pub fn text_at<'a>(bytes: &'a [u8], offset: u64, size: u64, what: &'static str) -> Result<&'a str, Error> {
    let slice = range(bytes, offset, size, what)?;
    std::str::from_utf8(slice).map_err(|_| ErrorKind::Text { what, offset }.into())
}

/// `offset` rounded up to a multiple of `align`, a power of two; `None` on overflow.
pub fn align_up(offset: u64, align: u64) -> Option<u64> {
    offset.checked_next_multiple_of(align)
}
