//! Near-duplicates: images of one size that differ in a few bytes. They are stored as patches of a base.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::planner::Planner;
use super::settings::{Mode, is_out_of_reach};
use super::sketch::{self, Sketch};
use super::source::{ImageSource, RawImage, side_by_side};
use crate::Hash128;
use crate::codec::{Diff, MAX_RELATED};

/// A patch above this size would better be a frame.
const LARGEST_PATCH: u64 = 512;
/// Where time matters more than size, this part of the image: a patch is found as fast as memory is read.
const LARGEST_FAST_PART: u64 = 32;
/// The same for images that nothing else relates.
const LARGEST_FAR_PART: u64 = 16;
/// How many bytes of patches are kept, so that nobody has to compare these images again.
const KEPT: usize = 16 << 20;
/// With how many bases of its size an image is compared.
const ROUNDS: usize = 3;

/// An image that is a patch of another one.
#[derive(Clone, Debug)]
pub(super) struct NearDuplicate {
    /// The place of the other one.
    pub(super) base: usize,
    /// The patch, where it was kept.
    pub(super) patch: Option<Vec<u8>>,
}

/// The near-duplicates among `images`, by place. No base is one.
pub(super) fn find<S: ImageSource>(
    images: &[RawImage],
    sketches: &[Sketch],
    planner: &Planner<'_, S>,
) -> Result<BTreeMap<usize, NearDuplicate>, S::Error> {
    let mut sizes: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, image) in images.iter().enumerate().filter(|(_, image)| image.size <= MAX_RELATED) {
        sizes.entry(image.size).or_default().push(place);
    }
    let mut groups: Vec<Vec<usize>> = sizes.into_values().collect();
    let search = Search { images, sketches, planner, unused: AtomicUsize::new(KEPT) };
    let mut found = BTreeMap::new();
    for _ in 0..ROUNDS {
        let all: Vec<Comparison> = groups.iter().flat_map(|group| search.comparisons(group)).collect();
        let held = |comparison: &Comparison| search.held(comparison);
        let compared = planner.pool.map(&all, held, |comparison| search.compare(comparison))?;
        let mut failed = BTreeSet::new();
        for (place, duplicate) in compared.into_iter().flatten() {
            match duplicate {
                Some(duplicate) => drop(found.insert(place, duplicate)),
                None => drop(failed.insert(place)),
            }
        }
        // These may be near-duplicates of each other.
        groups.iter_mut().for_each(|group| group.retain(|place| failed.contains(place)));
    }
    Ok(found)
}

/// Images that may be near-duplicates of one base, few enough for one piece of work.
struct Comparison {
    base: usize,
    others: Vec<usize>,
}

/// So many are compared while their base is read once.
const AT_ONCE: usize = 4;

/// How large the patch of `image` may be, in bytes.
fn largest_patch(image: &RawImage, mode: Mode) -> u64 {
    match mode {
        _ if is_out_of_reach(image, mode) => image.size / LARGEST_FAR_PART,
        Mode::Fast => LARGEST_PATCH.max(image.size / LARGEST_FAST_PART),
        _ => LARGEST_PATCH,
    }
}

struct Search<'a, S> {
    images: &'a [RawImage],
    sketches: &'a [Sketch],
    planner: &'a Planner<'a, S>,
    /// What is left of [`KEPT`].
    unused: AtomicUsize,
}

impl<'a, S: ImageSource> Search<'a, S> {
    /// What to compare among images of one size, by their sketches alone: an image that resembles none before it is a
    /// base.
    fn comparisons(&self, group: &[usize]) -> Vec<Comparison> {
        let mut bases: Vec<usize> = Vec::new();
        let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in group {
            match self.nearest(*place, &bases) {
                Some(base) => found.entry(base).or_default().push(*place),
                None => bases.push(*place),
            }
        }
        let chunks = found.iter().flat_map(|(base, others)| others.chunks(AT_ONCE).map(|few| (*base, few)));
        chunks.map(|(base, few)| Comparison { base, others: few.to_vec() }).collect()
    }

    fn nearest(&self, place: usize, bases: &[usize]) -> Option<usize> {
        let image = self.image(place)?;
        // A few bytes change a few windows; images without shared code have up to a third in common.
        let tenths = match self.planner.mode {
            mode if is_out_of_reach(image, mode) => 5,
            Mode::Fast => 3,
            _ => 9,
        };
        let sketch = self.sketch(place);
        let similar = bases.iter().map(|base| (sketch::shared(sketch, self.sketch(*base)), *base));
        let near = similar.filter(|(shared, _)| shared * 10 >= sketch.len() * tenths);
        near.min_by_key(|(shared, base)| (std::cmp::Reverse(*shared), *base)).map(|(_, base)| base)
    }

    /// How many bytes it takes to compare them: pieces, and patches.
    fn held(&self, comparison: &Comparison) -> u64 {
        let Some(base) = self.image(comparison.base) else { return 0 };
        let (piece, others) = (self.planner.source.held(base.size), comparison.others.len() as u64);
        let each = piece.saturating_add(largest_patch(base, self.planner.mode));
        piece.saturating_add(each.saturating_mul(others))
    }

    /// Each with its patch of the base, if it is a near-duplicate.
    fn compare(&self, comparison: &Comparison) -> Result<Vec<(usize, Option<NearDuplicate>)>, S::Error> {
        let Some(base) = self.image(comparison.base) else { return Ok(Vec::new()) };
        let limit = usize::try_from(largest_patch(base, self.planner.mode)).unwrap_or(usize::MAX);
        let hashes: Vec<Hash128> =
            comparison.others.iter().filter_map(|place| self.image(*place)).map(|image| image.hash).collect();
        let mut diffs: Vec<Diff> = hashes.iter().map(|_| Diff::new(limit)).collect();
        let mut feed = |place: usize, base: &[u8], other: &[u8]| {
            diffs.get_mut(place).is_some_and(|diff: &mut Diff| diff.feed(base, other))
        };
        let near = side_by_side(self.planner.source, base.hash, &hashes, &mut feed)?;
        let duplicate = |diff: Diff| NearDuplicate { base: comparison.base, patch: self.keep(diff.finish()) };
        let found = near.into_iter().zip(diffs).map(|(near, diff)| near.then(|| duplicate(diff)));
        Ok(comparison.others.iter().copied().zip(found).collect())
    }

    /// Whose patches are kept depends on who is first; what they are does not.
    fn keep(&self, mut patch: Vec<u8>) -> Option<Vec<u8>> {
        let take = |unused: usize| unused.checked_sub(patch.len());
        self.unused.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        patch.shrink_to_fit();
        Some(patch)
    }

    fn sketch(&self, place: usize) -> &'a [u64] {
        self.sketches.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    fn image(&self, place: usize) -> Option<&'a RawImage> {
        self.images.get(place)
    }
}
