//! The control-flow graph of a work-item function: reachability, influence regions of branches, natural loops.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::dominators::{DominatorTree, reversed};
use crate::ir::function::{BarrierScope, Function, Terminator};
use crate::options::Validity;

/// The blocks of a function by number, with the edges between them.
#[derive(Debug)]
pub(crate) struct ControlFlowGraph {
    successors: Vec<Vec<usize>>,
    /// A block from which no return is reachable has no post-dominator.
    post_dominators: DominatorTree,
    /// The blocks that end with a barrier of any scope.
    barriers: BTreeSet<usize>,
    /// Those of them with a barrier of more than a chunk.
    group_barriers: BTreeSet<usize>,
    /// The blocks that end with a return.
    returns: BTreeSet<usize>,
    validity: Validity,
}

/// A point of execution that all work-items of a group reach together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Convergence {
    /// The barrier at the end of this block.
    Barrier(usize),
    /// The end of the kernel.
    Return,
}

impl ControlFlowGraph {
    pub(crate) fn new(function: &Function, validity: Validity) -> ControlFlowGraph {
        let count = function.blocks.len();
        let successors: Vec<Vec<usize>> = (0..count).map(|number| function.successors(number)).collect();
        let mut barriers = BTreeSet::new();
        let mut group_barriers = BTreeSet::new();
        let mut returns = BTreeSet::new();
        for (number, block) in function.blocks.iter().enumerate() {
            match block.terminator {
                Terminator::Barrier { scope, .. } => {
                    barriers.insert(number);
                    if !matches!(scope, BarrierScope::Chunk(_)) {
                        group_barriers.insert(number);
                    }
                }
                Terminator::Return => {
                    returns.insert(number);
                }
                Terminator::Branch(_) => {}
            }
        }
        let post_dominators = DominatorTree::new(&reversed(&successors));
        ControlFlowGraph { successors, post_dominators, barriers, group_barriers, returns, validity }
    }

    pub(crate) fn successors(&self, block: usize) -> &[usize] {
        self.successors.get(block).map_or(&[], Vec::as_slice)
    }

    /// The blocks that a work-item may execute behind `block` before the next barrier of the group.
    pub(crate) fn blocks_until_group_barrier(&self, block: usize) -> BTreeSet<usize> {
        if self.group_barriers.contains(&block) {
            return BTreeSet::new();
        }
        self.reachable(self.successors(block), &self.group_barriers)
    }

    /// The blocks of the parallel region that begins with `start`.
    pub(crate) fn region_blocks(&self, start: usize) -> BTreeSet<usize> {
        self.reachable(&[start], &self.barriers)
    }

    /// The blocks between the branch at the end of `block` and its merge block, which is included.
    pub(crate) fn influence_region(&self, block: usize) -> BTreeSet<usize> {
        let merge: BTreeSet<usize> = self.merge_block(block).into_iter().collect();
        self.reachable(self.successors(block), &merge)
    }

    /// The same without the merge block: some work-items may execute these blocks, and others not.
    pub(crate) fn divergent_region(&self, block: usize) -> BTreeSet<usize> {
        let mut region = self.influence_region(block);
        if let Some(merge_block) = self.merge_block(block) {
            region.remove(&merge_block);
        }
        region
    }

    /// Whether all work-items of a group that execute the branch at the end of `block` between two barriers take the same
    /// successor, because the kernel would be invalid otherwise.
    ///
    /// Every work-item executes the same sequence of barriers (OpenCL C 3.0, section 6.15.8), so that after a common barrier
    /// all of them execute the same one next, or all return. If no barrier and no return is reachable first from two
    /// successors, then the work-items that take one and those that take the other break this rule. A branch that can be
    /// executed again before the next barrier never qualifies: what its other successors reach is reachable from the one
    /// that leads back, too.
    pub(crate) fn is_barrier_uniform(&self, block: usize) -> bool {
        if self.validity == Validity::Checked {
            return false;
        }
        let successors: BTreeSet<usize> = self.successors(block).iter().copied().collect();
        let mut reached_by_others: BTreeSet<Convergence> = BTreeSet::new();
        for successor in successors {
            let next = self.next_convergence(successor);
            if !reached_by_others.is_disjoint(&next) {
                return false;
            }
            reached_by_others.extend(next);
        }
        true
    }

    /// The points that a work-item beginning `start` may reach next together with the rest of its group.
    fn next_convergence(&self, start: usize) -> BTreeSet<Convergence> {
        let mut next = BTreeSet::new();
        for block in self.reachable(&[start], &self.group_barriers) {
            if self.group_barriers.contains(&block) {
                next.insert(Convergence::Barrier(block));
            } else if self.returns.contains(&block) {
                next.insert(Convergence::Return);
            }
        }
        next
    }

    /// The natural loops, by header.
    pub(crate) fn loops(&self) -> Vec<Loop> {
        let predecessors = reversed(&self.successors);
        let dominators = DominatorTree::new(&self.successors);
        let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (block, successors) in self.successors.iter().enumerate() {
            for header in successors {
                let is_back_edge = dominators.dominators(block).any(|dominator| dominator == *header);
                if !is_back_edge {
                    continue;
                }
                let blocks = loops.entry(*header).or_insert_with(|| BTreeSet::from([*header]));
                let mut open = vec![block];
                while let Some(block) = open.pop() {
                    if blocks.insert(block) {
                        open.extend(predecessors.get(block).into_iter().flatten());
                    }
                }
            }
        }
        loops.into_iter().map(|(header, blocks)| Loop { header, blocks }).collect()
    }

    /// The merge block of the branch at the end of `block`: its immediate post-dominator.
    pub(crate) fn merge_block(&self, block: usize) -> Option<usize> {
        self.post_dominators.parent(block)
    }

    /// The merge block of a loop's exits; `None` if they have no common one.
    pub(crate) fn exit(&self, of: &Loop) -> Option<LoopExit> {
        let mut post_dominators = self.post_dominators.dominators(of.header);
        let merge_block = post_dominators.find(|block| !of.blocks.contains(block))?;
        let successors = of.blocks.iter().flat_map(|block| self.successors(*block)).copied();
        let targets: Vec<usize> = successors.filter(|block| !of.blocks.contains(block)).collect();
        let mut between = self.reachable(&targets, &BTreeSet::from([merge_block]));
        between.remove(&merge_block);
        Some(LoopExit { merge_block, between })
    }

    /// The number of post-dominators of `block`.
    pub(crate) fn post_dominator_depth(&self, block: usize) -> usize {
        self.post_dominators.depth(block)
    }

    /// The blocks that are reachable from `starts`, which are included, without leaving a block of `last`.
    fn reachable(&self, starts: &[usize], last: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut open = starts.to_vec();
        let mut reached = BTreeSet::new();
        while let Some(block) = open.pop() {
            if reached.insert(block) && !last.contains(&block) {
                open.extend(self.successors(block));
            }
        }
        reached
    }
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) header: usize,
    pub(crate) blocks: BTreeSet<usize>,
}

/// The blocks behind a loop up to the one that every path from it goes through.
#[derive(Clone, Debug)]
pub(crate) struct LoopExit {
    pub(crate) merge_block: usize,
    pub(crate) between: BTreeSet<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The graph with these edges. The blocks `barriers` end with a barrier of the group, those without a successor with a
    /// return.
    fn graph(edges: &[&[usize]], barriers: &[usize]) -> ControlFlowGraph {
        let successors: Vec<Vec<usize>> = edges.iter().map(|next| next.to_vec()).collect();
        let barriers: BTreeSet<usize> = barriers.iter().copied().collect();
        let returns = (0..successors.len()).filter(|block| successors[*block].is_empty()).collect();
        let post_dominators = DominatorTree::new(&reversed(&successors));
        ControlFlowGraph {
            successors,
            post_dominators,
            group_barriers: barriers.clone(),
            barriers,
            returns,
            validity: Validity::Assumed,
        }
    }

    #[test]
    fn a_branch_influences_the_blocks_up_to_its_merge_block() {
        // 0 -> 1 or 2 -> 3
        let graph = graph(&[&[1, 2], &[3], &[3], &[]], &[]);
        assert_eq!(graph.influence_region(0), [1, 2, 3].into());
        assert!(!graph.is_barrier_uniform(0));
    }

    #[test]
    fn a_loop_with_a_barrier_has_a_uniform_trip_count() {
        // 0 -> 1 (barrier) -> 2 -> 0 or 3
        let graph = graph(&[&[1, 3], &[2], &[0], &[]], &[1]);
        assert!(graph.is_barrier_uniform(0));
        assert_eq!(graph.region_blocks(2), [0, 1, 2, 3].into());
        assert_eq!(graph.influence_region(0), [0, 1, 2, 3].into());
    }

    #[test]
    fn a_loop_that_can_return_may_have_a_varying_trip_count() {
        // 0 -> 1 or 3; 1 -> 0 or 2 (barrier); 2 -> 3
        let graph = graph(&[&[1, 3], &[0, 2], &[3], &[]], &[2]);
        assert!(!graph.is_barrier_uniform(1));
        assert!(!graph.is_barrier_uniform(0));
    }

    #[test]
    fn a_return_beside_a_barrier_is_uniform_outside_of_loops() {
        // 0 -> 1 (barrier) or 2; 1 -> 2
        let graph = graph(&[&[1, 2], &[2], &[]], &[1]);
        assert!(graph.is_barrier_uniform(0));
        let checked = ControlFlowGraph { validity: Validity::Checked, ..graph };
        assert!(!checked.is_barrier_uniform(0));
    }

    #[test]
    fn a_barrier_behind_a_loop_does_not_make_its_trip_count_uniform() {
        // 0 -> 1 or 2; 1 -> 0; 2 (barrier) -> 3
        let graph = graph(&[&[1, 2], &[0], &[3], &[]], &[2]);
        assert!(!graph.is_barrier_uniform(0));
    }

    #[test]
    fn a_barrier_under_a_second_condition_does_not_make_the_first_uniform() {
        // 0 -> 1 or 3; 1 -> 2 (barrier) or 3; 2 -> 3
        let graph = graph(&[&[1, 3], &[2, 3], &[3], &[]], &[2]);
        assert!(!graph.is_barrier_uniform(0));
        assert!(graph.is_barrier_uniform(1));
    }

    #[test]
    fn an_endless_loop_has_no_merge_block() {
        // 0 -> 1 or 4; 1 -> 2 or 3; 2 -> 1; 3 -> 1
        let graph = graph(&[&[1, 4], &[2, 3], &[1], &[1], &[]], &[]);
        assert_eq!(graph.merge_block(1), None);
        assert_eq!(graph.influence_region(1), [1, 2, 3].into());
        assert_eq!(graph.influence_region(0), [1, 2, 3, 4].into());
    }

    #[test]
    fn natural_loops_have_a_header_and_blocks() {
        // 0 -> 1 -> 2 -> 3 -> 2 or 4; 4 -> 1 or 5; 5 -> 5 or 6
        let graph = graph(&[&[1], &[2], &[3], &[2, 4], &[1, 5], &[5, 6], &[]], &[]);
        let loops: Vec<(usize, Vec<usize>)> =
            graph.loops().into_iter().map(|one| (one.header, one.blocks.into_iter().collect())).collect();
        assert_eq!(loops, [(1, vec![1, 2, 3, 4]), (2, vec![2, 3]), (5, vec![5])]);
    }

    #[test]
    fn an_irreducible_cycle_is_no_natural_loop() {
        // 0 -> 1 or 2; 1 -> 2; 2 -> 1 or 3
        assert_eq!(graph(&[&[1, 2], &[2], &[1, 3], &[]], &[]).loops(), []);
    }
}
