//! Samples of the content of a pack, for the comparison of compressors.

use std::collections::BTreeSet;

use offload_format::Hash128;
use offload_format::codec::{Codec, Filter, content_of};
use offload_format::pack::Image;

use crate::error::Result;
use crate::read::pack_file::{LocatedPack, PackFile};

/// The size of a piece in bytes: most of what a compressor finds is within reach.
const PIECE: u64 = 1 << 20;
/// Number of evenly spread pieces per stratum.
const PIECES: u64 = 3;

/// Storage of an image, which determines its compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    Alone,
    /// Relative to another image.
    Related,
    /// Together with other small ones.
    Block,
}

/// Everything of one kind.
#[derive(Debug)]
pub(super) struct Stratum {
    /// Size of the images in bytes.
    pub(super) raw: u64,
    /// Size of their frames in bytes.
    pub(super) stored: u64,
    pub(super) pieces: Vec<Piece>,
}

/// A part of an image after its filter, and the part of its parent that is in the same place.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) content: Vec<u8>,
    pub(super) prefix: Option<Vec<u8>>,
}

/// The strata of a file of packs, without those of which there is nothing.
pub(super) fn strata(file: &PackFile) -> Result<Vec<Stratum>> {
    let mut frames = Vec::new();
    for source in file.packs() {
        let mut seen = BTreeSet::new();
        for image in source.pack.images() {
            let image = image?;
            // Equal images share a frame, and those in a block have different places in it.
            if seen.insert((image.block, image.offset)) {
                frames.push(Frame { source, image });
            }
        }
    }
    let all = [FrameKind::Alone, FrameKind::Related, FrameKind::Block].map(|kind| stratum(&frames, kind));
    let all = all.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(all.into_iter().filter(|stratum| stratum.stored > 0).collect())
}

/// An image with what it is stored in.
struct Frame<'a> {
    source: LocatedPack<'a>,
    image: Image<'a>,
}

impl Frame<'_> {
    /// `None` for what no compressor has touched.
    fn kind(&self) -> Option<FrameKind> {
        match (self.image.block, self.image.codec) {
            (Some(_), _) => Some(FrameKind::Block),
            (None, Codec::Zstd | Codec::ZstdChunks) => Some(FrameKind::Alone),
            (None, Codec::ZstdPrefix) => Some(FrameKind::Related),
            _ => None,
        }
    }
}

fn stratum(frames: &[Frame<'_>], kind: FrameKind) -> Result<Stratum> {
    let members: Vec<&Frame<'_>> = frames.iter().filter(|frame| frame.kind() == Some(kind)).collect();
    let mut raw = 0u64;
    let mut stored = 0u64;
    for frame in &members {
        raw = raw.saturating_add(frame.image.raw_size);
        stored = stored.saturating_add(frame.image.stored_size);
    }
    if kind == FrameKind::Block {
        stored = blocks(&members)?;
    }
    let mut pieces = Vec::new();
    let mut decoded = ImageCache::default();
    for number in 0..PIECES {
        // The middle of each of so many parts of all bytes.
        let at = raw / PIECES * number + raw / PIECES / 2;
        pieces.extend(decoded.piece(&members, kind, at)?);
    }
    Ok(Stratum { raw, stored, pieces })
}

/// Bytes of all blocks, each once.
fn blocks(members: &[&Frame<'_>]) -> Result<u64> {
    let mut seen = BTreeSet::new();
    let mut sum = 0u64;
    for Frame { source, image } in members.iter().copied() {
        let Some(index) = image.block else { continue };
        let block = source.pack.block(index)?;
        if seen.insert(block.hash) {
            sum = sum.saturating_add(block.stored_size);
        }
    }
    Ok(sum)
}

/// Cache of the last decoded images: several pieces may be of one large image.
#[derive(Default)]
struct ImageCache {
    image: CachedImage,
    parent: CachedImage,
}

impl ImageCache {
    /// The piece around byte `at` of all `members`.
    fn piece(&mut self, members: &[&Frame<'_>], kind: FrameKind, at: u64) -> Result<Option<Piece>> {
        let mut start = 0u64;
        for (place, frame) in members.iter().enumerate() {
            let end = start.saturating_add(frame.image.raw_size);
            if at < end {
                return Ok(Some(match kind {
                    FrameKind::Block => together(members.get(place..).unwrap_or_default())?,
                    _ => self.within(frame, at.saturating_sub(start))?,
                }));
            }
            start = end;
        }
        Ok(None)
    }

    /// The piece around byte `at` of an image, with the corresponding range of its parent.
    fn within(&mut self, frame: &Frame<'_>, at: u64) -> Result<Piece> {
        let Frame { source, image } = frame;
        let content = around(self.image.content(source, image)?, at, PIECE);
        let prefix = match image.parent {
            Some(parent) => {
                let parent = self.parent.content(source, &source.pack.image(parent)?)?;
                let scaled = u128::from(at) * parent.len() as u128 / u128::from(image.raw_size.max(1));
                // Code that came or went has moved what follows it.
                Some(around(parent, u64::try_from(scaled).unwrap_or(u64::MAX), 2 * PIECE))
            }
            None => None,
        };
        Ok(Piece { content, prefix })
    }
}

/// The content of one image.
#[derive(Default)]
struct CachedImage {
    hash: Option<Hash128>,
    content: Vec<u8>,
}

impl CachedImage {
    fn content(&mut self, source: &LocatedPack<'_>, image: &Image<'_>) -> Result<&[u8]> {
        if self.hash != Some(image.hash) {
            self.content = content(source, image)?;
            self.hash = Some(image.hash);
        }
        Ok(&self.content)
    }
}

/// The first of `members`, as they stand in a block.
fn together(members: &[&Frame<'_>]) -> Result<Piece> {
    let mut joined = Vec::new();
    for frame in members {
        joined.extend_from_slice(&content(&frame.source, &frame.image)?);
        if joined.len() as u64 >= PIECE {
            break;
        }
    }
    Ok(Piece { content: joined, prefix: None })
}

fn content(source: &LocatedPack<'_>, image: &Image<'_>) -> Result<Vec<u8>> {
    let raw = source.decode(image)?;
    Ok(match image.filter {
        Filter::None => raw,
        filter => content_of(&raw, filter)?.into_owned(),
    })
}

/// `size` bytes with byte `at` in their midst, as far as there are.
fn around(bytes: &[u8], at: u64, size: u64) -> Vec<u8> {
    let last = (bytes.len() as u64).saturating_sub(size);
    let start = usize::try_from(at.saturating_sub(size / 2).min(last)).unwrap_or(usize::MAX);
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    bytes.iter().skip(start).take(size).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn pieces_lie_within_their_image() {
        let bytes: Vec<u8> = (0..100).collect();
        assert_eq!(around(&bytes, 50, 10), (45..55).collect::<Vec<u8>>());
        assert_eq!(around(&bytes, 2, 10), (0..10).collect::<Vec<u8>>());
        assert_eq!(around(&bytes, u64::MAX, 10), (90..100).collect::<Vec<u8>>());
        assert_eq!(around(&bytes, 50, 1000), bytes);
    }
}
