//! Sketches: a few hundred numbers for an image, of which two images share as many as they share code.
//!
//! The least hashes of all windows of an image, "bottom-k" of Broder, On the resemblance and containment of documents
//! (<https://doi.org/10.1109/SEQUEN.1997.666900>).

use super::Effort;

/// The sorted least hashes of an image's windows.
pub(super) type Sketch = Vec<u64>;

/// Places of images with how many numbers they share, the most similar first.
pub(super) type Alike = Vec<(usize, usize)>;

const SIZE: usize = 256;
const WINDOW: usize = 16;
/// Of images that share a window with more others than this, the nearest count.
const CROWD: usize = 24;

/// The sketch of an image.
pub(super) fn of(image: &[u8]) -> Sketch {
    // Instructions are words; text has no alignment.
    let words = matches!(image, [0x7f, b'E', b'L', b'F', ..] | [3, 2, 0x23, 7, ..]);
    let step = if words { 4 } else { 1 };
    let mut least: Vec<u64> = Vec::with_capacity(4 * SIZE);
    let mut limit = u64::MAX;
    for window in image.windows(WINDOW).step_by(step) {
        let hash = hash(window);
        if hash < limit {
            least.push(hash);
            if least.len() == 4 * SIZE {
                shrink(&mut least);
                limit = if least.len() == SIZE { least.last().copied().unwrap_or(limit) } else { limit };
            }
        }
    }
    shrink(&mut least);
    least
}

fn shrink(hashes: &mut Vec<u64>) {
    hashes.sort_unstable();
    hashes.dedup();
    hashes.truncate(SIZE);
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

/// For each of `leaders`, which others may resemble it, as places in `leaders`: the most similar first.
pub(super) fn relations(leaders: &[usize], sketches: &[Sketch], effort: Effort) -> Vec<Alike> {
    let most = match effort {
        Effort::None | Effort::Fast => 2,
        Effort::Balanced | Effort::Archive => 8,
        Effort::Max => 24,
    };
    let of = |place: usize| leaders.get(place).and_then(|image| sketches.get(*image));
    // Few images are all compared.
    let all = effort > Effort::Fast && leaders.len() <= 2 * most;
    let mut index: Vec<(u64, usize)> = Vec::new();
    for place in 0..leaders.len() {
        index.extend(of(place).into_iter().flatten().map(|hash| (*hash, place)));
    }
    index.sort_unstable();
    let alike = |place: usize| {
        let Some(sketch) = of(place) else { return Vec::new() };
        let others: Vec<usize> =
            if all { (0..leaders.len()).collect() } else { crowd(&index, sketch, place) };
        let others = others.into_iter().filter(|other| *other != place);
        let mut alike: Alike = others.filter_map(|other| Some((other, shared(sketch, of(other)?)))).collect();
        alike.sort_by_key(|(other, shared)| (std::cmp::Reverse(*shared), *other));
        alike.truncate(if all { leaders.len() } else { most });
        alike
    };
    (0..leaders.len()).map(alike).collect()
}

/// Who shares a number with `sketch`, each once.
fn crowd(index: &[(u64, usize)], sketch: &[u64], place: usize) -> Vec<usize> {
    let mut others = Vec::new();
    for hash in sketch {
        let start = index.partition_point(|entry| *entry < (*hash, 0));
        let end = index.partition_point(|entry| *entry <= (*hash, usize::MAX));
        let run = index.get(start..end).unwrap_or_default();
        let own = run.partition_point(|(_, other)| *other < place);
        let first = own.saturating_sub(CROWD / 2).min(run.len().saturating_sub(CROWD));
        others.extend(run.iter().skip(first).take(CROWD).map(|(_, other)| *other));
    }
    others.sort_unstable();
    others.dedup();
    others
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
    fn relatives_share_and_strangers_do_not() {
        let image = noise(1, 100_000);
        let mut half = image.clone();
        half[..50_000].copy_from_slice(&noise(2, 50_000));
        let shares = |other: &[u8]| shared(&of(&image), &of(other));
        assert_eq!(shares(&image), SIZE);
        // Half the windows of each are the other's: a third of both.
        assert!((60..120).contains(&shares(&half)), "{}", shares(&half));
        assert!(shares(&noise(3, 100_000)) < 3);
    }

    #[test]
    fn the_nearest_are_found_in_a_crowd() {
        let base = noise(1, 20_000);
        let images: Vec<Vec<u8>> = (0..60)
            .map(|at| {
                let mut image = base.clone();
                image[..10_000].copy_from_slice(&noise(2 * (100 + at / 2), 10_000));
                image[(at % 2 * 5000) as usize] ^= 1;
                image
            })
            .collect();
        let sketches: Vec<Sketch> = images.iter().map(|image| of(image)).collect();
        let leaders: Vec<usize> = (0..60).collect();
        for (at, alike) in relations(&leaders, &sketches, Effort::Balanced).iter().enumerate() {
            assert_eq!(alike[0].0, at ^ 1, "{alike:?}");
            assert_eq!(alike.len(), 8);
        }
    }
}
