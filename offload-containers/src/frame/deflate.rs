//! Compression of zstd frames.

use zstd::zstd_safe::{CCtx, CParameter, compress_bound};

use super::{MAX_WINDOW_LOG, code, failed};
use offload_format::Error;

const MIN_WINDOW_LOG: u32 = 10;

/// One frame with content size and checksum, a single segment up to 128 MiB, so that damage in any header field is
/// detected.
pub(crate) fn deflate(content: &[u8], level: i32) -> Result<Vec<u8>, Error> {
    let mut context = CCtx::try_create().ok_or_else(|| failed("out of memory"))?;
    for parameter in [
        CParameter::CompressionLevel(level),
        CParameter::ContentSizeFlag(true),
        CParameter::ChecksumFlag(true),
        CParameter::WindowLog(window_log(content.len())),
        // Images of a family share code at a distance that only long matches reach.
        CParameter::EnableLongDistanceMatching(true),
    ] {
        context.set_parameter(parameter).map_err(code)?;
    }
    let mut out = Vec::with_capacity(compress_bound(content.len()));
    context.compress2(&mut out, content).map_err(code)?;
    out.shrink_to_fit();
    Ok(out)
}

fn window_log(size: usize) -> u32 {
    let log = size.checked_next_power_of_two().map_or(MAX_WINDOW_LOG, usize::ilog2);
    log.clamp(MIN_WINDOW_LOG, MAX_WINDOW_LOG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_single_segments() {
        for size in [0, 1, 1000, 1024, 3_000_000] {
            let frame = deflate(&vec![3; size], 19).unwrap();
            assert!(frame[4] & 0x20 != 0, "{size} bytes: descriptor {:#x}", frame[4]);
            assert!(frame[4] & 0x04 != 0, "no checksum");
        }
    }
}
