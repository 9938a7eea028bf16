//! Choosing parents, so that all images together are small and none has too many ancestors: delta chains of limited depth.
//!
//! Each image gets a rank: 0 stands alone, 1 may build on rank 0, 2 on both. Given the ranks, everybody takes the best
//! parent of a lower one. The ranks are searched by changing one at a time, from several starts: whose turn it is
//! comes from a fixed sequence of numbers.

/// A possible parent of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) place: usize,
    /// What the image takes next to it, in bytes.
    pub(super) size: u64,
}

/// How much is tried, in looks at a possible parent.
const EFFORT: usize = 4_000_000;
const MOST_STARTS: usize = 1000;

/// The parent of each image, by place, so that none has more than `most` ancestors; `alone` are their sizes without one,
/// `related` those with the ones that may be.
pub(super) fn choose(alone: &[u64], related: &[Vec<Candidate>], most: u8) -> Vec<Option<usize>> {
    let search = Search::new(alone, related, most.saturating_add(1));
    let mut best = search.descend(vec![0; alone.len()]);
    let mut size = search.size(&best);
    let looks =
        related.iter().map(Vec::len).sum::<usize>().saturating_add(alone.len()).saturating_mul(8).max(1);
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    for _ in 0..(EFFORT / looks).min(MOST_STARTS) {
        let mut ranks = best.clone();
        for _ in 0..(ranks.len() / 8).clamp(2, 16) {
            let place = numbers.below(ranks.len());
            if let Some(rank) = ranks.get_mut(place) {
                *rank = numbers.below(search.ranks.into()) as u8;
            }
        }
        let ranks = search.descend(ranks);
        let found = search.size(&ranks);
        if found < size {
            (best, size) = (ranks, found);
        }
    }
    (0..alone.len()).map(|place| search.parent(&best, place).0).collect()
}

/// What everything takes with these `parents`.
pub(super) fn size(alone: &[u64], related: &[Vec<Candidate>], parents: &[Option<usize>]) -> u64 {
    let sizes = alone.iter().zip(related).zip(parents).map(|((alone, related), parent)| {
        let next_to = related.iter().find(|candidate| Some(candidate.place) == *parent);
        next_to.map_or(*alone, |candidate| candidate.size)
    });
    sizes.fold(0, u64::saturating_add)
}

struct Search<'a> {
    alone: &'a [u64],
    /// How many ranks there are.
    ranks: u8,
    /// Possible parents, the best first.
    related: Vec<Vec<Candidate>>,
    /// Who could build on whom.
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
        let rank = |place: usize| ranks.get(place).copied().unwrap_or(0);
        let own = rank(place);
        let parents = self.related.get(place).map(Vec::as_slice).unwrap_or_default();
        match parents.iter().find(|parent| rank(parent.place) < own) {
            Some(parent) if parent.size < alone => (Some(parent.place), parent.size),
            _ => (None, alone),
        }
    }

    fn size(&self, ranks: &[u8]) -> u64 {
        (0..self.alone.len()).map(|place| self.parent(ranks, place).1).sum()
    }

    /// The size of an image and of all that could build on it.
    fn around(&self, ranks: &[u8], place: usize) -> u64 {
        let children = self.children.get(place).map(Vec::as_slice).unwrap_or_default();
        let around = children.iter().chain([&place]);
        around.map(|place| self.parent(ranks, *place).1).fold(0, u64::saturating_add)
    }

    /// Changes single ranks as long as that helps.
    fn descend(&self, mut ranks: Vec<u8>) -> Vec<u8> {
        loop {
            let mut better = false;
            for place in 0..ranks.len() {
                better |= self.improve(&mut ranks, place);
            }
            if !better {
                return ranks;
            }
        }
    }

    fn improve(&self, ranks: &mut [u8], place: usize) -> bool {
        let before = self.around(ranks, place);
        let Some(old) = ranks.get(place).copied() else { return false };
        let mut best = (before, old);
        for rank in 0..self.ranks {
            ranks.iter_mut().skip(place).take(1).for_each(|slot| *slot = rank);
            best = best.min((self.around(ranks, place), if rank == old { old } else { rank }));
        }
        // Of equal ones the old one stays: otherwise the search would go in circles.
        let rank = if best.0 < before { best.1 } else { old };
        ranks.iter_mut().skip(place).take(1).for_each(|slot| *slot = rank);
        rank != old
    }
}

/// Numbers that look random and are the same each time (xorshift).
struct Numbers(u64);

impl Numbers {
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
        // Everybody resembles number 3 and nobody else.
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
        // Each resembles its neighbours.
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
