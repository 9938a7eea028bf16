//! Inflating what a foreign file declares the size of, and not a byte more.

use std::io::Read;

use crate::{Error, ErrorKind};

/// First bytes of a zstd frame (RFC 8878, section 3.1.1).
pub(crate) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// zstd's own limit of a window for streaming; a frame that needs more is refused.
const WINDOW_LOG: u32 = 27;

/// Appends exactly `size` inflated bytes of a zstd frame or zlib stream to `out`; `limit` bounds `size`.
///
/// Memory grows with what really comes out: the declared size is a claim.
pub(crate) fn into(out: Vec<u8>, compressed: &[u8], (size, limit): (u64, u64)) -> Result<Vec<u8>, Error> {
    if size > limit {
        return Err(ErrorKind::TooLarge { what: "the inflated container", size, limit }.into());
    }
    if compressed.starts_with(&ZSTD_MAGIC) {
        let failed = |error: std::io::Error| Error::from(ErrorKind::Zstd { message: error.to_string() });
        let mut decoder = zstd::Decoder::with_buffer(compressed).map_err(failed)?;
        decoder.window_log_max(WINDOW_LOG).map_err(failed)?;
        return read_exactly(decoder.single_frame(), out, size).map_err(failed)?;
    }
    zlib(out, compressed, size)
}

#[cfg(feature = "zlib")]
fn zlib(out: Vec<u8>, compressed: &[u8], size: u64) -> Result<Vec<u8>, Error> {
    let decoder = flate2::bufread::ZlibDecoder::new(compressed);
    read_exactly(decoder, out, size)
        .map_err(|error| Error::from(ErrorKind::Zlib { message: error.to_string() }))?
}

#[cfg(not(feature = "zlib"))]
fn zlib(_: Vec<u8>, compressed: &[u8], _: u64) -> Result<Vec<u8>, Error> {
    let first = compressed.first().copied().unwrap_or_default();
    Err(ErrorKind::Unsupported { what: "a container that is compressed by method", value: first.into() }
        .into())
}

/// Reads to the end, so that a checksum there is verified.
fn read_exactly(reader: impl Read, mut out: Vec<u8>, size: u64) -> std::io::Result<Result<Vec<u8>, Error>> {
    let before = out.len();
    reader.take(size.saturating_add(1)).read_to_end(&mut out)?;
    let found = out.len().saturating_sub(before) as u64;
    if found == size {
        return Ok(Ok(out));
    }
    Ok(Err(Error::invalid("recorded size of the compressed bytes", size)))
}
