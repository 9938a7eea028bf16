//! Twins: images of one size that differ in a few bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::budget::Pool;
use super::settings::{Mode, is_far};
use super::sketch::{self, Sketch};
use super::source::side_by_side;
use super::source::{ImageSource, RawImage};
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
/// With how many leaders of its size an image is compared.
const ROUNDS: usize = 3;

/// An image that is a patch of another one.
#[derive(Clone, Debug)]
pub(super) struct Twin {
    /// The place of the other one.
    pub(super) leader: usize,
    /// The patch, where it was kept.
    pub(super) patch: Option<Vec<u8>>,
}

/// The twins among `images`, by place. No leader is a twin.
pub(super) fn find<S: ImageSource>(
    images: &[RawImage],
    sketches: &[Sketch],
    (source, pool): (&S, &Pool<'_>),
    mode: Mode,
) -> Result<BTreeMap<usize, Twin>, S::Error> {
    let mut sizes: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, image) in images.iter().enumerate().filter(|(_, image)| image.size <= MAX_RELATED) {
        sizes.entry(image.size).or_default().push(place);
    }
    let mut groups: Vec<Vec<usize>> = sizes.into_values().collect();
    let search = Search { images, sketches, source, mode, unused: AtomicUsize::new(KEPT) };
    let mut twins = BTreeMap::new();
    for _ in 0..ROUNDS {
        let few: Vec<Few> = groups.iter().flat_map(|group| search.pairs(group)).collect();
        let compared = pool.map(&few, |few| search.held(few), |few| search.compare(few))?;
        let mut failed = BTreeSet::new();
        for (place, twin) in compared.into_iter().flatten() {
            match twin {
                Some(twin) => drop(twins.insert(place, twin)),
                None => drop(failed.insert(place)),
            }
        }
        // These may be twins of each other.
        groups.iter_mut().for_each(|group| group.retain(|place| failed.contains(place)));
    }
    Ok(twins)
}

/// Images that may be twins of one leader, few enough for one piece of work.
struct Few {
    leader: usize,
    twins: Vec<usize>,
}

/// So many read their leader once.
const FEW: usize = 4;

/// How large the patch of `image` may be, in bytes.
fn largest_patch(image: &RawImage, mode: Mode) -> u64 {
    match mode {
        _ if is_far(image, mode) => image.size / LARGEST_FAR_PART,
        Mode::Fast => LARGEST_PATCH.max(image.size / LARGEST_FAST_PART),
        _ => LARGEST_PATCH,
    }
}

struct Search<'a, S> {
    images: &'a [RawImage],
    sketches: &'a [Sketch],
    source: &'a S,
    mode: Mode,
    /// What is left of [`KEPT`].
    unused: AtomicUsize,
}

impl<'a, S: ImageSource> Search<'a, S> {
    /// Who may be whose twin among images of one size, by their sketches alone: an image that resembles none before it
    /// leads.
    fn pairs(&self, group: &[usize]) -> Vec<Few> {
        let mut leaders: Vec<usize> = Vec::new();
        let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in group {
            match self.nearest(*place, &leaders) {
                Some(leader) => found.entry(leader).or_default().push(*place),
                None => leaders.push(*place),
            }
        }
        let chunks = found.iter().flat_map(|(leader, twins)| twins.chunks(FEW).map(|few| (*leader, few)));
        chunks.map(|(leader, few)| Few { leader, twins: few.to_vec() }).collect()
    }

    fn nearest(&self, place: usize, leaders: &[usize]) -> Option<usize> {
        let image = self.image(place)?;
        // A few bytes change a few windows; strangers have up to a third in common.
        let tenths = match self.mode {
            mode if is_far(image, mode) => 5,
            Mode::Fast => 3,
            _ => 9,
        };
        let sketch = self.sketch(place);
        let alike = leaders.iter().map(|leader| (sketch::shared(sketch, self.sketch(*leader)), *leader));
        let near = alike.filter(|(shared, _)| shared * 10 >= sketch.len() * tenths);
        near.min_by_key(|(shared, leader)| (std::cmp::Reverse(*shared), *leader)).map(|(_, leader)| leader)
    }

    /// How many bytes it takes to compare them: pieces, and patches.
    fn held(&self, few: &Few) -> u64 {
        let Some(leader) = self.image(few.leader) else { return 0 };
        let (piece, twins) = (self.source.held(leader.size), few.twins.len() as u64);
        let each = piece.saturating_add(largest_patch(leader, self.mode));
        piece.saturating_add(each.saturating_mul(twins))
    }

    /// Each with what it is to its leader, if it is a twin.
    fn compare(&self, few: &Few) -> Result<Vec<(usize, Option<Twin>)>, S::Error> {
        let Some(leader) = self.image(few.leader) else { return Ok(Vec::new()) };
        let limit = usize::try_from(largest_patch(leader, self.mode)).unwrap_or(usize::MAX);
        let hashes: Vec<Hash128> =
            few.twins.iter().filter_map(|place| self.image(*place)).map(|image| image.hash).collect();
        let mut diffs: Vec<Diff> = hashes.iter().map(|_| Diff::new(limit)).collect();
        let mut feed = |place: usize, leader: &[u8], twin: &[u8]| {
            diffs.get_mut(place).is_some_and(|diff: &mut Diff| diff.feed(leader, twin))
        };
        let near = side_by_side(self.source, leader.hash, &hashes, &mut feed)?;
        let twin = |diff: Diff| Twin { leader: few.leader, patch: self.keep(diff.finish()) };
        let found = near.into_iter().zip(diffs).map(|(near, diff)| near.then(|| twin(diff)));
        Ok(few.twins.iter().copied().zip(found).collect())
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
