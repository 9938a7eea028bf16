//! zstd frames (RFC 8878, <https://www.rfc-editor.org/rfc/rfc8878>), with or without another image as prefix.

use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, compress_bound, get_error_name,
    get_frame_content_size,
};

use super::memory::{Output, image_buffer};
use super::method::{ONE_TABLE_LEVEL, STREAM_WINDOW_LOG};
use crate::{Error, ErrorKind};

/// The largest window that zstd decoders accept by default, as a binary logarithm.
pub(crate) const MAX_WINDOW_LOG: u32 = 27;
/// The size from which the match finders of lower levels miss distant matches, which long-distance matching finds.
const MIN_LONG_DISTANCE: usize = 1 << 20;
/// The size of a single hash table, as a binary logarithm: it must fit into a core's cache.
const TABLE_LOG: std::ops::RangeInclusive<u32> = 14..=19;
/// Bytes of the window per entry of the table, as a binary logarithm: code repeats in long matches.
const TABLE_SHARE_LOG: u32 = 4;
/// The last level that gains from long-distance matching: the match finders of higher levels cover the whole window.
const MAX_LONG_DISTANCE_LEVEL: i32 = 15;

/// The largest tables, as binary logarithms: those of level 18. Higher levels would take up to half a gigabyte for an
/// image of 32 MiB; they search these tables more thoroughly instead.
const CHAIN_LOG: u32 = 23;
const HASH_LOG: u32 = 22;
/// The last level whose own tables are not larger.
const BOUNDED_LEVEL: i32 = 18;

/// The largest size of zstd's tables for `image` bytes with a parent of `parent` bytes.
#[cfg(feature = "write")]
pub(crate) fn tables(level: i32, image: u64, parent: u64) -> u64 {
    /// The size of an entry of a table.
    const ENTRY: u64 = 4;
    let reach = usize::try_from(image.saturating_add(parent)).unwrap_or(usize::MAX);
    let log = window_log(reach).unwrap_or(MAX_WINDOW_LOG);
    let hash_table = ENTRY << log.min(HASH_LOG);
    match level {
        ..=5 => 4 << 20,
        6..=12 => hash_table.saturating_mul(3),
        _ => (ENTRY << log.saturating_add(1).min(CHAIN_LOG)).saturating_add(hash_table),
    }
}

/// The compressed size of `image` at `level` (1 to 22), at most its own size.
///
/// The tables take at most `tables` bytes or 1 MiB, whichever is more. Where a high level would need larger ones, fewer
/// matches are found.
///
/// # Errors
/// [`ErrorKind::Compression`].
#[cfg(feature = "write")]
pub fn compressed_size(image: &[u8], level: i32, tables: u64) -> Result<u64, Error> {
    let mut context = compressor(level)?;
    let search = Search { reach: image.len(), level };
    limit_tables(&mut context, search)?;
    // The chain table takes half, the hash table a quarter. By default the chain table has two entries per byte of the window.
    let chain = (tables.max(1 << 20) / 8).ilog2();
    let window = window_log(search.reach).unwrap_or(MAX_WINDOW_LOG);
    if chain <= CHAIN_LOG.min(window) && level > ONE_TABLE_LEVEL {
        set(&mut context, CParameter::ChainLog(chain))?;
        set(&mut context, CParameter::HashLog(chain.saturating_sub(1)))?;
    }
    set_long_distance(&mut context, search)?;
    let mut out = image_buffer(level, compress_bound(image.len()));
    context.compress2(&mut out, image).map_err(zstd_code)?;
    Ok(out.len().min(image.len()) as u64)
}

/// The input size and level that determine zstd's parameters.
#[derive(Clone, Copy)]
struct Search {
    /// The size of the image with its prefix in bytes.
    reach: usize,
    /// zstd's level.
    level: i32,
}

/// Compresses `content`; `level` is zstd's (1 to 22).
pub(super) fn compress(content: &[u8], prefix: Option<&[u8]>, level: i32) -> Result<Vec<u8>, Error> {
    let mut context = compressor(level)?;
    let reach = content.len().saturating_add(prefix.map_or(0, <[u8]>::len));
    let search = Search { reach, level };
    match prefix {
        Some(prefix) => set_prefix(&mut context, prefix, search)?,
        None if level <= ONE_TABLE_LEVEL && reach >= MIN_LONG_DISTANCE => {
            set_near_window(&mut context, reach)?;
        }
        None => {}
    }
    limit_tables(&mut context, search)?;
    set_long_distance(&mut context, search)?;
    let mut out = image_buffer(level, compress_bound(content.len()));
    context.compress2(&mut out, content).map_err(zstd_code)?;
    out.shrink_to_fit();
    Ok(out)
}

/// Enables long-distance matching where it pays.
fn set_long_distance(context: &mut CCtx<'_>, Search { reach, level }: Search) -> Result<(), Error> {
    let is_enabled = reach >= MIN_LONG_DISTANCE && gains_from_long_distance(level);
    set(context, CParameter::EnableLongDistanceMatching(is_enabled))
}

/// Whether a level gains from long-distance matching: a single table finds most of its matches in half the time, large
/// tables find all of them.
fn gains_from_long_distance(level: i32) -> bool {
    level > ONE_TABLE_LEVEL && level <= MAX_LONG_DISTANCE_LEVEL
}

/// Sizes the single hash table for a window.
fn set_table(context: &mut CCtx<'_>, window: u32) -> Result<(), Error> {
    let table = window.saturating_sub(TABLE_SHARE_LOG).clamp(*TABLE_LOG.start(), *TABLE_LOG.end());
    set(context, CParameter::HashLog(table))
}

/// Limits the tables of high levels.
fn limit_tables(context: &mut CCtx<'_>, Search { reach, level }: Search) -> Result<(), Error> {
    if level > BOUNDED_LEVEL && reach > 1 << CHAIN_LOG {
        set(context, CParameter::ChainLog(CHAIN_LOG))?;
        set(context, CParameter::HashLog(HASH_LOG))?;
    }
    Ok(())
}

/// Sets window and table for an image of `size` bytes without a prefix.
fn set_near_window(context: &mut CCtx<'_>, size: usize) -> Result<(), Error> {
    let window = window_log(size).unwrap_or(NEAR_WINDOW_LOG).min(NEAR_WINDOW_LOG);
    set(context, CParameter::WindowLog(window))?;
    set_table(context, window)
}

/// Sets the window for prefix and image, and the prefix.
fn set_prefix<'p>(context: &mut CCtx<'p>, prefix: &'p [u8], search: Search) -> Result<(), Error> {
    let Search { reach, level } = search;
    let window =
        window_log(reach).ok_or_else(|| zstd_error("the image and its prefix are larger than any window"))?;
    set(context, CParameter::WindowLog(window))?;
    if level <= ONE_TABLE_LEVEL {
        set_table(context, window)?;
    }
    context.ref_prefix(prefix).map(drop).map_err(zstd_code)
}

/// Decompresses `frame`, whose content must have the size of `output`.
pub(super) fn decompress(frame: &[u8], prefix: Option<&[u8]>, output: Output<'_>) -> Result<Vec<u8>, Error> {
    // Record and frame must agree on the size before memory is allocated.
    if get_frame_content_size(frame).ok().flatten() != Some(output.size) {
        return Err(ErrorKind::Damaged { what: "the frame of the image" }.into());
    }
    let mut out = output.buffer()?;
    decompressor(prefix)?.decompress(&mut out, frame).map_err(zstd_code)?;
    Ok(out)
}

/// Decompresses `frame`, whose content must have the size of `content`.
pub(super) fn decompress_into(frame: &[u8], prefix: Option<&[u8]>, content: &mut [u8]) -> Result<(), Error> {
    let size = content.len() as u64;
    if get_frame_content_size(frame).ok().flatten() != Some(size) {
        return Err(ErrorKind::Damaged { what: "a chunk of the image" }.into());
    }
    decompressor(prefix)?.decompress(content, frame).map(drop).map_err(zstd_code)
}

/// A decoder of one frame. The hash of the decoded image is verified in place of the frame's checksum.
fn decompressor(prefix: Option<&[u8]>) -> Result<DCtx<'_>, Error> {
    let mut context = DCtx::try_create().ok_or_else(|| zstd_error("out of memory"))?;
    context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).map_err(zstd_code)?;
    context.set_parameter(DParameter::ForceIgnoreChecksum(true)).map_err(zstd_code)?;
    if let Some(prefix) = prefix {
        context.ref_prefix(prefix).map_err(zstd_code)?;
    }
    Ok(context)
}

/// The window that covers `size` bytes, if there is one.
fn window_log(size: usize) -> Option<u32> {
    let log = size.max(1 << 10).checked_next_power_of_two()?.ilog2();
    (log <= MAX_WINDOW_LOG).then_some(log)
}

/// Frames with content size and checksum.
pub(crate) fn compressor<'a>(level: i32) -> Result<CCtx<'a>, Error> {
    let mut context = CCtx::try_create().ok_or_else(|| zstd_error("out of memory"))?;
    for parameter in [
        CParameter::CompressionLevel(level),
        CParameter::ContentSizeFlag(true),
        CParameter::ChecksumFlag(true),
        // Without it the bytes depend on whether prefix and content are adjacent in memory.
        CParameter::DeterministicRefPrefix(true),
    ] {
        set(&mut context, parameter)?;
    }
    Ok(context)
}

pub(crate) fn set(context: &mut CCtx<'_>, parameter: CParameter) -> Result<(), Error> {
    context.set_parameter(parameter).map(drop).map_err(zstd_code)
}

/// Streaming compression of an image that is never in memory as a whole.
///
/// Its memory is bounded by the window, whatever the size of the image.
#[derive(Debug)]
pub struct ZstdStream {
    context: Context,
    out: Vec<u8>,
}

struct Context(CCtx<'static>);

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Context")
    }
}

/// The window of the fast levels, for streamed images and those in memory: matches beyond a core's cache cost more time
/// than they save.
const NEAR_WINDOW_LOG: u32 = 22;
const STREAM_PIECE: usize = 128 << 10;

impl ZstdStream {
    /// A stream for exactly `size` bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Compression`].
    pub fn new(level: i32, size: u64) -> Result<ZstdStream, Error> {
        let mut context = compressor(level)?;
        set(&mut context, CParameter::EnableLongDistanceMatching(gains_from_long_distance(level)))?;
        if level <= ONE_TABLE_LEVEL {
            set_near_window(&mut context, usize::try_from(size).unwrap_or(usize::MAX))?;
        } else {
            set(&mut context, CParameter::WindowLog(STREAM_WINDOW_LOG))?;
            limit_tables(&mut context, Search { reach: usize::MAX, level })?;
        }
        context.set_pledged_src_size(Some(size)).map_err(zstd_code)?;
        Ok(ZstdStream { context: Context(context), out: Vec::with_capacity(STREAM_PIECE) })
    }

    /// Compresses the next bytes of the image; the output goes to `sink`.
    ///
    /// # Errors
    /// [`ErrorKind::Compression`], and those of `sink`.
    pub fn feed<E: From<Error>>(
        &mut self,
        bytes: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.run(bytes, ZSTD_EndDirective::ZSTD_e_continue, sink)
    }

    /// Ends the frame; the rest of the output goes to `sink`.
    ///
    /// # Errors
    /// [`ErrorKind::Compression`], also if the image was shorter or longer than announced, and those of `sink`.
    pub fn finish<E: From<Error>>(mut self, sink: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.run(&[], ZSTD_EndDirective::ZSTD_e_end, sink)
    }

    fn run<E: From<Error>>(
        &mut self,
        bytes: &[u8],
        directive: ZSTD_EndDirective,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut input = InBuffer::around(bytes);
        loop {
            self.out.clear();
            let mut output = OutBuffer::around(&mut self.out);
            let left = self.context.0.compress_stream2(&mut output, &mut input, directive);
            let left = left.map_err(zstd_code)?;
            if !self.out.is_empty() {
                sink(&self.out)?;
            }
            let done = match directive {
                ZSTD_EndDirective::ZSTD_e_end => left == 0,
                _ => input.pos() == bytes.len(),
            };
            if done {
                return Ok(());
            }
        }
    }
}

pub(crate) fn zstd_code(code: usize) -> Error {
    zstd_error(get_error_name(code))
}

pub(crate) fn zstd_error(message: &str) -> Error {
    ErrorKind::Compression { format: "zstd", message: message.to_string() }.into()
}
