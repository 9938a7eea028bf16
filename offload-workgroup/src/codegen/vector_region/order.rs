//! The order in which the lanes of a vector execute the blocks of a parallel region.
//!
//! It is topological but for back edges: a block stands behind all from which it is reached, the blocks of a loop stand
//! together, and its header is the first of them. Lanes that wait at a block are joined by all that can still come there
//! (G. Diamos et al., "SIMD Re-Convergence at Thread Frontiers", MICRO 2011).

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::control_flow::{ControlFlowGraph, strongly_connected_components};
use crate::codegen::plan::ParallelRegion;

/// The ordered blocks of a region.
#[derive(Debug)]
pub(super) struct RegionOrder {
    pub(super) blocks: Vec<usize>,
    /// Outer loops before inner ones.
    pub(super) loops: Vec<RegionLoop>,
    /// The successors of each block inside of the region, without repetitions.
    pub(super) successors: BTreeMap<usize, Vec<usize>>,
    predecessors: BTreeMap<usize, Vec<usize>>,
    start: usize,
}

/// A loop of a region.
#[derive(Debug)]
pub(super) struct RegionLoop {
    pub(super) header: usize,
    pub(super) blocks: BTreeSet<usize>,
    /// The block that stands last.
    pub(super) last: usize,
}

impl RegionOrder {
    /// `None` if a loop has several entries.
    pub(super) fn new(cfg: &ControlFlowGraph, region: &ParallelRegion<'_>) -> Option<RegionOrder> {
        let mut successors = BTreeMap::new();
        let mut predecessors: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for block in &region.blocks {
            let mut next: Vec<usize> = Vec::new();
            if !cfg.has_barrier(*block) {
                next.extend(cfg.successors(*block));
            }
            let mut seen = BTreeSet::new();
            next.retain(|block| seen.insert(*block));
            for successor in &next {
                predecessors.entry(*successor).or_default().push(*block);
            }
            successors.insert(*block, next);
        }
        let mut order = RegionOrder {
            blocks: Vec::new(),
            loops: Vec::new(),
            successors,
            predecessors,
            start: region.start,
        };
        order.append(&region.blocks, None)?;
        Some(order)
    }

    /// Appends `blocks`, which are those of the loop with this header, if there is one. The recursion is as deep as loops
    /// are nested.
    fn append(&mut self, blocks: &BTreeSet<usize>, header: Option<usize>) -> Option<()> {
        let size = blocks.last().map_or(0, |last| last.saturating_add(1));
        let mut inner: Vec<Vec<usize>> = vec![Vec::new(); size];
        for block in blocks {
            let inside = self.successors(*block).iter().copied();
            let inside = inside.filter(|next| blocks.contains(next) && Some(*next) != header);
            inner.get_mut(*block)?.extend(inside);
        }
        for component in strongly_connected_components(&inner).into_iter().rev() {
            let component: BTreeSet<usize> = component.into_iter().collect();
            let Some(first) = component.first().copied().filter(|first| blocks.contains(first)) else {
                continue;
            };
            let is_loop = component.len() > 1 || inner.get(first).is_some_and(|next| next.contains(&first));
            if !is_loop {
                self.blocks.push(first);
                continue;
            }
            let mut entries = component.iter().copied().filter(|block| {
                *block == self.start || self.predecessors(*block).iter().any(|from| !component.contains(from))
            });
            let header = entries.next()?;
            if entries.next().is_some() {
                return None;
            }
            let number = self.loops.len();
            self.loops.push(RegionLoop { header, blocks: component.clone(), last: header });
            self.append(&component, Some(header))?;
            let last = self.blocks.last().copied()?;
            self.loops.get_mut(number)?.last = last;
        }
        Some(())
    }

    pub(super) fn successors(&self, block: usize) -> &[usize] {
        self.successors.get(&block).map_or(&[], Vec::as_slice)
    }

    pub(super) fn predecessors(&self, block: usize) -> &[usize] {
        self.predecessors.get(&block).map_or(&[], Vec::as_slice)
    }

    /// The loops around a block, the outermost first.
    pub(super) fn loops_around(&self, block: usize) -> impl Iterator<Item = &RegionLoop> {
        self.loops.iter().filter(move |one| one.blocks.contains(&block))
    }

    /// The loop whose header a block is.
    pub(super) fn loop_of_header(&self, block: usize) -> Option<&RegionLoop> {
        self.loops.iter().find(|one| one.header == block)
    }

    /// The loops that end behind a block, the innermost first.
    pub(super) fn loops_ending_at(&self, block: usize) -> impl Iterator<Item = &RegionLoop> {
        self.loops.iter().rev().filter(move |one| one.last == block)
    }
}
