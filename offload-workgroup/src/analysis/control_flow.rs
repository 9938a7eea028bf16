//! The control-flow graph of a work-item function: reachability, influence regions of branches, natural loops.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::analysis::dominators::{DominatorTree, reversed};
use crate::ir::function::{BarrierScope, Function, Terminator};
use crate::options::Validity;

/// The blocks of a function by number, with the edges between them.
#[derive(Debug)]
pub(crate) struct ControlFlowGraph {
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// A block from which no return is reachable has no post-dominator.
    post_dominators: DominatorTree,
    /// The blocks that end with a barrier of any scope.
    barriers: BTreeSet<usize>,
    /// Those of them with a barrier of more than a chunk.
    group_barriers: BTreeSet<usize>,
    /// The points that a work-item beginning each block may reach next together with the rest of its group.
    convergence: Vec<Rc<[Convergence]>>,
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
        let successors = function.all_successors();
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
        let ends = Ends { barriers, group_barriers, returns };
        ControlFlowGraph::from_edges(successors, ends, validity)
    }

    fn from_edges(successors: Vec<Vec<usize>>, ends: Ends, validity: Validity) -> ControlFlowGraph {
        let predecessors = reversed(&successors);
        let post_dominators = DominatorTree::new(&predecessors);
        let convergence = match validity {
            Validity::Assumed => next_convergence(&successors, &ends),
            // It is not asked for.
            Validity::RaceFree | Validity::Checked => Vec::new(),
        };
        let Ends { barriers, group_barriers, .. } = ends;
        ControlFlowGraph {
            successors,
            predecessors,
            post_dominators,
            barriers,
            group_barriers,
            convergence,
            validity,
        }
    }

    pub(crate) fn successors(&self, block: usize) -> &[usize] {
        self.successors.get(block).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn predecessors(&self, block: usize) -> &[usize] {
        self.predecessors.get(block).map_or(&[], Vec::as_slice)
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
        if self.validity != Validity::Assumed {
            return false;
        }
        let successors: BTreeSet<usize> = self.successors(block).iter().copied().collect();
        let mut reached_by_others: BTreeSet<Convergence> = BTreeSet::new();
        for next in successors.iter().filter_map(|successor| self.convergence.get(*successor)) {
            if next.iter().any(|point| reached_by_others.contains(point)) {
                return false;
            }
            reached_by_others.extend(next.iter());
        }
        true
    }

    /// The natural loops, by header.
    pub(crate) fn loops(&self) -> Vec<Loop> {
        let dominators = DominatorTree::new(&self.successors);
        let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (block, successors) in self.successors.iter().enumerate() {
            for header in successors {
                if !dominators.dominates(*header, block) {
                    continue;
                }
                let blocks = loops.entry(*header).or_insert_with(|| BTreeSet::from([*header]));
                let mut open = vec![block];
                while let Some(block) = open.pop() {
                    if blocks.insert(block) {
                        open.extend(self.predecessors(block));
                    }
                }
            }
        }
        loops.into_iter().map(|(header, blocks)| Loop { header, blocks }).collect()
    }

    /// Whether `block` ends with a barrier of any scope.
    pub(crate) fn has_barrier(&self, block: usize) -> bool {
        self.barriers.contains(&block)
    }

    /// The blocks in an order in which a block stands behind all from which it is reached without a back edge, the blocks
    /// of a loop stand together, and the header of a loop is its last one.
    ///
    /// Of work-items in different blocks those in the first one go on until they are in the same as others: those in a
    /// branch before those behind it, those in an iteration before those at the next, and those in a loop before those
    /// that have left it (G. Diamos et al., "SIMD Re-Convergence at Thread Frontiers", MICRO 2011).
    pub(crate) fn convergence_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.successors.len());
        let all: BTreeSet<usize> = (0..self.successors.len()).collect();
        self.append_in_order(&all, None, &mut order);
        order
    }

    /// Appends `blocks`, which are entered through `header` if they are those of a loop. The recursion is as deep as loops
    /// are nested.
    fn append_in_order(&self, blocks: &BTreeSet<usize>, header: Option<usize>, order: &mut Vec<usize>) {
        let mut inner: Vec<Vec<usize>> = vec![Vec::new(); self.successors.len()];
        for block in blocks {
            let inside = self.successors(*block).iter().copied();
            let inside = inside.filter(|next| blocks.contains(next) && Some(*next) != header);
            if let Some(successors) = inner.get_mut(*block) {
                successors.extend(inside);
            }
        }
        for component in strongly_connected_components(&inner).into_iter().rev() {
            let component: BTreeSet<usize> = component.into_iter().collect();
            let Some(first) = component.first().copied().filter(|first| blocks.contains(first)) else {
                continue;
            };
            if component.len() == 1 {
                if Some(first) != header {
                    order.push(first);
                }
                continue;
            }
            let is_entry =
                |block: &&usize| self.predecessors(**block).iter().any(|from| !component.contains(from));
            let header = component.iter().find(is_entry).copied().unwrap_or(first);
            self.append_in_order(&component, Some(header), order);
        }
        order.extend(header);
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

/// The union of influence regions of divergent branches.
///
/// A block inside of a region is not walked through again for a branch whose region it is inside of, too, and ends no later:
/// every block that it leads to before that end is in the union by then.
pub(crate) struct InfluenceRegions {
    /// For each block of the union the least depth of a merge block up to which its successors are in it.
    walked: Vec<Option<usize>>,
}

impl InfluenceRegions {
    pub(crate) fn new(blocks: usize) -> InfluenceRegions {
        InfluenceRegions { walked: vec![None; blocks] }
    }

    /// Adds the influence regions of `branches`, and returns the blocks that were in none before.
    pub(crate) fn add(&mut self, cfg: &ControlFlowGraph, branches: &BTreeSet<usize>) -> Vec<usize> {
        let mut by_depth: Vec<(usize, usize)> = Vec::new();
        for branch in branches {
            let depth = cfg.merge_block(*branch).map_or(0, |merge| cfg.post_dominator_depth(merge));
            by_depth.push((depth, *branch));
        }
        // Those that end last first: most of the others are inside.
        by_depth.sort_unstable();
        let mut added = Vec::new();
        for (depth, branch) in by_depth {
            let merge = cfg.merge_block(branch);
            let mut open = cfg.successors(branch).to_vec();
            while let Some(block) = open.pop() {
                let Some(walked) = self.walked.get_mut(block) else { continue };
                // A merge block is in the region, and leads to nothing.
                let to = if Some(block) == merge { usize::MAX } else { depth };
                if walked.is_none() {
                    added.push(block);
                }
                if walked.is_some_and(|walked| walked <= to) {
                    continue;
                }
                *walked = Some(to);
                if to != usize::MAX {
                    open.extend(cfg.successors(block));
                }
            }
        }
        added
    }
}

/// The blocks at which parallel regions end.
struct Ends {
    barriers: BTreeSet<usize>,
    group_barriers: BTreeSet<usize>,
    /// The blocks that end with a return.
    returns: BTreeSet<usize>,
}

/// The next points of convergence of each block. The blocks of a cycle without a barrier have the same ones: they are found
/// once for each strongly connected component, in Tarjan's order, in which components that are reached come first.
fn next_convergence(successors: &[Vec<usize>], ends: &Ends) -> Vec<Rc<[Convergence]>> {
    let none: Rc<[Convergence]> = Rc::new([]);
    let mut next = vec![none; successors.len()];
    let mut cut = successors.to_vec();
    for barrier in &ends.group_barriers {
        if let Some(successors) = cut.get_mut(*barrier) {
            successors.clear();
        }
    }
    for component in strongly_connected_components(&cut) {
        let mut points = BTreeSet::new();
        let mut inherited: Option<&Rc<[Convergence]>> = None;
        let mut is_inherited = true;
        for block in &component {
            if ends.group_barriers.contains(block) {
                points.insert(Convergence::Barrier(*block));
            } else if ends.returns.contains(block) {
                points.insert(Convergence::Return);
            }
            for successor in cut.get(*block).into_iter().flatten() {
                let Some(reached) = next.get(*successor).filter(|reached| !reached.is_empty()) else {
                    continue;
                };
                if inherited.is_some_and(|known| Rc::ptr_eq(known, reached)) {
                    continue;
                }
                is_inherited &= inherited.is_none();
                inherited = Some(reached);
                points.extend(reached.iter().copied());
            }
        }
        // Blocks share the list of their successors: it is stored once for each barrier, not for each block.
        let points: Rc<[Convergence]> = match inherited {
            Some(known) if is_inherited && known.len() == points.len() => Rc::clone(known),
            _ => points.into_iter().collect(),
        };
        for block in component {
            if let Some(next) = next.get_mut(block) {
                *next = Rc::clone(&points);
            }
        }
    }
    next
}

/// The strongly connected components of a graph (Tarjan, "Depth-First Search and Linear Graph Algorithms", 1972): each
/// behind those that it reaches.
pub(crate) fn strongly_connected_components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut components = Vec::new();
    // The order of the first visit; blocks of finished components have the greatest number.
    let mut numbers: Vec<Option<usize>> = vec![None; next.len()];
    let mut lowest = vec![usize::MAX; next.len()];
    let mut unfinished = Vec::new();
    let mut count = 0;
    for root in 0..next.len() {
        let mut open = vec![(root, 0)];
        while let Some((block, visited)) = open.pop() {
            if visited == 0 {
                match numbers.get_mut(block) {
                    Some(number) if number.is_none() => *number = Some(count),
                    _ => continue,
                }
                set(&mut lowest, block, count);
                count += 1;
                unfinished.push(block);
            }
            let successors = next.get(block).map_or(&[] as &[usize], Vec::as_slice);
            if let Some(successor) = successors.get(visited) {
                open.push((block, visited + 1));
                open.push((*successor, 0));
                continue;
            }
            let number = numbers.get(block).copied().flatten().unwrap_or(usize::MAX);
            let reached = successors.iter().filter_map(|successor| lowest.get(*successor)).min();
            let low = number.min(reached.copied().unwrap_or(usize::MAX));
            set(&mut lowest, block, low);
            if low < number {
                continue;
            }
            let mut component = Vec::new();
            while let Some(member) = unfinished.pop() {
                set(&mut lowest, member, usize::MAX);
                component.push(member);
                if member == block {
                    break;
                }
            }
            components.push(component);
        }
    }
    components
}

fn set(values: &mut [usize], at: usize, value: usize) {
    if let Some(known) = values.get_mut(at) {
        *known = value;
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
        let ends = Ends { group_barriers: barriers.clone(), barriers, returns };
        ControlFlowGraph::from_edges(successors, ends, Validity::Assumed)
    }

    #[test]
    fn lanes_that_are_behind_others_go_on_first() {
        // 0 -> 2 (header) -> 3 or 5 -> 4 -> 2 or 1, which is behind the loop.
        let graph = graph(&[&[2], &[], &[3, 5], &[4], &[1, 2], &[4]], &[]);
        let order = graph.convergence_order();
        let place = |block: usize| order.iter().position(|one| *one == block).unwrap();
        assert_eq!(order.len(), 6);
        // The branches, the latch, the header at the next iteration, and what is behind the loop.
        assert!(place(3) < place(4) && place(5) < place(4) && place(4) < place(2) && place(2) < place(1));
        assert_eq!(place(0), 0);
    }

    #[test]
    fn an_inner_loop_ends_before_the_outer_goes_on() {
        // 0 -> 1 -> 2 -> 2 or 3 -> 1 or 4
        let graph = graph(&[&[1], &[2], &[2, 3], &[1, 4], &[]], &[]);
        assert_eq!(graph.convergence_order(), [0, 2, 3, 1, 4]);
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

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % limit
        }

        /// A graph, most of whose edges lead on.
        fn graph(&mut self) -> ControlFlowGraph {
            let count = 2 + self.below(10);
            let mut edges = Vec::new();
            for block in 0..count {
                let mut next = Vec::new();
                for _ in 0..self.below(4) {
                    next.push(if self.below(4) == 0 {
                        self.below(count)
                    } else {
                        (block + 1 + self.below(3)).min(count - 1)
                    });
                }
                edges.push(next);
            }
            let barriers: Vec<usize> = (0..count).filter(|_| self.below(4) == 0).collect();
            let edges: Vec<&[usize]> = edges.iter().map(Vec::as_slice).collect();
            graph(&edges, &barriers)
        }
    }

    #[test]
    fn unions_of_influence_regions_are_right() {
        let mut random = Random(3);
        for _ in 0..3000 {
            let graph = random.graph();
            let mut union = InfluenceRegions::new(graph.successors.len());
            let mut added: BTreeSet<usize> = BTreeSet::new();
            let mut wanted: BTreeSet<usize> = BTreeSet::new();
            for _ in 0..3 {
                let branches: BTreeSet<usize> =
                    (0..graph.successors.len()).filter(|_| random.below(3) == 0).collect();
                wanted.extend(branches.iter().flat_map(|branch| graph.influence_region(*branch)));
                for block in union.add(&graph, &branches) {
                    assert!(added.insert(block));
                }
                assert_eq!(added, wanted, "{:?} {branches:?}", graph.successors);
            }
        }
    }

    /// By the definition: what is reachable until the next barrier.
    #[test]
    fn convergence_in_random_graphs_is_right() {
        let mut random = Random(5);
        for _ in 0..3000 {
            let graph = random.graph();
            for (start, found) in graph.convergence.iter().enumerate() {
                let mut wanted = BTreeSet::new();
                for block in graph.reachable(&[start], &graph.group_barriers) {
                    if graph.group_barriers.contains(&block) {
                        wanted.insert(Convergence::Barrier(block));
                    } else if graph.successors[block].is_empty() {
                        wanted.insert(Convergence::Return);
                    }
                }
                assert_eq!(found.iter().copied().collect::<BTreeSet<_>>(), wanted, "{:?}", graph.successors);
                assert_eq!(found.len(), wanted.len());
            }
        }
    }
}
