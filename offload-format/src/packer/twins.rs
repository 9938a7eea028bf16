//! Twins: images of one size that differ in a few bytes.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::Pool;
use super::pieces::side_by_side;
use super::sketch::{self, Sketch};
use super::{Candidate, Effort, HUGE, Source};
use crate::codec::{Diff, MAX_RELATED};

/// A patch above this size would better be a frame.
const LARGEST_PATCH: u64 = 512;
/// Where time matters more than size, this part of the image: a patch is found as fast as memory is read.
const LARGEST_FAST_PART: u64 = 32;
/// The same for images of which the compressor's one table of hashes loses sight: next to a parent, too, it finds less
/// than that.
const LARGEST_FAR_PART: u64 = 16;
/// From here on the table does, in bytes.
const FAR: u64 = 4 << 20;
/// With how many leaders of its size an image is compared.
const ROUNDS: usize = 3;

/// For each twin its leader, as places in `images`. No leader is a twin.
pub(super) fn find<S: Source>(
    images: &[Candidate],
    sketches: &[Sketch],
    (source, pool): (&S, &Pool<'_>),
    effort: Effort,
) -> Result<BTreeMap<usize, usize>, S::Error> {
    let mut sizes: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, image) in images.iter().enumerate().filter(|(_, image)| image.size <= MAX_RELATED) {
        sizes.entry(image.size).or_default().push(place);
    }
    let mut groups: Vec<Vec<usize>> = sizes.into_values().collect();
    let search = Search { images, sketches, source, effort };
    let mut twins = BTreeMap::new();
    for _ in 0..ROUNDS {
        let pairs: Vec<Pair> = groups.iter().flat_map(|group| search.pairs(group)).collect();
        let memory = |pair: &Pair| search.image(pair.twin).map_or(0, |image| 2 * source.held(image.size));
        let are_twins = pool.map(&pairs, memory, |pair| search.are_twins(pair))?;
        let (found, failed): (Vec<_>, Vec<_>) = pairs.iter().zip(are_twins).partition(|(_, twins)| *twins);
        twins.extend(found.into_iter().map(|(pair, _)| (pair.twin, pair.leader)));
        // These may be twins of each other.
        let failed: BTreeSet<usize> = failed.into_iter().map(|(pair, _)| pair.twin).collect();
        groups.iter_mut().for_each(|group| group.retain(|place| failed.contains(place)));
    }
    Ok(twins)
}

/// An image that may be the twin of a leader.
struct Pair {
    leader: usize,
    twin: usize,
}

/// How large the patch of an image of `size` bytes may be.
fn largest_patch(size: u64, effort: Effort) -> u64 {
    match effort {
        // Nothing else relates them.
        _ if size > HUGE => size / LARGEST_FAR_PART,
        Effort::Fast if size > FAR => size / LARGEST_FAR_PART,
        Effort::Fast => LARGEST_PATCH.max(size / LARGEST_FAST_PART),
        _ => LARGEST_PATCH,
    }
}

struct Search<'a, S> {
    images: &'a [Candidate],
    sketches: &'a [Sketch],
    source: &'a S,
    effort: Effort,
}

impl<'a, S: Source> Search<'a, S> {
    /// Who may be whose twin among images of one size, by their sketches alone: an image that resembles none before it
    /// leads.
    fn pairs(&self, group: &[usize]) -> Vec<Pair> {
        let mut leaders: Vec<usize> = Vec::new();
        let mut pairs = Vec::new();
        for twin in group.iter().copied() {
            match self.nearest(twin, &leaders) {
                Some(leader) => pairs.push(Pair { leader, twin }),
                None => leaders.push(twin),
            }
        }
        pairs
    }

    fn nearest(&self, place: usize, leaders: &[usize]) -> Option<usize> {
        // A few bytes change a few windows, a few in a hundred many.
        let size = self.image(place).map_or(0, |image| image.size);
        let tenths = if largest_patch(size, self.effort) > LARGEST_PATCH { 3 } else { 9 };
        let sketch = self.sketch(place);
        let alike = leaders.iter().map(|leader| (sketch::shared(sketch, self.sketch(*leader)), *leader));
        let near = alike.filter(|(shared, _)| shared * 10 >= sketch.len() * tenths);
        near.min_by_key(|(shared, leader)| (std::cmp::Reverse(*shared), *leader)).map(|(_, leader)| leader)
    }

    fn are_twins(&self, pair: &Pair) -> Result<bool, S::Error> {
        let Some((leader, twin)) = self.image(pair.leader).zip(self.image(pair.twin)) else {
            return Ok(false);
        };
        let limit = usize::try_from(largest_patch(twin.size, self.effort)).unwrap_or(usize::MAX);
        let mut diff = Diff::new(limit);
        side_by_side(self.source, (leader.hash, twin.hash), &mut |leader, twin| diff.feed(leader, twin))
    }

    fn sketch(&self, place: usize) -> &'a [u64] {
        self.sketches.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    fn image(&self, place: usize) -> Option<&'a Candidate> {
        self.images.get(place)
    }
}
