//! The compressed body of version 3: one zstd frame or zlib stream behind the header.

use super::raw::RawHeader;
use crate::{Checksum, frame};
use offload_format::{Error, Limits, bytes};

/// The whole binary with its header, inflated to exactly the recorded size.
///
/// # Errors
/// [`ErrorKind::TooLarge`](offload_format::ErrorKind) over the limit, `Invalid`, `Zstd` or `Zlib`.
pub(super) fn inflate(binary: &[u8], header: &RawHeader, limits: &Limits) -> Result<Vec<u8>, Error> {
    const WHAT: &str = "the inflated size of the OffloadBinary";
    let size = header.inflated_size;
    let body = size.checked_sub(header.header_size()).ok_or_else(|| Error::invalid(WHAT, size))?;
    let head = bytes::range(binary, 0, header.header_size(), "the OffloadBinary header")?;
    let compressed = (binary.len() as u64).saturating_sub(header.header_size());
    let compressed = bytes::range(binary, header.header_size(), compressed, "the body of the OffloadBinary")?;
    let body = limits.inflated(WHAT, body, compressed.len() as u64)?;
    let body = if compressed.starts_with(&frame::MAGIC) {
        frame::inflate(compressed, body)?
    } else {
        zlib(compressed, body)?
    };
    Ok([head, &body].concat())
}

/// The checksum that [`inflate`] verifies: a zlib stream always has one.
pub(super) fn checksum(binary: &[u8], header: &RawHeader) -> Option<Checksum> {
    let start = usize::try_from(header.header_size()).unwrap_or(usize::MAX);
    let body = binary.get(start..).unwrap_or_default();
    if body.starts_with(&frame::MAGIC) { frame::checksum(body) } else { Some(Checksum::Adler32) }
}

#[cfg(feature = "zlib")]
fn zlib(stream: &[u8], declared: u64) -> Result<Vec<u8>, Error> {
    crate::zlib::inflate(stream, declared)
}

#[cfg(not(feature = "zlib"))]
fn zlib(stream: &[u8], _: u64) -> Result<Vec<u8>, Error> {
    let first = stream.first().copied().unwrap_or_default();
    let what = "compression method";
    Err(offload_format::ErrorKind::Unsupported { what, value: first.into() }.into())
}
