//! Frames of large images in chunks that several threads decode.
//!
//! The first chunk is a prefix of all others, which keeps most of the matches between them: chunks without it are a quarter
//! larger, with it about as large as one frame. Layout in bytes: u32 number of chunks, for each chunk its stored size and
//! its raw size as u32, then the zstd frames of the chunks.

use std::sync::Mutex;

use super::memory::Output;
use super::threads::Threads;
#[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
use super::zstd::decompress_into;
#[cfg(any(target_family = "wasm", all(feature = "pure", not(feature = "libzstd"))))]
use super::zstd_in_rust::decompress_into;
use crate::{Error, ErrorKind};

/// The largest size of the first chunk, which is decoded before all others; it is a quarter of smaller content.
#[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
const MAX_FIRST: usize = 4 << 20;
/// The largest size of another chunk.
#[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
const LARGEST: usize = 8 << 20;
/// The size of a row of the table: two u32.
const ROW: usize = 8;

/// Compresses `content` in chunks; `level` is zstd's (1 to 22).
#[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
pub(super) fn compress(content: &[u8], level: i32) -> Result<Vec<u8>, Error> {
    let (first, rest) = content.split_at(MAX_FIRST.min(content.len().div_ceil(4)));
    let mut frames = vec![(first.len(), super::zstd::compress(first, None, level)?)];
    let count = rest.len().div_ceil(LARGEST).max(1);
    for chunk in rest.chunks(rest.len().div_ceil(count).max(1)) {
        frames.push((chunk.len(), super::zstd::compress(chunk, Some(first), level)?));
    }
    let mut out = Vec::new();
    out.extend(size_field(frames.len())?);
    for (raw, frame) in &frames {
        out.extend(size_field(frame.len())?);
        out.extend(size_field(*raw)?);
    }
    for (_, frame) in &frames {
        out.extend(frame);
    }
    Ok(out)
}

#[cfg(all(feature = "libzstd", not(target_family = "wasm")))]
fn size_field(size: usize) -> Result<[u8; 4], Error> {
    let size = u32::try_from(size).map_err(|_| Error::invalid("the size of a chunk", size as u64))?;
    Ok(size.to_le_bytes())
}

/// A chunk to decode: its frame, and where its content goes.
struct Chunk<'f, 'o> {
    frame: &'f [u8],
    content: &'o mut [u8],
}

/// Decompresses `frame`, whose content must have the size of `output`.
pub(super) fn decompress(frame: &[u8], output: Output<'_>, threads: Threads) -> Result<Vec<u8>, Error> {
    let sizes = read_sizes(frame).ok_or_else(damaged)?;
    let total = sizes.rows.iter().try_fold(0u64, |sum, row| sum.checked_add(row.raw as u64));
    if total != Some(output.size) {
        return Err(damaged());
    }
    let mut out = output.zeroed()?;
    let mut chunks = divide(&sizes, &mut out).ok_or_else(damaged)?;
    let Chunk { frame: first_frame, content: first } = chunks.next().ok_or_else(damaged)?;
    decompress_into(first_frame, None, first)?;
    decode_all(chunks.collect(), first, threads)?;
    Ok(out)
}

/// Decodes `chunks` with the prefix `first` in up to `threads`.
fn decode_all(chunks: Vec<Chunk<'_, '_>>, first: &[u8], threads: Threads) -> Result<(), Error> {
    let workers = threads.get().min(chunks.len());
    let queue = Mutex::new(chunks.into_iter());
    if workers < 2 {
        return work(&queue, first);
    }
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        for _ in 1..workers {
            // A thread that does not start leaves its share to the others.
            others.extend(std::thread::Builder::new().spawn_scoped(scope, || work(&queue, first)));
        }
        let mut result = work(&queue, first);
        for other in others {
            result = result.and(other.join().unwrap_or_else(|_| Err(damaged())));
        }
        result
    })
}

/// Decodes chunks until the queue is empty.
fn work(queue: &Mutex<std::vec::IntoIter<Chunk<'_, '_>>>, first: &[u8]) -> Result<(), Error> {
    loop {
        let next = match queue.lock() {
            Ok(mut queue) => queue.next(),
            Err(_) => return Err(damaged()),
        };
        let Some(chunk) = next else { return Ok(()) };
        decompress_into(chunk.frame, Some(first), chunk.content)?;
    }
}

/// The sizes of a chunk in bytes.
struct Row {
    stored: usize,
    raw: usize,
}

/// The table of a frame, and what follows it.
struct Sizes<'f> {
    rows: Vec<Row>,
    frames: &'f [u8],
}

fn read_sizes(frame: &[u8]) -> Option<Sizes<'_>> {
    let (count, rest) = frame.split_first_chunk::<4>()?;
    let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
    let (table, frames) = rest.split_at_checked(count.checked_mul(ROW)?)?;
    let mut rows = Vec::new();
    for row in table.chunks_exact(ROW) {
        let (stored, raw) = row.split_first_chunk::<4>()?;
        let raw = raw.first_chunk::<4>()?;
        let stored = usize::try_from(u32::from_le_bytes(*stored)).ok()?;
        rows.push(Row { stored, raw: usize::try_from(u32::from_le_bytes(*raw)).ok()? });
    }
    Some(Sizes { rows, frames })
}

/// The chunks of a frame; none if its sizes do not add up.
fn divide<'f, 'o>(sizes: &Sizes<'f>, out: &'o mut [u8]) -> Option<std::vec::IntoIter<Chunk<'f, 'o>>> {
    let mut chunks = Vec::new();
    let mut frames = sizes.frames;
    let mut out = out;
    for row in &sizes.rows {
        let (frame, behind) = frames.split_at_checked(row.stored)?;
        let (content, rest) = out.split_at_mut_checked(row.raw)?;
        chunks.push(Chunk { frame, content });
        frames = behind;
        out = rest;
    }
    (frames.is_empty() && out.is_empty()).then(|| chunks.into_iter())
}

fn damaged() -> Error {
    ErrorKind::Damaged { what: "the chunks of the image" }.into()
}

#[cfg(all(test, feature = "libzstd"))]
mod tests {
    use super::*;

    /// Bytes of which chunks repeat parts of the first one.
    fn content(size: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut bytes = Vec::with_capacity(size);
        while bytes.len() < size {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let from = (state >> 4) as usize % (bytes.len() + 1);
            bytes.extend_from_slice(&state.to_le_bytes());
            bytes.extend_from_within(from..bytes.len().min(from + 4000));
        }
        bytes.truncate(size);
        bytes
    }

    fn decoded(frame: &[u8], size: usize, threads: usize) -> Result<Vec<u8>, Error> {
        let output = Output { size: size as u64, spare: &mut Vec::new() };
        decompress(frame, output, Threads::new(threads))
    }

    #[test]
    fn chunks_decode_in_any_number_of_threads() {
        for size in [0, 1, 5, 100_000, MAX_FIRST + 2 * LARGEST + 1] {
            let content = content(size);
            let frame = compress(&content, 3).unwrap();
            for threads in [1, 2, 7] {
                assert!(decoded(&frame, size, threads).unwrap() == content, "{size} {threads}");
            }
        }
    }

    #[test]
    fn damage_is_an_error_in_every_thread() {
        let content = content(MAX_FIRST + 3 * LARGEST);
        let frame = compress(&content, 3).unwrap();
        let head = 4 + 4 * ROW;
        for at in (0..head).chain((head..frame.len()).step_by(frame.len() / 100)) {
            let mut bytes = frame.clone();
            bytes[at] ^= 0x10;
            let outcome = decoded(&bytes, content.len(), 4);
            // Literals that changed are found by the hash of the image.
            assert!(at >= head || outcome.is_err(), "{at}");
            assert!(outcome.is_err() || outcome.unwrap().len() == content.len());
        }
        for end in [0, 3, 4, head - 1, head, frame.len() - 1] {
            assert!(decoded(&frame[..end], content.len(), 4).is_err(), "{end}");
        }
        assert!(decoded(&[&frame[..], &[0]].concat(), content.len(), 4).is_err());
        assert!(decoded(&frame, content.len() - 1, 4).is_err());
    }
}
