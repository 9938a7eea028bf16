//! Decompression of zstd frames to exactly the declared size.

#[cfg(any(feature = "ccob", feature = "fatbin"))]
mod deflate;
#[cfg(feature = "ccob")]
mod steps;

use std::io::Read as _;

use zstd::zstd_safe::{DCtx, find_frame_compressed_size, get_error_name, get_frame_content_size};

#[cfg(any(feature = "ccob", feature = "fatbin"))]
pub(crate) use self::deflate::deflate;
#[cfg(feature = "ccob")]
pub(crate) use self::steps::Steps;
#[cfg(any(feature = "fatbin", feature = "offload-binary"))]
use crate::Checksum;
use offload_format::{Error, ErrorKind};

/// First bytes of a frame (RFC 8878, section 3.1.1).
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A bit of the frame's descriptor that encoders leave 0 and decoders ignore (RFC 8878, section 3.1.1.1.1.4).
const UNUSED_BIT: u8 = 0x10;
/// The bit of the frame's descriptor for a checksum behind the content, which decoders verify (section 3.1.1.1.1.5).
#[cfg(any(feature = "fatbin", feature = "offload-binary"))]
const CHECKSUM_BIT: u8 = 0x04;
/// The largest window that a zstd decoder accepts by default.
const MAX_WINDOW_LOG: u32 = 27;

/// The kind of checksum behind the content of `frame`.
#[cfg(any(feature = "fatbin", feature = "offload-binary"))]
pub(crate) fn checksum(frame: &[u8]) -> Option<Checksum> {
    let descriptor = frame.strip_prefix(&MAGIC).and_then(<[u8]>::first)?;
    (descriptor & CHECKSUM_BIT != 0).then_some(Checksum::Xxh64)
}

/// The size of the frame at the start of `input`.
pub(crate) fn size(input: &[u8]) -> Result<u64, Error> {
    check_start(input)?;
    Ok(find_frame_compressed_size(input).map_err(code)? as u64)
}

/// The first `size` bytes of the content of the frame at the start of `input`, or all if it is smaller.
#[cfg(any(feature = "ccob", feature = "carrier"))]
pub(crate) fn start(input: &[u8], size: u64) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    decoder(input)?.take(size).read_to_end(&mut out).map_err(|error| failed(&error.to_string()))?;
    Ok(out)
}

/// Inflates `frame`, exactly one frame, to `declared` bytes.
///
/// The output is allocated at once if container and frame agree on its size; without a recorded size it grows.
pub(crate) fn inflate(frame: &[u8], declared: u64) -> Result<Vec<u8>, Error> {
    if has_recorded_size(frame, declared)? {
        inflate_recorded(frame, declared)
    } else {
        inflate_growing(frame, declared)
    }
}

/// Whether `frame`, exactly one frame, records the size of its content, which has to be `declared`.
fn has_recorded_size(frame: &[u8], declared: u64) -> Result<bool, Error> {
    if size(frame)? != frame.len() as u64 {
        return Err(Error::invalid("the size of the zstd frame", frame.len() as u64));
    }
    match get_frame_content_size(frame).map_err(|_| failed("the frame's header is malformed"))? {
        Some(size) if size == declared => Ok(true),
        Some(_) => Err(Error::invalid("the uncompressed size of the container", declared)),
        None => Ok(false),
    }
}

fn decoder(frame: &[u8]) -> Result<zstd::Decoder<'_, &[u8]>, Error> {
    let mut decoder = zstd::Decoder::with_buffer(frame).map_err(|error| failed(&error.to_string()))?;
    decoder.window_log_max(MAX_WINDOW_LOG).map_err(|error| failed(&error.to_string()))?;
    Ok(decoder.single_frame())
}

fn check_start(input: &[u8]) -> Result<(), Error> {
    let descriptor = input.strip_prefix(&MAGIC).and_then(<[u8]>::first);
    let descriptor = descriptor.ok_or(ErrorKind::Magic { what: "a zstd frame" })?;
    if descriptor & UNUSED_BIT != 0 {
        return Err(Error::invalid("the descriptor of the zstd frame", (*descriptor).into()));
    }
    Ok(())
}

fn inflate_recorded(frame: &[u8], size: u64) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    let capacity = usize::try_from(size).map_err(|_| failed("the content does not fit the address space"))?;
    out.try_reserve_exact(capacity).map_err(|_| failed("out of memory"))?;
    let mut context = DCtx::try_create().ok_or_else(|| failed("out of memory"))?;
    context.decompress(&mut out, frame).map_err(code)?;
    Ok(out)
}

fn inflate_growing(frame: &[u8], declared: u64) -> Result<Vec<u8>, Error> {
    read_exactly(decoder(frame)?, declared).map_err(|error| failed(&error.to_string()))?
}

/// Reads `declared` bytes, and tries one more: to detect longer content and to verify a checksum at the end.
pub(crate) fn read_exactly(
    reader: impl std::io::Read,
    declared: u64,
) -> std::io::Result<Result<Vec<u8>, Error>> {
    let mut out = Vec::new();
    reader.take(declared.saturating_add(1)).read_to_end(&mut out)?;
    if out.len() as u64 != declared {
        return Ok(Err(Error::invalid("the uncompressed size of the container", declared)));
    }
    Ok(Ok(out))
}

/// The error for a code of the library.
fn code(code: usize) -> Error {
    failed(get_error_name(code))
}

/// The error with the library's message.
fn failed(message: &str) -> Error {
    ErrorKind::Compression { format: "zstd", message: message.into() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_frame_of_the_declared_size_and_nothing_else() {
        let content = vec![7; 100_000];
        let frame = zstd::bulk::compress(&content, 3).unwrap();
        assert_eq!(inflate(&frame, 100_000).unwrap(), content);
        assert!(inflate(&frame, 99_999).is_err() && inflate(&frame, 100_001).is_err());
        let twice = [frame.clone(), frame.clone()].concat();
        assert!(inflate(&twice, 200_000).is_err() && inflate(&twice, 100_000).is_err());
        let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0][..], &frame].concat();
        assert!(inflate(&skippable, 100_000).is_err());
    }

    #[test]
    fn a_frame_without_a_size_is_read_as_far_as_declared() {
        let content = vec![1; 5_000_000];
        let frame = zstd::encode_all(&content[..], 3).unwrap();
        assert_eq!(get_frame_content_size(&frame).unwrap(), None);
        assert_eq!(inflate(&frame, 5_000_000).unwrap(), content);
        assert!(inflate(&frame, 4_999_999).is_err() && inflate(&frame, 5_000_001).is_err());
    }
}
