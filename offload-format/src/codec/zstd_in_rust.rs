//! zstd frames, decoded in Rust: for builds without a C compiler, and for WebAssembly.
//!
//! `cargo xtask bench decode` has the times of both decoders.

use std::io::Write;

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, Dictionary, FrameDecoder};

use super::memory::Output;
use crate::{Error, ErrorKind};

/// The largest window that is accepted: that of zstd's own decoder.
const MAX_WINDOW: u64 = 128 << 20;
/// Bytes that are decoded between two looks at the size.
const PIECE: usize = 1 << 20;
/// The name of the prefix. Frames do not have it: the decoder is given it.
const PREFIX: u32 = 1;

/// Decompresses `frame`, whose content must have the size of `output`.
pub(super) fn decompress(frame: &[u8], prefix: Option<&[u8]>, output: Output<'_>) -> Result<Vec<u8>, Error> {
    let size = output.size;
    let mut frame = frame;
    let mut decoder = start(&mut frame, prefix, size)?;
    let mut out = output.buffer()?;
    decode(&mut decoder, frame, size, &mut out)?;
    Ok(out)
}

/// Decompresses `frame`, whose content must have the size of `content`.
pub(super) fn decompress_into(frame: &[u8], prefix: Option<&[u8]>, content: &mut [u8]) -> Result<(), Error> {
    let size = content.len() as u64;
    let mut frame = frame;
    let mut decoder = start(&mut frame, prefix, size)?;
    let mut rest = content;
    decode(&mut decoder, frame, size, &mut rest)?;
    if rest.is_empty() { Ok(()) } else { Err(damaged()) }
}

/// Reads the header of `frame`, whose content must have `size` bytes, and leaves its blocks.
fn start(frame: &mut &[u8], prefix: Option<&[u8]>, size: u64) -> Result<FrameDecoder, Error> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(MAX_WINDOW);
    decoder.init(frame).map_err(|error| failed(&error))?;
    // Record and frame must agree on the size before memory is allocated.
    if decoder.content_size() != size {
        return Err(damaged());
    }
    if let Some(prefix) = prefix {
        decoder.add_dict(dictionary(prefix)).map_err(|error| failed(&error))?;
        decoder.force_dict(PREFIX).map_err(|error| failed(&error))?;
    }
    Ok(decoder)
}

/// Decodes `blocks`, the rest of the frame, to `out`.
fn decode(decoder: &mut FrameDecoder, blocks: &[u8], size: u64, out: &mut dyn Write) -> Result<(), Error> {
    let mut blocks = blocks;
    let mut written = 0u64;
    while !decoder.is_finished() {
        let step = BlockDecodingStrategy::UptoBytes(PIECE);
        decoder.decode_blocks(&mut blocks, step).map_err(|error| failed(&error))?;
        // Blocks may decode to thousands of times their size: a damaged frame must not fill the memory.
        written = written.saturating_add(decoder.can_collect() as u64);
        if written > size {
            return Err(damaged());
        }
        decoder.collect_to_writer(&mut *out).map_err(|error| compression(&error.to_string()))?;
    }
    // What follows the frame is no part of it.
    if blocks.is_empty() { Ok(()) } else { Err(damaged()) }
}

/// A dictionary of nothing but content, as zstd has it: the tables are those of a frame without one.
fn dictionary(content: &[u8]) -> Dictionary {
    Dictionary {
        id: PREFIX,
        fse: Default::default(),
        huf: Default::default(),
        dict_content: content.to_vec(),
        // RFC 8878, 3.1.1.5: the repeated offsets at the start of a frame.
        offset_hist: [1, 4, 8],
    }
}

fn damaged() -> Error {
    ErrorKind::Damaged { what: "the frame of the image" }.into()
}

fn failed(error: &FrameDecoderError) -> Error {
    compression(&error.to_string())
}

fn compression(message: &str) -> Error {
    ErrorKind::Compression { format: "zstd", message: message.to_string() }.into()
}

#[cfg(all(test, feature = "libzstd"))]
mod tests {
    use super::super::zstd;
    use super::*;

    /// Bytes with repetitions near and far, of which half differ with `seed`.
    fn image(size: usize, seed: u32) -> Vec<u8> {
        let mut state = 1u32;
        let mut bytes = Vec::with_capacity(size);
        while bytes.len() < size {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let from = (state >> 8) as usize % bytes.len().max(1);
            match state >> 30 {
                0 => bytes.extend_from_slice(&(state ^ seed).to_le_bytes()),
                1 => bytes.extend_from_slice(&[7; 12]),
                _ => bytes.extend_from_within(from..bytes.len().min(from + 40)),
            }
        }
        bytes.truncate(size);
        bytes
    }

    fn decoded(frame: &[u8], prefix: Option<&[u8]>, size: usize) -> Result<Vec<u8>, Error> {
        decompress(frame, prefix, Output { size: size as u64, spare: &mut Vec::new() })
    }

    #[test]
    fn both_decoders_agree() {
        for size in [1, 100, 5000, 300_000, 3 << 20] {
            let parent = image(size, 1);
            let content = image(size, 2);
            for level in [1, 3, 12, 19] {
                let alone = zstd::compress(&content, None, level).unwrap();
                assert!(decoded(&alone, None, size).unwrap() == content, "{size} {level}");
                let related = zstd::compress(&content, Some(&parent), level).unwrap();
                assert!(decoded(&related, Some(&parent), size).unwrap() == content, "{size} {level}");
                let mut chunk = vec![0; size];
                decompress_into(&related, Some(&parent), &mut chunk).unwrap();
                assert!(chunk == content, "{size} {level}");
                assert!(decompress_into(&related, Some(&parent), &mut chunk[1..]).is_err());
            }
        }
    }

    #[test]
    fn a_damaged_frame_is_an_error_or_decodes_to_its_size() {
        let content = image(20_000, 1);
        let parent = image(20_000, 2);
        let frame = zstd::compress(&content, Some(&parent), 19).unwrap();
        for at in 0..frame.len() {
            let mut bytes = frame.clone();
            bytes[at] ^= 1 << (at % 8);
            if let Ok(decoded) = decoded(&bytes, Some(&parent), content.len()) {
                assert!(decoded.len() <= content.len(), "{at}");
            }
            assert!(decoded(&frame[..at], Some(&parent), content.len()).is_err(), "{at}");
        }
        assert!(decoded(&[&frame[..], &[0]].concat(), Some(&parent), content.len()).is_err());
        assert!(decoded(&frame, Some(&parent), content.len() - 1).is_err());
        assert!(decoded(&frame, None, content.len()).is_err());
    }

    #[test]
    fn a_frame_that_decodes_to_too_much_is_refused() {
        // Magic; one segment of 1000 bytes; blocks of one repeated byte, 128 KiB each, of which none is the last.
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x60, 0xe8, 0x02];
        for _ in 0..1000 {
            frame.extend([0x02, 0x00, 0x10, 0xaa]);
        }
        assert!(decoded(&frame, None, 1000).is_err());
    }
}
