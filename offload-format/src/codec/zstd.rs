//! zstd frames (RFC 8878, <https://www.rfc-editor.org/rfc/rfc8878>), alone or with another image as prefix.

use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, compress_bound, get_error_name,
    get_frame_content_size,
};

use super::memory::{Output, image_buffer};
use super::method::{ONE_TABLE_LEVEL, STREAM_WINDOW_LOG};
use crate::{Error, ErrorKind};

/// The largest window that a decoder of zstd takes without being told.
pub(crate) const MAX_WINDOW_LOG: u32 = 27;
/// From here on the match finders of the lower levels see only a part, and long-distance matching finds the rest.
const LONG: usize = 1 << 20;
/// How large that table may be, as a power of two: it has to stay in a core's cache.
const TABLE_LOG: std::ops::RangeInclusive<u32> = 14..=19;
/// What a window has for each entry of the table, as a power of two: code repeats in long pieces.
const TABLE_SHARE_LOG: u32 = 4;
/// Above this level the match finder's own tables reach over everything that a window holds.
const SEARCHING_LEVEL: i32 = 15;

/// The largest tables, as powers of two: those of level 18. Higher levels would take up to half a gigabyte for an image
/// of 32 MiB, and look the harder into these.
const CHAIN_LOG: u32 = 23;
const HASH_LOG: u32 = 22;
/// The last level whose own tables are not larger.
const BOUNDED_LEVEL: i32 = 18;

/// How many bytes of tables zstd makes for an image of `image` bytes next to `parent` ones, at most.
#[cfg(feature = "packer")]
pub(crate) fn tables(level: i32, image: u64, parent: u64) -> u64 {
    let reach = usize::try_from(image.saturating_add(parent)).unwrap_or(usize::MAX);
    let log = window_log(reach).unwrap_or(MAX_WINDOW_LOG);
    let entries = |log: u32| 4u64 << log;
    match level {
        ..=5 => 4 << 20,
        6..=12 => entries(log.min(HASH_LOG)).saturating_mul(3),
        _ => entries(log.saturating_add(1).min(CHAIN_LOG)).saturating_add(entries(log.min(HASH_LOG))),
    }
}

/// How many bytes `level` (1 to 22) makes of `image` alone, at most as many as it has.
///
/// Its tables take `tables` bytes at most, or 1 MiB if that is more: where those of a high level would take more for an
/// image of mebibytes, they are smaller, and find a little less.
///
/// # Errors
/// [`ErrorKind::Zstd`].
#[cfg(feature = "packer")]
pub fn compressed_size(image: &[u8], level: i32, tables: u64) -> Result<u64, Error> {
    let mut context = compressor(level)?;
    let search = Search { reach: image.len(), level };
    limit_tables(&mut context, search)?;
    // The chain takes half of it, hashes a quarter. Alone the chain has twice as many entries as the window bytes.
    let chain = (tables.max(1 << 20) / 8).ilog2();
    let window = window_log(search.reach).unwrap_or(MAX_WINDOW_LOG);
    if chain <= CHAIN_LOG.min(window) && level > ONE_TABLE_LEVEL {
        set(&mut context, CParameter::ChainLog(chain))?;
        set(&mut context, CParameter::HashLog(chain.saturating_sub(1)))?;
    }
    set(&mut context, CParameter::EnableLongDistanceMatching(search.reach >= LONG && is_long(level)))?;
    let mut out = image_buffer(level, compress_bound(image.len()));
    context.compress2(&mut out, image).map_err(zstd_code)?;
    Ok(out.len().min(image.len()) as u64)
}

/// How matches are looked for.
#[derive(Clone, Copy)]
struct Search {
    /// The image and its prefix, in bytes.
    reach: usize,
    /// Of zstd.
    level: i32,
}

/// Compresses `content`; `level` is zstd's (1 to 22).
pub(super) fn compress(content: &[u8], prefix: Option<&[u8]>, level: i32) -> Result<Vec<u8>, Error> {
    let mut context = compressor(level)?;
    let reach = content.len().saturating_add(prefix.map_or(0, <[u8]>::len));
    match prefix {
        Some(prefix) => set_prefix(&mut context, prefix, Search { reach, level })?,
        None if level <= ONE_TABLE_LEVEL && reach >= LONG => set_near_window(&mut context, reach)?,
        None => {}
    }
    limit_tables(&mut context, Search { reach, level })?;
    set(&mut context, CParameter::EnableLongDistanceMatching(reach >= LONG && is_long(level)))?;
    let mut out = image_buffer(level, compress_bound(content.len()));
    context.compress2(&mut out, content).map_err(zstd_code)?;
    out.shrink_to_fit();
    Ok(out)
}

/// Whether long-distance matching pays. One table finds most of what it would, in half the time; large ones find all.
fn is_long(level: i32) -> bool {
    level > ONE_TABLE_LEVEL && level <= SEARCHING_LEVEL
}

/// Sets the one table for a window.
fn set_table(context: &mut CCtx<'_>, window: u32) -> Result<(), Error> {
    let table = window.saturating_sub(TABLE_SHARE_LOG).clamp(*TABLE_LOG.start(), *TABLE_LOG.end());
    set(context, CParameter::HashLog(table))
}

/// Keeps the tables for `reach` bytes below what they may take.
fn limit_tables(context: &mut CCtx<'_>, Search { reach, level }: Search) -> Result<(), Error> {
    if level > BOUNDED_LEVEL && reach > 1 << CHAIN_LOG {
        set(context, CParameter::ChainLog(CHAIN_LOG))?;
        set(context, CParameter::HashLog(HASH_LOG))?;
    }
    Ok(())
}

/// Sets window and table for an image of `size` bytes alone.
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

/// The content of `frame`, which has to be of the size that `output` has.
pub(super) fn decompress(frame: &[u8], prefix: Option<&[u8]>, output: Output<'_>) -> Result<Vec<u8>, Error> {
    // The record is a claim; the frame has to agree before memory is taken for it.
    if get_frame_content_size(frame).ok().flatten() != Some(output.size) {
        return Err(ErrorKind::Damaged { what: "the frame of the image" }.into());
    }
    let mut out = output.buffer()?;
    let mut context = DCtx::try_create().ok_or_else(|| zstd_error("out of memory"))?;
    context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).map_err(zstd_code)?;
    // What is made of the frame has a hash that is compared.
    context.set_parameter(DParameter::ForceIgnoreChecksum(true)).map_err(zstd_code)?;
    if let Some(prefix) = prefix {
        context.ref_prefix(prefix).map_err(zstd_code)?;
    }
    context.decompress(&mut out, frame).map_err(zstd_code)?;
    Ok(out)
}

/// The window that reaches over `size` bytes, if there is one.
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
        // Otherwise the bytes could depend on whether prefix and content happen to be neighbours in memory.
        CParameter::DeterministicRefPrefix(true),
    ] {
        set(&mut context, parameter)?;
    }
    Ok(context)
}

pub(crate) fn set(context: &mut CCtx<'_>, parameter: CParameter) -> Result<(), Error> {
    context.set_parameter(parameter).map(drop).map_err(zstd_code)
}

/// Compresses an image that is not in memory as a whole, piece by piece.
///
/// What it holds is a window, whatever the size of the image.
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

/// The window of a streamed image where time matters, also for images that are in memory: what is behind a core's cache costs more than it
/// saves.
const NEAR_WINDOW_LOG: u32 = 22;
const STREAM_PIECE: usize = 128 << 10;

impl ZstdStream {
    /// A stream for exactly `size` bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Zstd`].
    pub fn new(level: i32, size: u64) -> Result<ZstdStream, Error> {
        let mut context = compressor(level)?;
        set(&mut context, CParameter::EnableLongDistanceMatching(is_long(level)))?;
        if level <= ONE_TABLE_LEVEL {
            set_near_window(&mut context, usize::try_from(size).unwrap_or(usize::MAX))?;
        } else {
            set(&mut context, CParameter::WindowLog(STREAM_WINDOW_LOG))?;
            limit_tables(&mut context, Search { reach: usize::MAX, level })?;
        }
        context.set_pledged_src_size(Some(size)).map_err(zstd_code)?;
        Ok(ZstdStream { context: Context(context), out: Vec::with_capacity(STREAM_PIECE) })
    }

    /// Takes the next bytes of the image and hands what is compressed to `sink`.
    ///
    /// # Errors
    /// [`ErrorKind::Zstd`], and what `sink` returns.
    pub fn feed<E: From<Error>>(
        &mut self,
        bytes: &[u8],
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.run(bytes, ZSTD_EndDirective::ZSTD_e_continue, sink)
    }

    /// Hands the rest of the frame to `sink`.
    ///
    /// # Errors
    /// [`ErrorKind::Zstd`], also if fewer or more bytes came than were announced; and what `sink` returns.
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
    ErrorKind::Zstd { message: message.to_string() }.into()
}
