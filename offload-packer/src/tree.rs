//! The choice of parents: delta chains of limited depth with the least total size.
//!
//! Each image has a rank, and its parent a lower one: rank 0 has no parent. Given the ranks, each image takes its best
//! parent of a lower rank. The ranks are optimised by local search with restarts, whose random numbers are a fixed sequence.

/// A possible parent of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) place: usize,
    /// The size of the image with this parent, in bytes.
    pub(super) size: u64,
}

/// The budget of the search, in evaluations of a possible parent.
const MAX_EVALUATIONS: usize = 4_000_000;
const MAX_RESTARTS: usize = 1000;

/// Chooses the parent of each image, by place, with at most `max_ancestors` ancestors. `alone` are the sizes without a
/// parent, `related` those with each candidate.
pub(super) fn choose(alone: &[u64], related: &[Vec<Candidate>], max_ancestors: u8) -> Vec<Option<usize>> {
    let search = Search::new(alone, related, max_ancestors.saturating_add(1));
    let mut best = search.descend(vec![0; alone.len()]);
    let mut best_size = search.size(&best);
    let candidates = related.iter().map(Vec::len).sum::<usize>();
    let evaluations = candidates.saturating_add(alone.len()).saturating_mul(8).max(1);
    let mut random = RandomNumbers(0x2545_f491_4f6c_dd1d);
    for _ in 0..(MAX_EVALUATIONS / evaluations).min(MAX_RESTARTS) {
        let mut ranks = best.clone();
        for _ in 0..(ranks.len() / 8).clamp(2, 16) {
            let place = random.below(ranks.len());
            if let Some(rank) = ranks.get_mut(place) {
                *rank = random.below(search.ranks.into()) as u8;
            }
        }
        let ranks = search.descend(ranks);
        let size = search.size(&ranks);
        if size < best_size {
            best = ranks;
            best_size = size;
        }
    }
    (0..alone.len()).map(|place| search.parent(&best, place).0).collect()
}

/// The total size with these `parents`.
pub(super) fn size(alone: &[u64], related: &[Vec<Candidate>], parents: &[Option<usize>]) -> u64 {
    let mut total = 0u64;
    for ((alone, related), parent) in alone.iter().zip(related).zip(parents) {
        let candidate = related.iter().find(|candidate| Some(candidate.place) == *parent);
        total = total.saturating_add(candidate.map_or(*alone, |candidate| candidate.size));
    }
    total
}

struct Search<'a> {
    alone: &'a [u64],
    /// The number of ranks.
    ranks: u8,
    /// The candidates of each image, the best first.
    related: Vec<Vec<Candidate>>,
    /// The images with each image as a candidate.
    children: Vec<Vec<usize>>,
}

impl<'a> Search<'a> {
    fn new(alone: &'a [u64], related: &[Vec<Candidate>], ranks: u8) -> Search<'a> {
        let mut related = related.to_vec();
        let mut children = vec![Vec::new(); alone.len()];
        for (place, parents) in related.iter_mut().enumerate() {
            parents.sort_by_key(|parent| (parent.size, parent.place));
            for parent in parents {
                if let Some(children) = children.get_mut(parent.place) {
                    children.push(place);
                }
            }
        }
        Search { alone, ranks, related, children }
    }

    /// The best parent that the ranks allow, and the size with it.
    fn parent(&self, ranks: &[u8], place: usize) -> (Option<usize>, u64) {
        let alone = self.alone.get(place).copied().unwrap_or(0);
        let own_rank = ranks.get(place).copied().unwrap_or(0);
        let candidates = self.related.get(place).map(Vec::as_slice).unwrap_or_default();
        let best =
            candidates.iter().find(|candidate| ranks.get(candidate.place).copied().unwrap_or(0) < own_rank);
        match best {
            Some(parent) if parent.size < alone => (Some(parent.place), parent.size),
            _ => (None, alone),
        }
    }

    fn size(&self, ranks: &[u8]) -> u64 {
        (0..self.alone.len()).map(|place| self.parent(ranks, place).1).sum()
    }

    /// The size of an image and of its possible children.
    fn local_size(&self, ranks: &[u8], place: usize) -> u64 {
        let children = self.children.get(place).map(Vec::as_slice).unwrap_or_default();
        let affected = children.iter().chain([&place]);
        affected.map(|place| self.parent(ranks, *place).1).fold(0, u64::saturating_add)
    }

    /// Local search: changes single ranks until no change improves the size.
    fn descend(&self, mut ranks: Vec<u8>) -> Vec<u8> {
        loop {
            let mut has_improved = false;
            for place in 0..ranks.len() {
                has_improved |= self.improve(&mut ranks, place);
            }
            if !has_improved {
                return ranks;
            }
        }
    }

    /// Sets the best rank of one image; returns whether it has changed.
    fn improve(&self, ranks: &mut [u8], place: usize) -> bool {
        let Some(old) = ranks.get(place).copied() else { return false };
        let old_size = self.local_size(ranks, place);
        let mut best = old;
        let mut best_size = old_size;
        for rank in 0..self.ranks {
            set_rank(ranks, place, rank);
            let size = self.local_size(ranks, place);
            // On a tie the old rank stays, so that the search terminates.
            if size < best_size {
                best = rank;
                best_size = size;
            }
        }
        set_rank(ranks, place, best);
        best != old
    }
}

fn set_rank(ranks: &mut [u8], place: usize, rank: u8) {
    if let Some(slot) = ranks.get_mut(place) {
        *slot = rank;
    }
}

/// A deterministic sequence of pseudorandom numbers (xorshift).
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11).checked_rem(limit as u64).unwrap_or(0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u8 = 2;

    fn next_to(place: usize, size: u64) -> Candidate {
        Candidate { place, size }
    }

    fn depth(parents: &[Option<usize>], place: usize) -> usize {
        parents[place].map_or(0, |parent| 1 + depth(parents, parent))
    }

    #[test]
    fn a_star_has_one_parent() {
        // Every image is similar to number 3 alone.
        let related: Vec<Vec<Candidate>> = (0..8)
            .map(
                |place| {
                    if place == 3 { (0..8).map(|p| next_to(p, 50)).collect() } else { vec![next_to(3, 10)] }
                },
            )
            .collect();
        let parents = choose(&[100; 8], &related, MOST);
        assert_eq!(parents[3], None);
        assert!((0..8).filter(|place| *place != 3).all(|place| parents[place] == Some(3)), "{parents:?}");
    }

    #[test]
    fn a_line_is_cut_where_it_gets_too_deep() {
        // Each image is similar to its neighbours.
        let related: Vec<Vec<Candidate>> = (0..10usize)
            .map(|place| {
                [place.wrapping_sub(1), place + 1]
                    .into_iter()
                    .filter(|p| *p < 10)
                    .map(|p| next_to(p, 10))
                    .collect()
            })
            .collect();
        // A parent in the middle of every five, or of every three.
        for (most, bases) in [(MOST, 2), (1, 4)] {
            let parents = choose(&[100; 10], &related, most);
            assert!((0..10).all(|place| depth(&parents, place) <= most.into()), "{parents:?}");
            assert_eq!(parents.iter().filter(|parent| parent.is_none()).count(), bases, "{parents:?}");
        }
    }

    #[test]
    fn images_without_candidates_stay_alone() {
        assert_eq!(choose(&[10, 10], &[vec![next_to(1, 10)], vec![next_to(0, 12)]], MOST), [None, None]);
        assert_eq!(choose(&[], &[], MOST), []);
    }
}
