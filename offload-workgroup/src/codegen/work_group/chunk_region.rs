//! The regions that a chunk of neighbours executes from one barrier of the group to the next.

use std::collections::BTreeSet;

use crate::analysis::strides::Strides;
use crate::codegen::plan::{ContextSlot, Plan, Storage};
use crate::codegen::region::{Chunk, RegionCopy};
use crate::ir::function::Iterations;

/// Lanes of chunks whose values become vectors: two of 256 bits, so as to hide latencies.
pub(super) const VECTOR_LANES: u64 = 16;
/// Lanes of chunks whose values stay scalar: so many hide the latency of a sum, unless that takes more cache lines than
/// [`CACHE_WAYS`].
const SCALAR_LANES: [u64; 2] = [8, 4];
/// Each lane reads cache lines of its own, which often compete for the same cache set.
const CACHE_WAYS: u64 = 8;

/// A region of the group with the regions that a chunk executes behind it.
#[derive(Debug)]
pub(super) struct ChunkRegion {
    /// The region of the group.
    pub(super) first: usize,
    /// The regions that begin with a barrier of the chunk.
    pub(super) inner: BTreeSet<usize>,
    /// The regions of the group that follow.
    pub(super) successors: BTreeSet<usize>,
    pub(super) scheduling: Scheduling,
    /// A chunk of as many work-items as go on at once.
    pub(super) wide: Chunk,
    /// A chunk of one work-item, for the remainder.
    pub(super) single: Chunk,
}

/// The order in which the work-items of a chunk execute its regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheduling {
    /// All execute the same region.
    Lockstep,
    /// Each remembers the region in which it is due.
    Scheduled,
}

impl ChunkRegion {
    /// `None` if region `first` ends with barriers of the group alone.
    pub(super) fn starting_at(plan: &Plan<'_>, first: usize) -> Option<ChunkRegion> {
        let inner = plan.chunk_regions(first);
        if inner.is_empty() {
            return None;
        }
        let mut successors = BTreeSet::new();
        for region in std::iter::once(&first).chain(&inner).filter_map(|number| plan.regions.get(*number)) {
            successors.extend(region.successors.iter().filter(|number| !plan.begins_in_chunk(**number)));
        }
        let is_scheduled = inner.iter().any(|region| plan.iterations(*region) == Iterations::Scheduled);
        let is_repeated = inner.iter().any(|region| plan.iterations(*region) == Iterations::Repeated);
        let scheduling = if is_scheduled { Scheduling::Scheduled } else { Scheduling::Lockstep };
        let lanes = if is_repeated || is_scheduled { VECTOR_LANES } else { scalar_lanes(plan, &inner) };
        let suffix = first.saturating_mul(2);
        let wide = Chunk { suffix, lanes };
        let single = Chunk { suffix: suffix.saturating_add(1), lanes: 1 };
        Some(ChunkRegion { first, inner, successors, scheduling, wide, single })
    }

    pub(super) fn regions(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.first).chain(self.inner.iter().copied())
    }

    /// The code of region `region` as a successor: those of the group have higher ones than those of the chunk, which go
    /// first.
    pub(super) fn successor_code(&self, plan: &Plan<'_>, region: usize) -> usize {
        if self.scheduling == Scheduling::Lockstep || self.inner.contains(&region) {
            region
        } else {
            plan.regions.len().saturating_add(region)
        }
    }

    /// The slots of values that are live at a barrier of the chunk, in the order of the context.
    pub(super) fn live_values<'p, 'f>(&self, plan: &'p Plan<'f>) -> Vec<&'p ContextSlot<'f>> {
        let mut positions = BTreeSet::new();
        for region in self.inner.iter().filter_map(|number| plan.regions.get(*number)) {
            positions.extend(region.live_in.iter().filter_map(|name| plan.slot_position(name)));
        }
        let slots = positions.into_iter().filter_map(|position| plan.slots.get(position));
        slots.filter(|slot| slot.storage == Storage::Chunk).collect()
    }
}

/// The lanes of a chunk with these regions behind its barriers, whose values stay scalar.
fn scalar_lanes(plan: &Plan<'_>, regions: &BTreeSet<usize>) -> u64 {
    let [most, fewest] = SCALAR_LANES;
    let mut numbers: BTreeSet<usize> = BTreeSet::new();
    for region in regions.iter().filter_map(|number| plan.regions.get(*number)) {
        numbers.extend(&region.blocks);
    }
    let blocks: Vec<_> = numbers.into_iter().filter_map(|number| plan.function.blocks.get(number)).collect();
    let accesses = Strides::new(plan.function, &plan.values).count_large(&blocks);
    let lines = u64::try_from(accesses).unwrap_or(u64::MAX).saturating_mul(most);
    if lines <= CACHE_WAYS { most } else { fewest }
}

/// The copy of `region` for `chunk`.
pub(super) fn region_copy(plan: &Plan<'_>, chunk: Chunk, region: usize) -> RegionCopy {
    let used = chunk.suffix.saturating_add(1).saturating_mul(plan.regions.len());
    RegionCopy { region, suffix: used.saturating_add(region), chunk: Some(chunk), is_warp: false }
}
