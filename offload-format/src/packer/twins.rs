//! Twins: images of one size that differ in a few bytes.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::Pool;
use super::sketch::{self, Sketch};
use super::{Candidate, Effort, Source};
use crate::codec;

/// A patch above this size would better be a frame.
const LARGEST_PATCH: usize = 512;
/// Where time matters more than size, this part of the image: a patch is found as fast as memory is read.
const LARGEST_FAST_PART: usize = 32;
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
    for (place, image) in images.iter().enumerate() {
        sizes.entry(image.size).or_default().push(place);
    }
    let mut groups: Vec<Vec<usize>> = sizes.into_values().collect();
    let search = Search { images, sketches, source, effort };
    let mut twins = BTreeMap::new();
    for _ in 0..ROUNDS {
        let few: Vec<Few> = groups.iter().flat_map(|group| search.pairs(group)).collect();
        let memory = |few: &Few| search.image(few.leader).map_or(0, |image| 2 * image.size);
        let are_twins = pool.map(&few, memory, |few| search.are_twins(few))?.into_iter().flatten();
        let (found, failed): (Vec<_>, Vec<_>) = are_twins.partition(|(_, leader)| leader.is_some());
        twins.extend(found.into_iter().filter_map(|(twin, leader)| Some((twin, leader?))));
        // These may be twins of each other.
        let failed: BTreeSet<usize> = failed.into_iter().map(|(twin, _)| twin).collect();
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
const FEW: usize = 8;

struct Search<'a, S> {
    images: &'a [Candidate],
    sketches: &'a [Sketch],
    source: &'a S,
    effort: Effort,
}

impl<'a, S: Source> Search<'a, S> {
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
        // A few bytes change a few windows.
        let tenths = if self.effort == Effort::Fast { 3 } else { 9 };
        let sketch = self.sketch(place);
        let alike = leaders.iter().map(|leader| (sketch::shared(sketch, self.sketch(*leader)), *leader));
        let near = alike.filter(|(shared, _)| shared * 10 >= sketch.len() * tenths);
        near.min_by_key(|(shared, leader)| (std::cmp::Reverse(*shared), *leader)).map(|(_, leader)| leader)
    }

    /// Each with its leader, if it is a twin.
    fn are_twins(&self, few: &Few) -> Result<Vec<(usize, Option<usize>)>, S::Error> {
        let Some(leader) = self.image(few.leader) else { return Ok(Vec::new()) };
        let leader = self.source.read(leader.hash)?;
        let limit = match self.effort {
            Effort::Fast => LARGEST_PATCH.max(leader.len() / LARGEST_FAST_PART),
            _ => LARGEST_PATCH,
        };
        let is_twin = |place: &usize| {
            let Some(image) = self.image(*place) else { return Ok((*place, None)) };
            let patch = codec::patch(&leader, &self.source.read(image.hash)?, limit);
            Ok((*place, patch.map(|_| few.leader)))
        };
        few.twins.iter().map(is_twin).collect()
    }

    fn sketch(&self, place: usize) -> &'a [u64] {
        self.sketches.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    fn image(&self, place: usize) -> Option<&'a Candidate> {
        self.images.get(place)
    }
}
