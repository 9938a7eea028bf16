//! Which blocks of a function come after which.

use std::collections::{BTreeMap, BTreeSet};

use super::dominators::{DominatorTree, reversed};
use super::function::{End, Function, Wait};
use super::validity::Validity;

/// The blocks of a function by number, with the edges between them.
#[derive(Debug)]
pub(super) struct Flow {
    next: Vec<Vec<usize>>,
    /// A block from which no end is reached has no post-dominator.
    post_dominators: DominatorTree,
    /// The blocks that end with a wait.
    waits: BTreeSet<usize>,
    /// Those of them where all work-items of a group wait for each other.
    barriers: BTreeSet<usize>,
    /// The blocks that end with a return.
    returns: BTreeSet<usize>,
    validity: Validity,
}

/// Where all work-items of a group are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Convergence {
    /// The barrier at the end of this block.
    Barrier(usize),
    /// The end of the kernel.
    Return,
}

impl Flow {
    pub(super) fn new(function: &Function, validity: Validity) -> Flow {
        let count = function.blocks.len();
        let next: Vec<Vec<usize>> = (0..count).map(|number| function.successors(number)).collect();
        let mut waits = BTreeSet::new();
        let mut barriers = BTreeSet::new();
        let mut returns = BTreeSet::new();
        for (number, block) in function.blocks.iter().enumerate() {
            match block.end {
                End::Wait { wait: Wait::Group, .. } => {
                    waits.insert(number);
                    barriers.insert(number);
                }
                End::Wait { .. } => {
                    waits.insert(number);
                }
                End::Return => {
                    returns.insert(number);
                }
                End::Jump(_) => {}
            }
        }
        let post_dominators = DominatorTree::new(&reversed(&next));
        Flow { post_dominators, next, waits, barriers, returns, validity }
    }

    pub(super) fn successors(&self, block: usize) -> &[usize] {
        self.next.get(block).map_or(&[], Vec::as_slice)
    }

    /// The blocks that a work-item executes behind `block` in the same interval: before the next barrier of the group.
    pub(super) fn until_barrier_after(&self, block: usize) -> BTreeSet<usize> {
        match self.barriers.contains(&block) {
            true => BTreeSet::new(),
            false => self.reached(self.successors(block), &self.barriers),
        }
    }

    /// The blocks that a work-item comes to from `start`, itself included, before it waits.
    pub(super) fn until_wait(&self, start: usize) -> BTreeSet<usize> {
        self.reached(&[start], &self.waits)
    }

    /// The blocks where work-items that go different ways at the end of `block` can meet, or be at different times.
    pub(super) fn influenced(&self, block: usize) -> BTreeSet<usize> {
        let meeting: BTreeSet<usize> = self.meeting(block).into_iter().collect();
        self.reached(self.successors(block), &meeting)
    }

    /// Whether all work-items of a group that execute the branch at the end of `block` between two barriers take the same
    /// successor, because the kernel would be invalid otherwise.
    ///
    /// Every work-item executes the same sequence of barriers (OpenCL C 3.0, section 6.15.8), so that after a common barrier
    /// all of them execute the same one next, or all return. If no barrier and no return is reachable first from two
    /// successors, then the work-items that take one and those that take the other break this rule. A branch that can be
    /// executed again before the next barrier never qualifies: what its other successors reach is reached from the one
    /// that leads back, too.
    pub(super) fn is_barrier_uniform(&self, block: usize) -> bool {
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

    /// Where a work-item that begins `start` can be together with the rest of its group next.
    fn next_convergence(&self, start: usize) -> BTreeSet<Convergence> {
        let mut found = BTreeSet::new();
        for block in self.reached(&[start], &self.barriers) {
            if self.barriers.contains(&block) {
                found.insert(Convergence::Barrier(block));
            } else if self.returns.contains(&block) {
                found.insert(Convergence::Return);
            }
        }
        found
    }

    /// The loops that are entered through one block, by that block.
    pub(super) fn loops(&self) -> Vec<Loop> {
        let before = reversed(&self.next);
        let dominators = DominatorTree::new(&self.next);
        let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (block, next) in self.next.iter().enumerate() {
            for header in next.iter().filter(|next| dominators.dominators(block).any(|one| one == **next)) {
                let blocks = loops.entry(*header).or_insert_with(|| BTreeSet::from([*header]));
                let mut open = vec![block];
                while let Some(block) = open.pop() {
                    if blocks.insert(block) {
                        open.extend(before.get(block).into_iter().flatten());
                    }
                }
            }
        }
        loops.into_iter().map(|(header, blocks)| Loop { header, blocks }).collect()
    }

    /// The first block that every way from the end of `block` goes through.
    pub(super) fn meeting(&self, block: usize) -> Option<usize> {
        self.post_dominators.parent(block)
    }

    /// The first block that every way out of a loop goes through, and the blocks that ways go through before.
    pub(super) fn out_of(&self, found: &Loop) -> Option<(usize, BTreeSet<usize>)> {
        let mut after = self.post_dominators.dominators(found.header);
        let join = after.find(|block| !found.blocks.contains(block))?;
        let next = found.blocks.iter().flat_map(|block| self.successors(*block)).copied();
        let outside: Vec<usize> = next.filter(|next| !found.blocks.contains(next)).collect();
        let mut between = self.reached(&outside, &BTreeSet::from([join]));
        between.remove(&join);
        Some((join, between))
    }

    /// How many blocks every way from `block` to the end goes through.
    pub(super) fn behind(&self, block: usize) -> usize {
        self.post_dominators.depth(block)
    }

    /// What is reached from `starts`, them included; from the blocks in `last` no further.
    fn reached(&self, starts: &[usize], last: &BTreeSet<usize>) -> BTreeSet<usize> {
        let (mut open, mut found) = (starts.to_vec(), BTreeSet::new());
        while let Some(block) = open.pop() {
            if found.insert(block) && !last.contains(&block) {
                open.extend(self.successors(block));
            }
        }
        found
    }
}

/// A loop with one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) header: usize,
    pub(super) blocks: BTreeSet<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(next: &[&[usize]], waits: &[usize]) -> Flow {
        let next: Vec<Vec<usize>> = next.iter().map(|next| next.to_vec()).collect();
        let waits: BTreeSet<usize> = waits.iter().copied().collect();
        let returns = (0..next.len()).filter(|block| next[*block].is_empty()).collect();
        let validity = Validity::Assumed;
        let post_dominators = DominatorTree::new(&reversed(&next));
        Flow { post_dominators, next, barriers: waits.clone(), waits, returns, validity }
    }

    #[test]
    fn ways_meet_after_a_branch() {
        // 0 -> 1 or 2 -> 3
        let flow = flow(&[&[1, 2], &[3], &[3], &[]], &[]);
        assert_eq!(flow.influenced(0), [1, 2, 3].into());
        assert!(!flow.is_barrier_uniform(0));
    }

    #[test]
    fn a_loop_with_a_wait_has_one_count_for_all() {
        // 0 -> 1 (wait) -> 2 -> 0 or 3
        let flow = flow(&[&[1, 3], &[2], &[0], &[]], &[1]);
        assert!(flow.is_barrier_uniform(0));
        assert_eq!(flow.until_wait(2), [0, 1, 2, 3].into());
        assert_eq!(flow.influenced(0), [0, 1, 2, 3].into());
    }

    #[test]
    fn a_loop_that_can_return_says_nothing_of_its_count() {
        // 0 -> 1 or 3; 1 -> 0 or 2 (barrier); 2 -> 3
        let flow = flow(&[&[1, 3], &[0, 2], &[3], &[]], &[2]);
        assert!(!flow.is_barrier_uniform(1));
        assert!(!flow.is_barrier_uniform(0));
    }

    #[test]
    fn a_return_beside_a_barrier_is_uniform_outside_of_loops() {
        // 0 -> 1 (barrier) or 2; 1 -> 2
        let flow = flow(&[&[1, 2], &[2], &[]], &[1]);
        assert!(flow.is_barrier_uniform(0));
        let checked = Flow { validity: Validity::Checked, ..flow };
        assert!(!checked.is_barrier_uniform(0));
    }

    #[test]
    fn a_wait_after_a_loop_says_nothing_of_its_count() {
        // 0 -> 1 or 2; 1 -> 0; 2 (wait) -> 3
        let flow = flow(&[&[1, 2], &[0], &[3], &[]], &[2]);
        assert!(!flow.is_barrier_uniform(0));
    }

    #[test]
    fn a_wait_under_a_second_condition_says_nothing_of_the_first() {
        // 0 -> 1 or 3; 1 -> 2 (wait) or 3; 2 -> 3
        let flow = flow(&[&[1, 3], &[2, 3], &[3], &[]], &[2]);
        assert!(!flow.is_barrier_uniform(0));
        assert!(flow.is_barrier_uniform(1));
    }

    #[test]
    fn an_endless_loop_has_no_merge_block() {
        // 0 -> 1 or 4; 1 -> 2 or 3; 2 -> 1; 3 -> 1
        let flow = flow(&[&[1, 4], &[2, 3], &[1], &[1], &[]], &[]);
        assert_eq!(flow.meeting(1), None);
        assert_eq!(flow.influenced(1), [1, 2, 3].into());
        assert_eq!(flow.influenced(0), [1, 2, 3, 4].into());
    }

    #[test]
    fn loops_are_found_with_their_blocks() {
        // 0 -> 1 -> 2 -> 3 -> 2 or 4; 4 -> 1 or 5; 5 -> 5 or 6
        let flow = flow(&[&[1], &[2], &[3], &[2, 4], &[1, 5], &[5, 6], &[]], &[]);
        let found = |header, blocks: &[usize]| Loop { header, blocks: blocks.iter().copied().collect() };
        assert_eq!(flow.loops(), [found(1, &[1, 2, 3, 4]), found(2, &[2, 3]), found(5, &[5])]);
    }

    #[test]
    fn what_has_two_entries_is_no_loop() {
        // 0 -> 1 or 2; 1 -> 2; 2 -> 1 or 3
        assert_eq!(flow(&[&[1, 2], &[2], &[1, 3], &[]], &[]).loops(), []);
    }
}
