//! Similarity order: a greedy chain from each image to the most similar remaining one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::sketch::Sketch;

/// The number of images with a shared window that are examined on each side of an image: the nearest in the original order.
const NEAREST: usize = 48;

/// The permutation of places. Where no remaining image is similar to the last one, the first remaining one follows.
pub(super) fn order(sketches: &[Sketch]) -> Vec<usize> {
    let mut index: Vec<(u64, usize)> = Vec::new();
    for (place, sketch) in sketches.iter().enumerate() {
        index.extend(sketch.iter().map(|hash| (*hash, place)));
    }
    index.sort_unstable();
    let mut search = Search { index, remaining: vec![true; sketches.len()], first: 0 };
    let mut order = Vec::with_capacity(sketches.len());
    let mut next = search.first_remaining();
    while let Some(place) = next {
        if let Some(remaining) = search.remaining.get_mut(place) {
            *remaining = false;
        }
        order.push(place);
        let sketch = sketches.get(place).map(Vec::as_slice).unwrap_or_default();
        next = search.nearest(sketch, place).or_else(|| search.first_remaining());
    }
    order
}

struct Search {
    /// The windows of all images, with the places of the images.
    index: Vec<(u64, usize)>,
    remaining: Vec<bool>,
    /// No place below it remains.
    first: usize,
}

impl Search {
    fn is_remaining(&self, place: usize) -> bool {
        self.remaining.get(place).copied().unwrap_or(false)
    }

    fn first_remaining(&mut self) -> Option<usize> {
        while self.first < self.remaining.len() && !self.is_remaining(self.first) {
            self.first = self.first.saturating_add(1);
        }
        Some(self.first).filter(|place| self.is_remaining(*place))
    }

    /// The remaining image that shares most windows with the one at `place`; the nearest on a tie.
    fn nearest(&self, sketch: &[u64], place: usize) -> Option<usize> {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for hash in sketch {
            let own = self.index.partition_point(|entry| *entry < (*hash, place));
            let (before, after) = self.index.split_at_checked(own).unwrap_or_default();
            let before = before.iter().rev().take(NEAREST);
            for (window, other) in before.chain(after.iter().take(NEAREST)) {
                if window == hash && self.is_remaining(*other) {
                    *shared.entry(*other).or_default() += 1;
                }
            }
        }
        let nearest = shared
            .into_iter()
            .max_by_key(|(other, shared)| (*shared, Reverse(other.abs_diff(place)), Reverse(*other)));
        nearest.map(|(other, _)| other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_images_come_one_after_another() {
        // Two clusters, interleaved: the members of each share all windows but one.
        let sketches: Vec<Sketch> =
            (0..10).map(|place| vec![place % 2 * 100, place % 2 * 100 + 1, 1000 + place]).collect();
        assert_eq!(order(&sketches), [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]);
    }

    #[test]
    fn images_that_share_nothing_stay_where_they_are() {
        assert_eq!(order(&[vec![1], vec![2], vec![], vec![3]]), [0, 1, 2, 3]);
        assert_eq!(order(&[]), Vec::<usize>::new());
    }
}
