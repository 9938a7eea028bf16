//! LZMA streams for downloads: smaller than zstd frames, and ten times slower to decode.
//!
//! A frame starts with five bytes of the classic `.lzma` header, the properties (`(pb * 5 + lp) * 9 + lc`) and the size of
//! the dictionary as u32. The stream without an end marker follows
//! (<https://www.7-zip.org/sdk.html>, `lzma-specification.txt`). It has no checksum of its own.

use std::io::{Read, Write};

use lzma_rust2::{EncodeMode, LzmaOptions, LzmaReader, LzmaWriter, MfType};

use super::memory::{Output, copy};
use super::method::LZMA_REACH;
use crate::{Error, ErrorKind, bytes};

const HEADER: u64 = 5;
/// Bits of literal context, literal position and position.
#[derive(Clone, Copy)]
struct Context {
    lc: u32,
    lp: u32,
    pb: u32,
}

/// Contexts for text, for the four-byte words of AMD's and Intel's instructions, and for NVIDIA's 16-byte instructions.
const CONTEXTS: [Context; 3] =
    [Context { lc: 3, lp: 0, pb: 2 }, Context { lc: 0, lp: 2, pb: 2 }, Context { lc: 1, lp: 3, pb: 4 }];
/// The most bits of literal context and literal position together, as in xz's files: the decoder's tables double with each
/// bit, whatever the size of the content.
const MAX_LITERAL_BITS: u8 = 4;
/// The smallest dictionary that decoders allocate.
const MIN_DICTIONARY: u64 = 4096;

/// The size of the probe for the choice of a context. It is taken from the middle: images begin with tables.
const PROBE_SIZE: usize = 128 << 10;
/// The largest dictionary whose match finder is a binary tree. Trees of the double size would take all the memory for
/// packing; hash chains take half, are slow to follow, and lose little.
const MAX_TREE_DICTIONARY: u32 = 8 << 20;
/// The search depth of `xz -9e` in trees.
const TREE_DEPTH: i32 = 512;
/// The search depth of xz in chains.
const CHAIN_DEPTH: i32 = 72;

/// The context of small contents, which end before more counters have learned.
const SMALL_CONTEXT: Context = Context { lc: 0, lp: 0, pb: 2 };

/// Compresses `content` with the context that suits it, or a probe of it, best.
pub(super) fn compress(content: &[u8], prefix: Option<&[u8]>) -> Result<Vec<u8>, Error> {
    if content.len() <= 2 * PROBE_SIZE {
        let mut best = compress_with(content, prefix, SMALL_CONTEXT)?;
        for context in CONTEXTS {
            let stream = compress_with(content, prefix, context)?;
            if stream.len() < best.len() {
                best = stream;
            }
        }
        return Ok(best);
    }
    let second_half = content.get(content.len() / 2..).unwrap_or_default();
    let probe = second_half.get(..PROBE_SIZE).unwrap_or(second_half);
    let mut best: Option<(usize, Context)> = None;
    for context in CONTEXTS {
        let size = compress_with(probe, None, context)?.len();
        if best.is_none_or(|(best, _)| size < best) {
            best = Some((size, context));
        }
    }
    let (_, context) = best.ok_or_else(|| failed("no context"))?;
    compress_with(content, prefix, context)
}

/// The size of the match finder for `image` bytes with a parent of `parent` bytes.
#[cfg(feature = "write")]
pub(super) fn tables(image: u64, parent: u64) -> u64 {
    let kibibytes = options(dictionary(image, parent), CONTEXTS[0]).get_memory_usage();
    u64::from(kibibytes) << 10
}

/// The dictionary size for `image` bytes with a parent of `parent` bytes. A large image leaves less memory for tables.
fn dictionary(image: u64, parent: u64) -> u32 {
    let limit = if image > LZMA_REACH { LZMA_REACH / 2 } else { LZMA_REACH };
    let reach = image.saturating_add(parent).clamp(MIN_DICTIONARY, limit);
    u32::try_from(reach).unwrap_or(u32::MAX)
}

fn options(dict_size: u32, Context { lc, lp, pb }: Context) -> LzmaOptions {
    let has_tree = dict_size <= MAX_TREE_DICTIONARY;
    LzmaOptions {
        dict_size,
        lc,
        lp,
        pb,
        mode: EncodeMode::Normal,
        nice_len: LzmaOptions::NICE_LEN_MAX,
        mf: if has_tree { MfType::Bt4 } else { MfType::Hc4 },
        depth_limit: if has_tree { TREE_DEPTH } else { CHAIN_DEPTH },
        preset_dict: None,
    }
}

fn compress_with(content: &[u8], prefix: Option<&[u8]>, context: Context) -> Result<Vec<u8>, Error> {
    let dict_size = dictionary(content.len() as u64, prefix.map_or(0, |prefix| prefix.len() as u64));
    let mut options = options(dict_size, context);
    options.preset_dict = prefix.map(copy);
    let mut out = vec![options.get_props()];
    out.extend(dict_size.to_le_bytes());
    let mut writer = LzmaWriter::new_no_header(out, &options, false).map_err(failed)?;
    // The writer has a copy of its own.
    options.preset_dict = None;
    writer.write_all(content).map_err(failed)?;
    writer.finish().map_err(failed)
}

/// Decompresses `frame`, whose content must have the size of `output`.
pub(super) fn decompress(frame: &[u8], prefix: Option<&[u8]>, output: Output<'_>) -> Result<Vec<u8>, Error> {
    let size = output.size;
    let [props] = bytes::array(frame, 0, "the LZMA frame")?;
    let lc = props % 9;
    let lp = props / 9 % 5;
    if lc.saturating_add(lp) > MAX_LITERAL_BITS {
        return Err(Error::invalid("the number of literal bits in an LZMA frame", props.into()));
    }
    let dict_size = bytes::u32_at(frame, 1, "the LZMA frame")?;
    let stream = bytes::range(frame, HEADER, (frame.len() as u64).saturating_sub(HEADER), "the LZMA frame")?;
    let reach = size.saturating_add(prefix.map_or(0, |prefix| prefix.len() as u64)).max(MIN_DICTIONARY);
    // The dictionary is allocated: it may not be larger than the bytes it can contain.
    if u64::from(dict_size) > reach {
        return Err(Error::invalid("the dictionary of an LZMA frame", dict_size.into()));
    }
    let mut out = output.buffer()?;
    let reader = LzmaReader::new_with_props(stream, size, props, dict_size, prefix).map_err(failed)?;
    reader.take(size).read_to_end(&mut out).map_err(failed)?;
    Ok(out)
}

fn failed(error: impl std::fmt::Display) -> Error {
    ErrorKind::Compression { format: "LZMA", message: error.to_string() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_that_only_waste_memory_are_refused() {
        let content = [7; 1000];
        let frame = compress(&content, None).unwrap();
        for props in 0..=255 {
            let mut frame = frame.clone();
            frame[0] = props;
            let large = (props % 9) + (props / 9 % 5) > 4;
            let refused = decompress(&frame, None, Output { size: 1000, spare: &mut Vec::new() })
                .err()
                .map(|error| error.kind().clone());
            let refused = matches!(refused, Some(ErrorKind::Invalid { .. }));
            assert_eq!(refused, large, "{props}");
        }
        assert_eq!(decompress(&frame, None, Output { size: 1000, spare: &mut Vec::new() }).unwrap(), content);
    }
}
