//! An order in which neighbours resemble each other: from each image to the one most like it that is left.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::sketch::Sketch;

/// Of the images that share a window with another one, so many are looked at on each side: the nearest in the old order.
const NEAREST: usize = 48;

/// The places of the images with these sketches, each once. Where nothing resembles the last image, the first one
/// that is left goes on.
pub(super) fn order(sketches: &[Sketch]) -> Vec<usize> {
    let mut index: Vec<(u64, usize)> = Vec::new();
    for (place, sketch) in sketches.iter().enumerate() {
        index.extend(sketch.iter().map(|hash| (*hash, place)));
    }
    index.sort_unstable();
    let mut search = Search { index, left: vec![true; sketches.len()], first: 0 };
    let mut order = Vec::with_capacity(sketches.len());
    let mut next = search.first_left();
    while let Some(place) = next {
        search.left.iter_mut().skip(place).take(1).for_each(|left| *left = false);
        order.push(place);
        let sketch = sketches.get(place).map(Vec::as_slice).unwrap_or_default();
        next = search.nearest(sketch, place).or_else(|| search.first_left());
    }
    order
}

struct Search {
    /// Which image has each window.
    index: Vec<(u64, usize)>,
    left: Vec<bool>,
    first: usize,
}

impl Search {
    fn is_left(&self, place: usize) -> bool {
        self.left.get(place).copied().unwrap_or(false)
    }

    fn first_left(&mut self) -> Option<usize> {
        while self.first < self.left.len() && !self.is_left(self.first) {
            self.first = self.first.saturating_add(1);
        }
        Some(self.first).filter(|place| self.is_left(*place))
    }

    /// Which of those that are left shares most windows with the image at `place`; of equals the nearest.
    fn nearest(&self, sketch: &[u64], place: usize) -> Option<usize> {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for hash in sketch {
            let own = self.index.partition_point(|entry| *entry < (*hash, place));
            let (before, behind) = self.index.split_at_checked(own).unwrap_or_default();
            let before = before.iter().rev().take(NEAREST);
            for (_, other) in before.chain(behind.iter().take(NEAREST)).filter(|(other, _)| other == hash) {
                if self.is_left(*other) {
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
        // Two clusters, mixed: the members of each share all windows but one.
        let sketch = |place: u64| vec![place % 2 * 100, place % 2 * 100 + 1, 1000 + place];
        let sketches: Vec<Sketch> = (0..10).map(sketch).collect();
        assert_eq!(order(&sketches), [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]);
    }

    #[test]
    fn images_that_share_nothing_stay_where_they_are() {
        assert_eq!(order(&[vec![1], vec![2], vec![], vec![3]]), [0, 1, 2, 3]);
        assert_eq!(order(&[]), Vec::<usize>::new());
    }
}
