//! Bottom-k sketches, which estimate the shared code of two images.
//!
//! A sketch consists of the least hashes of all windows of an image (Broder, On the resemblance and containment of
//! documents, <https://doi.org/10.1109/SEQUEN.1997.666900>).

use std::cmp::Reverse;

use super::pieces::Pieces;
use super::settings::Mode;

/// The sorted least hashes of an image's windows.
pub(super) type Sketch = Vec<u64>;

/// An image that shares code with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Similar {
    pub(super) place: usize,
    /// The number of hashes in both sketches.
    pub(super) shared: usize,
}

const MAX_SIZE: usize = 256;
/// The budget of hashes of all sketches together: with very many images each has fewer, down to [`MIN_SIZE`].
const TOTAL_SIZE: usize = 1 << 19;
const MIN_SIZE: usize = 32;
const WINDOW: usize = 16;
/// The number of images with a shared window that are examined: the nearest ones.
const MAX_SHARING: usize = 24;
/// The number of images compared per candidate.
const COMPARED_PER_CANDIDATE: usize = 4;

/// The size of each sketch of `images` ones.
pub(super) fn size(images: usize) -> usize {
    TOTAL_SIZE.checked_div(images).unwrap_or(MAX_SIZE).clamp(MIN_SIZE, MAX_SIZE)
}

/// The sketch of an image, with at most `size` hashes.
pub(super) fn new(image: &[u8], size: usize) -> Sketch {
    let mut builder = SketchBuilder::new(size);
    builder.add_windows(image, Alignment::for_image(image));
    builder.finish()
}

/// The part of an image that a sketch covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// One piece in [`SAMPLING`]: enough to recognise images of one size with the same bytes at the same offsets.
    Sample,
}

/// The number of pieces per sampled piece.
const SAMPLING: usize = 8;

/// The sketch of an image read piece by piece. Windows across pieces do not count.
pub(super) fn from_pieces<E>(pieces: &mut dyn Pieces<E>, size: usize, part: Part) -> Result<Sketch, E> {
    let mut builder = SketchBuilder::new(size);
    let mut alignment = None;
    loop {
        let piece = pieces.next()?;
        if piece.is_empty() {
            return Ok(builder.finish());
        }
        builder.add_windows(piece, *alignment.get_or_insert_with(|| Alignment::for_image(piece)));
        if part == Part::Sample {
            for _ in 1..SAMPLING {
                pieces.skip()?;
            }
        }
    }
}

/// The alignment of windows.
#[derive(Clone, Copy, Debug)]
enum Alignment {
    /// Instructions are words.
    Word,
    /// Text has no alignment.
    Byte,
}

impl Alignment {
    fn for_image(image: &[u8]) -> Alignment {
        if matches!(image, [0x7f, b'E', b'L', b'F', ..] | [3, 2, 0x23, 7, ..]) {
            Alignment::Word
        } else {
            Alignment::Byte
        }
    }
}

/// Whether the window that begins with `word` is sampled: one of 32, by content and so independent of the offset; never
/// zeros. More are not worth the time for hashing.
#[inline]
fn is_sampled(word: &[u8]) -> bool {
    let word = word.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    word.wrapping_mul(0x9e37_79b1) >> 27 == 1
}

/// The words of a group, each with a bit of a mask.
const GROUP: usize = u64::BITS as usize;

/// The mask of sampled words in a group. Without branches, which would be mispredicted.
fn sample_mask(words: &[u8]) -> u64 {
    let mut mask = 0;
    for (at, word) in words.chunks_exact(4).enumerate() {
        mask |= u64::from(is_sampled(word)) << at;
    }
    mask
}

/// A sketch under construction: the least hashes so far, with duplicates.
struct SketchBuilder {
    hashes: Vec<u64>,
    size: usize,
    limit: u64,
}

impl SketchBuilder {
    fn new(size: usize) -> SketchBuilder {
        SketchBuilder { hashes: Vec::with_capacity(4 * size), size, limit: u64::MAX }
    }

    /// Adds the sampled windows of `bytes`.
    fn add_windows(&mut self, bytes: &[u8], alignment: Alignment) {
        match alignment {
            Alignment::Word => {
                for (at, words) in bytes.chunks(4 * GROUP).enumerate() {
                    self.add_group(bytes, GROUP * at, sample_mask(words));
                }
            }
            Alignment::Byte => {
                for (at, word) in bytes.windows(4).enumerate() {
                    if is_sampled(word) {
                        self.add_window(bytes, at);
                    }
                }
            }
        }
    }

    /// Adds the windows at the words of `mask`, counted from word `first`.
    fn add_group(&mut self, bytes: &[u8], first: usize, mut mask: u64) {
        while mask != 0 {
            self.add_window(bytes, 4 * (first + mask.trailing_zeros() as usize));
            mask &= mask - 1;
        }
    }

    fn finish(mut self) -> Sketch {
        shrink(&mut self.hashes, self.size);
        self.hashes.shrink_to_fit();
        self.hashes
    }

    /// Adds the window at offset `at`.
    fn add_window(&mut self, image: &[u8], at: usize) {
        let Some(hash) = image.get(at..at.saturating_add(WINDOW)).map(hash) else { return };
        if hash >= self.limit {
            return;
        }
        self.hashes.push(hash);
        if self.hashes.len() == 4 * self.size {
            shrink(&mut self.hashes, self.size);
            if self.hashes.len() == self.size {
                self.limit = self.hashes.last().copied().unwrap_or(self.limit);
            }
        }
    }
}

fn shrink(hashes: &mut Vec<u64>, size: usize) {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.truncate(size);
}

fn hash(window: &[u8]) -> u64 {
    let (low, high) = window.split_at_checked(8).unwrap_or_default();
    let mixed = (word(low) ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29)
        ^ word(high).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ mixed >> 29
}

fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The number of hashes in both sketches.
pub(super) fn shared(a: &[u64], b: &[u64]) -> usize {
    let mut a = a.iter().peekable();
    let mut b = b.iter().peekable();
    let mut shared = 0;
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(a.next()),
            std::cmp::Ordering::Greater => drop(b.next()),
            std::cmp::Ordering::Equal => {
                shared += 1;
                a.next();
                b.next();
            }
        }
    }
    shared
}

/// The most similar images of each of `candidates`, as places in `candidates`, the most similar first.
pub(super) fn relations(candidates: &[usize], sketches: &[Sketch], mode: Mode) -> Vec<Vec<Similar>> {
    let limit = match mode {
        Mode::None | Mode::Fast => 2,
        Mode::Balanced | Mode::Archive => 8,
        Mode::Max => 24,
    };
    // Few images are all compared with each other.
    let compares_all = mode > Mode::Fast && candidates.len() <= 2 * limit;
    let sketches: Vec<&[u64]> =
        candidates.iter().map(|image| sketches.get(*image).map(Vec::as_slice).unwrap_or_default()).collect();
    let mut index: Vec<(u64, usize)> = Vec::new();
    for (place, sketch) in sketches.iter().enumerate() {
        index.extend(sketch.iter().map(|hash| (*hash, place)));
    }
    index.sort_unstable();
    let mut relations = Vec::new();
    for (place, sketch) in sketches.iter().enumerate() {
        let others: Vec<usize> = if compares_all {
            (0..candidates.len()).collect()
        } else {
            sharing_most(&index, sketch, place, COMPARED_PER_CANDIDATE * limit)
        };
        let mut similar = Vec::new();
        for other in others {
            let Some(other_sketch) = sketches.get(other).filter(|_| other != place) else { continue };
            similar.push(Similar { place: other, shared: shared(sketch, other_sketch) });
        }
        similar.sort_by_key(|similar| (Reverse(similar.shared), similar.place));
        similar.truncate(if compares_all { candidates.len() } else { limit });
        relations.push(similar);
    }
    relations
}

/// At most `limit` images that share most hashes with the sketch of the image at `place`.
fn sharing_most(index: &[(u64, usize)], sketch: &[u64], place: usize, limit: usize) -> Vec<usize> {
    let mut others = Vec::new();
    for hash in sketch {
        let start = index.partition_point(|entry| *entry < (*hash, 0));
        let end = index.partition_point(|entry| *entry <= (*hash, usize::MAX));
        let run = index.get(start..end).unwrap_or_default();
        let own = run.partition_point(|(_, other)| *other < place);
        let count = MAX_SHARING.min(limit);
        let first = own.saturating_sub(count / 2).min(run.len().saturating_sub(count));
        others.extend(run.iter().skip(first).take(count).map(|(_, other)| *other));
    }
    others.sort_unstable();
    let mut counted: Vec<(Reverse<usize>, usize)> = others
        .chunk_by(|one, other| one == other)
        .filter_map(|same| Some((Reverse(same.len()), *same.first()?)))
        .collect();
    counted.sort_unstable();
    counted.into_iter().take(limit).map(|(_, other)| other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64, size: usize) -> Vec<u8> {
        let mut state = seed | 1;
        let mut bytes = Vec::with_capacity(size);
        for _ in 0..size {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.push(state as u8);
        }
        bytes
    }

    #[test]
    fn similar_images_share_and_others_do_not() {
        let image = noise(1, 100_000);
        let mut half = image.clone();
        half[..50_000].copy_from_slice(&noise(2, 50_000));
        let sketch = new(&image, MAX_SIZE);
        assert_eq!(shared(&sketch, &new(&image, MAX_SIZE)), MAX_SIZE);
        // Half of the windows of each are the other's.
        let shared_by_half = shared(&sketch, &new(&half, MAX_SIZE));
        assert!((90..170).contains(&shared_by_half), "{shared_by_half}");
        assert!(shared(&sketch, &new(&noise(3, 100_000), MAX_SIZE)) < 3);
    }

    #[test]
    fn the_nearest_are_found_among_many() {
        let base = noise(1, 20_000);
        let images: Vec<Vec<u8>> = (0..60)
            .map(|at| {
                let mut image = base.clone();
                image[..10_000].copy_from_slice(&noise(2 * (100 + at / 2), 10_000));
                image[(at % 2 * 5000) as usize] ^= 1;
                image
            })
            .collect();
        let sketches: Vec<Sketch> = images.iter().map(|image| new(image, MAX_SIZE)).collect();
        let candidates: Vec<usize> = (0..60).collect();
        for (at, similar) in relations(&candidates, &sketches, Mode::Balanced).iter().enumerate() {
            assert_eq!(similar[0].place, at ^ 1, "{similar:?}");
            assert_eq!(similar.len(), 8);
        }
    }
}
