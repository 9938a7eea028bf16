//! Near-duplicates: images of equal size that differ in a few bytes, stored as patches of a base.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::planner::Planner;
use super::settings::{Mode, exceeds_reach};
use super::sketch::{self, Sketch};
use super::source::{ImageSource, RawImage, side_by_side};
use offload_format::Hash128;
use offload_format::codec::{MAX_RELATED, PatchBuilder};

/// The size up to which a patch is better than a frame.
const MAX_PATCH: u64 = 512;
/// In the mode `fast`, the inverse of a patch's largest share of the image: diffing is as fast as reading memory.
const MAX_FAST_SHARE: u64 = 32;
/// The same for images beyond the reach of compressors, which have no other relation.
const MAX_FAR_SHARE: u64 = 16;
/// The size of cached patches in bytes, which are not computed again when frames are encoded.
const PATCH_CACHE: usize = 16 << 20;
/// The number of bases with which an image is compared.
const ROUNDS: usize = 3;

/// An image stored as a patch of a base.
#[derive(Clone, Debug)]
pub(super) struct NearDuplicate {
    /// The place of the base.
    pub(super) base: usize,
    /// The patch, if it was cached.
    pub(super) patch: Option<Vec<u8>>,
}

/// Finds the near-duplicates among `images`, by place. No base is a near-duplicate itself.
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
    let search = Search { images, sketches, planner, cache_left: AtomicUsize::new(PATCH_CACHE) };
    let mut duplicates = BTreeMap::new();
    for _ in 0..ROUNDS {
        let comparisons: Vec<Comparison> =
            groups.iter().flat_map(|group| search.comparisons(group)).collect();
        let compared = planner.pool.map(
            &comparisons,
            |comparison| search.memory(comparison),
            |comparison| search.compare(comparison),
        )?;
        let mut different = BTreeSet::new();
        for (place, duplicate) in compared.into_iter().flatten() {
            match duplicate {
                Some(duplicate) => {
                    duplicates.insert(place, duplicate);
                }
                None => {
                    different.insert(place);
                }
            }
        }
        // These may be near-duplicates of each other.
        for group in &mut groups {
            group.retain(|place| different.contains(place));
        }
    }
    Ok(duplicates)
}

/// A task: the comparison of possible near-duplicates with their base.
struct Comparison {
    base: usize,
    others: Vec<usize>,
}

/// The number of images compared with a base while it is read once.
const BATCH: usize = 4;

/// The size limit of the patch of `image` in bytes.
fn max_patch(image: &RawImage, mode: Mode) -> u64 {
    if exceeds_reach(image, mode) {
        return image.size / MAX_FAR_SHARE;
    }
    if mode == Mode::Fast { MAX_PATCH.max(image.size / MAX_FAST_SHARE) } else { MAX_PATCH }
}

struct Search<'a, S> {
    images: &'a [RawImage],
    sketches: &'a [Sketch],
    planner: &'a Planner<'a, S>,
    /// The remainder of [`PATCH_CACHE`].
    cache_left: AtomicUsize,
}

impl<'a, S: ImageSource> Search<'a, S> {
    /// The comparisons among images of one size, chosen by their sketches. An image that is similar to no earlier one is a
    /// base.
    fn comparisons(&self, group: &[usize]) -> Vec<Comparison> {
        let mut bases: Vec<usize> = Vec::new();
        let mut similar: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in group {
            match self.nearest(*place, &bases) {
                Some(base) => similar.entry(base).or_default().push(*place),
                None => bases.push(*place),
            }
        }
        let mut comparisons = Vec::new();
        for (base, others) in similar {
            for batch in others.chunks(BATCH) {
                comparisons.push(Comparison { base, others: batch.to_vec() });
            }
        }
        comparisons
    }

    fn nearest(&self, place: usize, bases: &[usize]) -> Option<usize> {
        let image = self.image(place)?;
        // A few bytes change a few windows; images without shared code have up to a third in common.
        let tenths = match self.planner.mode {
            mode if exceeds_reach(image, mode) => 5,
            Mode::Fast => 3,
            _ => 9,
        };
        let sketch = self.sketch(place);
        let similar = bases.iter().map(|base| (sketch::shared(sketch, self.sketch(*base)), *base));
        let near = similar.filter(|(shared, _)| shared * 10 >= sketch.len() * tenths);
        near.min_by_key(|(shared, base)| (std::cmp::Reverse(*shared), *base)).map(|(_, base)| base)
    }

    /// The memory of a comparison in bytes: pieces and patches.
    fn memory(&self, comparison: &Comparison) -> u64 {
        let Some(base) = self.image(comparison.base) else { return 0 };
        let piece = self.planner.source.held(base.size);
        let each = piece.saturating_add(max_patch(base, self.planner.mode));
        piece.saturating_add(each.saturating_mul(comparison.others.len() as u64))
    }

    /// Compares images with their base; near-duplicates have a patch.
    fn compare(&self, comparison: &Comparison) -> Result<Vec<(usize, Option<NearDuplicate>)>, S::Error> {
        let Some(base) = self.image(comparison.base) else { return Ok(Vec::new()) };
        let limit = usize::try_from(max_patch(base, self.planner.mode)).unwrap_or(usize::MAX);
        let hashes: Vec<Hash128> =
            comparison.others.iter().filter_map(|place| self.image(*place)).map(|image| image.hash).collect();
        let mut diffs: Vec<PatchBuilder> = hashes.iter().map(|_| PatchBuilder::new(limit)).collect();
        let near = side_by_side(self.planner.source, base.hash, &hashes, &mut |place, base, other| {
            diffs.get_mut(place).is_some_and(|diff: &mut PatchBuilder| diff.feed(base, other))
        })?;
        let mut compared = Vec::new();
        for ((place, is_near), diff) in comparison.others.iter().zip(near).zip(diffs) {
            let duplicate =
                is_near.then(|| NearDuplicate { base: comparison.base, patch: self.cache(diff.finish()) });
            compared.push((*place, duplicate));
        }
        Ok(compared)
    }

    /// Caches a patch while there is space. Timing affects which patches are cached, never their bytes.
    fn cache(&self, mut patch: Vec<u8>) -> Option<Vec<u8>> {
        let size = patch.len();
        self.cache_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(size))
            .ok()?;
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
