//! Sketches: a few hundred numbers for an image, of which two images share as many as they share code.
//!
//! The least hashes of all windows of an image, "bottom-k" of Broder, On the resemblance and containment of documents
//! (<https://doi.org/10.1109/SEQUEN.1997.666900>).

use std::cmp::Reverse;

use super::pieces::Pieces;
use super::settings::Mode;

/// The sorted least hashes of an image's windows.
pub(super) type Sketch = Vec<u64>;

/// An image that shares code with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Similar {
    pub(super) place: usize,
    /// How many numbers the two sketches share.
    pub(super) shared: usize,
}

const SIZE: usize = 256;
/// How many numbers all sketches have together: of very many images each has fewer, down to [`LEAST`].
const ALL: usize = 1 << 19;
const LEAST: usize = 32;
const WINDOW: usize = 16;
/// Of images that share a window with more others than this, the nearest count.
const MOST_SHARING: usize = 24;
/// How many are compared for each that is kept.
const SEEN: usize = 4;

/// How many numbers each of so many sketches has.
pub(super) fn size(images: usize) -> usize {
    ALL.checked_div(images).unwrap_or(SIZE).clamp(LEAST, SIZE)
}

/// The sketch of an image, of `size` numbers at most.
pub(super) fn of(image: &[u8], size: usize) -> Sketch {
    let mut least = Least::new(size);
    least.take_all(image, Alignment::of(image));
    least.finish()
}

/// What a sketch is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// One piece in [`SAMPLED`]: enough to tell images of one size that have the same bytes at the same places.
    Sample,
}

/// How many pieces there are for each that is looked at.
const SAMPLED: usize = 8;

/// The sketch of an image that is read piece by piece. What lies across two pieces does not count.
pub(super) fn of_pieces<E>(pieces: &mut dyn Pieces<E>, size: usize, part: Part) -> Result<Sketch, E> {
    let (mut least, mut alignment) = (Least::new(size), None);
    loop {
        let piece = pieces.next()?;
        if piece.is_empty() {
            return Ok(least.finish());
        }
        least.take_all(piece, *alignment.get_or_insert_with(|| Alignment::of(piece)));
        if part == Part::Sample {
            (1..SAMPLED).try_for_each(|_| pieces.skip())?;
        }
    }
}

/// Where windows begin.
#[derive(Clone, Copy, Debug)]
enum Alignment {
    /// Instructions are words.
    Word,
    /// Text has no alignment.
    Byte,
}

impl Alignment {
    fn of(image: &[u8]) -> Alignment {
        if matches!(image, [0x7f, b'E', b'L', b'F', ..] | [3, 2, 0x23, 7, ..]) {
            Alignment::Word
        } else {
            Alignment::Byte
        }
    }
}

/// Whether the window that begins with `word` counts: one of 32 does, the same ones in every image, wherever they lie;
/// never zeros. The rest are not worth the time that hashes take.
#[inline]
fn is_sampled(word: &[u8]) -> bool {
    let word = word.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    word.wrapping_mul(0x9e37_79b1) >> 27 == 1
}

/// How many words are looked at together: a bit for each.
const GROUP: usize = u64::BITS as usize;

/// Which words of a group count. A branch for each would be mispredicted where it matters.
fn sampled(words: &[u8]) -> u64 {
    let words = words.chunks_exact(4).enumerate();
    words.fold(0, |mask, (at, word)| mask | u64::from(is_sampled(word)) << at)
}

/// The least hashes so far, some of them twice.
struct Least {
    hashes: Vec<u64>,
    size: usize,
    limit: u64,
}

impl Least {
    fn new(size: usize) -> Least {
        Least { hashes: Vec::with_capacity(4 * size), size, limit: u64::MAX }
    }

    /// Takes the windows of `bytes`.
    fn take_all(&mut self, bytes: &[u8], alignment: Alignment) {
        match alignment {
            Alignment::Word => {
                let groups = bytes.chunks(4 * GROUP).enumerate();
                groups.for_each(|(at, words)| self.take_group(bytes, GROUP * at, sampled(words)));
            }
            Alignment::Byte => {
                let words = bytes.windows(4).enumerate().filter(|(_, word)| is_sampled(word));
                words.for_each(|(at, _)| self.take(bytes, at));
            }
        }
    }

    /// Takes the windows at those words from `first` on that have a bit.
    fn take_group(&mut self, bytes: &[u8], first: usize, mut bits: u64) {
        while bits != 0 {
            self.take(bytes, 4 * (first + bits.trailing_zeros() as usize));
            bits &= bits - 1;
        }
    }

    fn finish(mut self) -> Sketch {
        shrink(&mut self.hashes, self.size);
        self.hashes.shrink_to_fit();
        self.hashes
    }

    /// Takes the window at `at`.
    fn take(&mut self, image: &[u8], at: usize) {
        let Some(hash) = image.get(at..at.saturating_add(WINDOW)).map(hash) else { return };
        if hash < self.limit {
            self.hashes.push(hash);
            if self.hashes.len() == 4 * self.size {
                shrink(&mut self.hashes, self.size);
                let full = self.hashes.len() == self.size;
                self.limit = self.hashes.last().copied().filter(|_| full).unwrap_or(self.limit);
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
    let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let mixed = (word(low) ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29)
        ^ word(high).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ mixed >> 29
}

/// How many numbers two sketches share.
pub(super) fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
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

/// For each of `candidates`, which others may resemble it, as places in `candidates`: the most similar first.
pub(super) fn relations(candidates: &[usize], sketches: &[Sketch], mode: Mode) -> Vec<Vec<Similar>> {
    let most = match mode {
        Mode::None | Mode::Fast => 2,
        Mode::Balanced | Mode::Archive => 8,
        Mode::Max => 24,
    };
    let of = |place: usize| candidates.get(place).and_then(|image| sketches.get(*image));
    // Few images are all compared.
    let all = mode > Mode::Fast && candidates.len() <= 2 * most;
    let mut index: Vec<(u64, usize)> = Vec::new();
    for place in 0..candidates.len() {
        index.extend(of(place).into_iter().flatten().map(|hash| (*hash, place)));
    }
    index.sort_unstable();
    let similar = |place: usize| {
        let Some(sketch) = of(place) else { return Vec::new() };
        let others: Vec<usize> = if all {
            (0..candidates.len()).collect()
        } else {
            sharing_most(&index, sketch, place, SEEN * most)
        };
        let others = others.into_iter().filter(|other| *other != place);
        let similar = |place: usize| Some(Similar { place, shared: shared(sketch, of(place)?) });
        let mut found: Vec<Similar> = others.filter_map(similar).collect();
        found.sort_by_key(|similar| (Reverse(similar.shared), similar.place));
        found.truncate(if all { candidates.len() } else { most });
        found
    };
    (0..candidates.len()).map(similar).collect()
}

/// Which images share most numbers with the sketch of the image at `place`, `most` images at most.
fn sharing_most(index: &[(u64, usize)], sketch: &[u64], place: usize, most: usize) -> Vec<usize> {
    let mut others = Vec::new();
    for hash in sketch {
        let start = index.partition_point(|entry| *entry < (*hash, 0));
        let end = index.partition_point(|entry| *entry <= (*hash, usize::MAX));
        let run = index.get(start..end).unwrap_or_default();
        let own = run.partition_point(|(_, other)| *other < place);
        let count = MOST_SHARING.min(most);
        let first = own.saturating_sub(count / 2).min(run.len().saturating_sub(count));
        others.extend(run.iter().skip(first).take(count).map(|(_, other)| *other));
    }
    others.sort_unstable();
    let mut counted: Vec<(Reverse<usize>, usize)> = others
        .chunk_by(|one, other| one == other)
        .filter_map(|same| Some((Reverse(same.len()), *same.first()?)))
        .collect();
    counted.sort_unstable();
    counted.into_iter().take(most).map(|(_, other)| other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64, size: usize) -> Vec<u8> {
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..size).map(|_| next()).collect()
    }

    #[test]
    fn similar_images_share_and_others_do_not() {
        let image = noise(1, 100_000);
        let mut half = image.clone();
        half[..50_000].copy_from_slice(&noise(2, 50_000));
        let shares = |other: &[u8]| shared(&of(&image, SIZE), &of(other, SIZE));
        assert_eq!(shares(&image), SIZE);
        // Half of the windows of each are the other's.
        assert!((90..170).contains(&shares(&half)), "{}", shares(&half));
        assert!(shares(&noise(3, 100_000)) < 3);
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
        let sketches: Vec<Sketch> = images.iter().map(|image| of(image, SIZE)).collect();
        let candidates: Vec<usize> = (0..60).collect();
        for (at, similar) in relations(&candidates, &sketches, Mode::Balanced).iter().enumerate() {
            assert_eq!(similar[0].place, at ^ 1, "{similar:?}");
            assert_eq!(similar.len(), 8);
        }
    }
}
