//! Twins: images of one size that differ in a few bytes.

use std::collections::BTreeMap;

use super::budget::Pool;
use super::sketch::{self, Sketch};
use super::{Candidate, Source};
use crate::Hash128;
use crate::codec;

/// A patch above this size would better be a frame.
const LARGEST_PATCH: usize = 512;
/// Of how many leaders of its size an image is tried as a twin.
const TRIED: usize = 3;

/// For each twin its leader, as places in `images`. No leader is a twin.
pub(super) fn find<S: Source>(
    images: &[Candidate],
    sketches: &[Sketch],
    (source, pool): (&S, &Pool<'_>),
) -> Result<BTreeMap<usize, usize>, S::Error> {
    let mut sizes: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, image) in images.iter().enumerate() {
        sizes.entry(image.size).or_default().push(place);
    }
    let groups: Vec<(u64, Vec<usize>)> = sizes.into_iter().filter(|(_, group)| group.len() > 1).collect();
    let found = pool.map(
        &groups,
        |(size, _)| size.saturating_mul(2),
        |(_, group)| Group { images, sketches, source, leaders: Vec::new(), read: None }.twins(group),
    )?;
    Ok(found.into_iter().flatten().collect())
}

/// The images of one size.
struct Group<'a, S> {
    images: &'a [Candidate],
    sketches: &'a [Sketch],
    source: &'a S,
    leaders: Vec<usize>,
    /// The leader that was read last: often the next image is its twin, too.
    read: Option<(usize, Vec<u8>)>,
}

impl<S: Source> Group<'_, S> {
    fn twins(mut self, group: &[usize]) -> Result<Vec<(usize, usize)>, S::Error> {
        let mut twins = Vec::new();
        for place in group {
            match self.leader_of(*place)? {
                Some(leader) => twins.push((*place, leader)),
                None => self.leaders.push(*place),
            }
        }
        Ok(twins)
    }

    fn leader_of(&mut self, place: usize) -> Result<Option<usize>, S::Error> {
        let sketch = self.sketches.get(place).map(Vec::as_slice).unwrap_or_default();
        let alike = |leader: &usize| {
            let other = self.sketches.get(*leader).map(Vec::as_slice).unwrap_or_default();
            sketch::shared(sketch, other)
        };
        // A few bytes change a few windows.
        let near = self.leaders.iter().filter(|leader| alike(leader) * 10 >= sketch.len() * 9);
        let mut near: Vec<usize> = near.copied().collect();
        near.sort_by_key(|leader| (std::cmp::Reverse(alike(leader)), *leader));
        let mut image: Option<Vec<u8>> = None;
        for leader in near.into_iter().take(TRIED) {
            if image.is_none() {
                image = Some(self.source.read(self.hash(place))?);
            }
            self.load(leader)?;
            let parent = self.read.as_ref().map(|(_, bytes)| bytes.as_slice());
            let pair = parent.zip(image.as_deref());
            if pair.is_some_and(|(parent, image)| codec::patch(parent, image, LARGEST_PATCH).is_some()) {
                return Ok(Some(leader));
            }
        }
        Ok(None)
    }

    fn load(&mut self, leader: usize) -> Result<(), S::Error> {
        if self.read.as_ref().is_none_or(|(read, _)| *read != leader) {
            self.read = None;
            self.read = Some((leader, self.source.read(self.hash(leader))?));
        }
        Ok(())
    }

    fn hash(&self, place: usize) -> Hash128 {
        self.images.get(place).map_or(Hash128([0; 16]), |image| image.hash)
    }
}
