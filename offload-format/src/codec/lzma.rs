//! LZMA streams: smaller than zstd's frames, and ten times slower to read.
//!
//! A frame is five bytes of the classic `.lzma` header, its properties (`(pb * 5 + lp) * 9 + lc`) and the size of the
//! dictionary as u32, then the stream without an end marker
//! (<https://www.7-zip.org/sdk.html>, `lzma-specification.txt`). It has no checksum of its own.

use std::io::{Read, Write};

use lzma_rust2::{EncodeMode, LzmaOptions, LzmaReader, LzmaWriter, MfType};

use super::memory::{Output, copied};
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

/// Contexts that fit bytes, words of four and of sixteen: text, AMD's and Intel's
/// instructions, NVIDIA's instructions.
const CONTEXTS: [Context; 3] =
    [Context { lc: 3, lp: 0, pb: 2 }, Context { lc: 0, lp: 2, pb: 2 }, Context { lc: 1, lp: 3, pb: 4 }];
/// The most bits of literal context and literal position together, as in xz's files: the decoder's tables for them
/// double with each bit, whatever the size of the content.
const MOST_LITERAL_BITS: u8 = 4;
/// Below this size a reader takes this much anyway.
const LEAST_DICTIONARY: u64 = 4096;

/// How much of the content, from its middle on, tells which context fits: images begin with tables.
const PROBE: usize = 128 << 10;
/// Up to this dictionary candidates for matches lie in binary trees, of which `xz -9e` looks at so many. Trees of the
/// double size would take all the memory that packing may; chains take half, are slow to follow, and lose little.
const TREES: u32 = 8 << 20;
const TREE_DEPTH: i32 = 512;
/// As many as xz looks at in a chain.
const CHAIN_DEPTH: i32 = 72;

/// The stream with the context that fits a piece of the content best.
pub(super) fn compress(content: &[u8], prefix: Option<&[u8]>) -> Result<Vec<u8>, Error> {
    let behind = content.get(content.len() / 2..).unwrap_or_default();
    let probe = if content.len() > 2 * PROBE { behind.get(..PROBE).unwrap_or(behind) } else { content };
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

/// How many bytes the match finder takes for an image of `image` bytes next to `parent` ones.
#[cfg(feature = "packer")]
pub(super) fn tables(image: u64, parent: u64) -> u64 {
    let kibibytes = options(dictionary(image, parent), CONTEXTS[0]).get_memory_usage();
    u64::from(kibibytes) << 10
}

/// How far the stream of an image of `image` bytes looks back, be it into the `parent` bytes before it. Who has a large
/// image in memory has less room for tables.
fn dictionary(image: u64, parent: u64) -> u32 {
    let most = if image > LZMA_REACH { LZMA_REACH / 2 } else { LZMA_REACH };
    let reach = image.saturating_add(parent).clamp(LEAST_DICTIONARY, most);
    u32::try_from(reach).unwrap_or(u32::MAX)
}

fn options(dict_size: u32, Context { lc, lp, pb }: Context) -> LzmaOptions {
    let (mf, depth_limit) =
        if dict_size > TREES { (MfType::Hc4, CHAIN_DEPTH) } else { (MfType::Bt4, TREE_DEPTH) };
    let (mode, nice_len) = (EncodeMode::Normal, LzmaOptions::NICE_LEN_MAX);
    LzmaOptions { dict_size, lc, lp, pb, mode, nice_len, mf, depth_limit, preset_dict: None }
}

fn compress_with(content: &[u8], prefix: Option<&[u8]>, context: Context) -> Result<Vec<u8>, Error> {
    let dict_size = dictionary(content.len() as u64, prefix.map_or(0, |prefix| prefix.len() as u64));
    let mut options = options(dict_size, context);
    options.preset_dict = prefix.map(copied);
    let mut out = vec![options.get_props()];
    out.extend(dict_size.to_le_bytes());
    let mut writer = LzmaWriter::new_no_header(out, &options, false).map_err(failed)?;
    // The writer has a copy of its own.
    options.preset_dict = None;
    writer.write_all(content).map_err(failed)?;
    writer.finish().map_err(failed)
}

/// The content of `frame`, which has to be of the size that `output` has.
pub(super) fn decompress(frame: &[u8], prefix: Option<&[u8]>, output: Output<'_>) -> Result<Vec<u8>, Error> {
    let size = output.size;
    let [props] = bytes::array(frame, 0, "the LZMA frame")?;
    let (lc, lp) = (props % 9, props / 9 % 5);
    if lc.saturating_add(lp) > MOST_LITERAL_BITS {
        return Err(Error::invalid("the number of literal bits in an LZMA frame", props.into()));
    }
    let dict_size = bytes::u32_at(frame, 1, "the LZMA frame")?;
    let stream = bytes::range(frame, HEADER, (frame.len() as u64).saturating_sub(HEADER), "the LZMA frame")?;
    let reach = size.saturating_add(prefix.map_or(0, |prefix| prefix.len() as u64)).max(LEAST_DICTIONARY);
    // The dictionary is memory: more than there can be bytes to find in it is a lie.
    if u64::from(dict_size) > reach {
        return Err(Error::invalid("the dictionary of an LZMA frame", dict_size.into()));
    }
    let mut out = output.buffer()?;
    let reader = LzmaReader::new_with_props(stream, size, props, dict_size, prefix).map_err(failed)?;
    reader.take(size).read_to_end(&mut out).map_err(failed)?;
    Ok(out)
}

fn failed(error: impl std::fmt::Display) -> Error {
    ErrorKind::Lzma { message: error.to_string() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_that_only_take_memory_are_refused() {
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
