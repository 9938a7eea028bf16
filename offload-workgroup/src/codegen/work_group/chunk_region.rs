//! The pieces that neighbours go through side by side, from one place where the group is together to the next.

use std::collections::BTreeSet;

use crate::ir::work_items::function::Rounds;
use crate::ir::work_items::piece::{Chunk, Place};
use crate::ir::work_items::plan::Plan;

/// Neighbours whose values become vectors: two of 256 bits, so that one computes while the other waits.
pub(super) const VECTOR_LANES: u64 = 16;
/// Neighbours whose values stay numbers. Each reads lines of memory of its own, which often compete for the same few
/// places in a cache.
const NUMBER_LANES: u64 = 4;

/// What is written for a piece of the group that neighbours go on from.
#[derive(Debug)]
pub(super) struct Region {
    /// The piece of the group.
    pub(super) first: usize,
    /// The pieces of neighbours.
    pub(super) inner: BTreeSet<usize>,
    /// The pieces of the group that come next.
    pub(super) next: BTreeSet<usize>,
    pub(super) waiting: Waiting,
    /// As many neighbours as go on at once.
    pub(super) wide: Chunk,
    /// One by one, those that are left.
    pub(super) single: Chunk,
}

/// Where neighbours wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    /// All in one place.
    Together,
    /// Each in a place of its own, which it remembers.
    Apart,
}

impl Region {
    /// `None` if all of the group go on together.
    pub(super) fn of(plan: &Plan<'_>, first: usize) -> Option<Region> {
        let inner = plan.side_by_side(first);
        if inner.is_empty() {
            return None;
        }
        let own = std::iter::once(first).chain(inner.iter().copied());
        let pieces = own.filter_map(|number| plan.pieces.get(number));
        let next = pieces.flat_map(|piece| piece.next.iter().copied());
        let next = next.filter(|next| !plan.is_of_lanes(*next)).collect();
        let has = |rounds| inner.iter().any(|piece| plan.rounds(*piece) == rounds);
        let waiting = if has(Rounds::Some) { Waiting::Apart } else { Waiting::Together };
        let one_by_one = has(Rounds::Own) || has(Rounds::Some);
        let mark = first.saturating_mul(2);
        let wide = Chunk { mark, lanes: if one_by_one { VECTOR_LANES } else { NUMBER_LANES } };
        let single = Chunk { mark: mark.saturating_add(1), lanes: 1 };
        Some(Region { first, inner, next, waiting, wide, single })
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.first).chain(self.inner.iter().copied())
    }

    /// The number that tells that `piece` is next: those of the group come behind those of neighbours, which go on first.
    pub(super) fn code(&self, plan: &Plan<'_>, piece: usize) -> usize {
        match (self.waiting, self.inner.contains(&piece)) {
            (Waiting::Together, _) | (_, true) => piece,
            (Waiting::Apart, false) => plan.pieces.len().saturating_add(piece),
        }
    }

    /// Whether a piece or what comes after it needs the value `name`.
    pub(super) fn keeps(&self, plan: &Plan<'_>, name: &str) -> bool {
        let mut inner = self.inner.iter().filter_map(|number| plan.pieces.get(*number));
        inner.any(|piece| piece.live.contains(name))
    }
}

/// Where the text of `piece` stands for `chunk`.
pub(super) fn place(plan: &Plan<'_>, chunk: Chunk, piece: usize) -> Place {
    let before = chunk.mark.saturating_add(1).saturating_mul(plan.pieces.len());
    Place { piece, mark: before.saturating_add(piece), chunk: Some(chunk) }
}
