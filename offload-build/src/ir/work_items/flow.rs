//! Which blocks of a function come after which.

use std::collections::{BTreeMap, BTreeSet};

use super::function::{End, Function, Wait};

/// The blocks of a function by number, with the edges between them.
#[derive(Debug)]
pub(super) struct Flow {
    next: Vec<Vec<usize>>,
    /// For each block: the blocks that every way from it to the end goes through, and itself.
    after: Vec<BTreeSet<usize>>,
    /// The blocks that end with a wait.
    waits: BTreeSet<usize>,
    /// Those of them where all work-items of a group come together.
    meetings: BTreeSet<usize>,
}

impl Flow {
    pub(super) fn of(function: &Function) -> Flow {
        let count = function.blocks.len();
        let next: Vec<Vec<usize>> = (0..count).map(|number| function.successors(number)).collect();
        let (mut waits, mut meetings) = (BTreeSet::new(), BTreeSet::new());
        for (number, block) in function.blocks.iter().enumerate() {
            if let End::Wait { wait, .. } = block.end {
                waits.insert(number);
                meetings.extend((wait == Wait::Group).then_some(number));
            }
        }
        Flow { after: post_dominators(&next), next, waits, meetings }
    }

    pub(super) fn successors(&self, block: usize) -> &[usize] {
        self.next.get(block).map_or(&[], Vec::as_slice)
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

    /// Whether OpenCL demands that all work-items go the same way at the end of `block`: one way leads to a wait for
    /// certain, and the others do not come to it.
    pub(super) fn must_agree(&self, block: usize) -> bool {
        let next = self.successors(block);
        let here = BTreeSet::from([block]);
        next.iter().any(|way| {
            // Those who come back to `block` are asked again.
            let others: Vec<usize> =
                next.iter().copied().filter(|other| other != way && *other != block).collect();
            let elsewhere = self.reached(&others, &here);
            let certain =
                self.after.get(*way).into_iter().flatten().filter(|wait| self.meetings.contains(*wait));
            // A wait that everybody comes to from `block` tells nothing of the way.
            let always = self.after.get(block);
            let mut told = certain.filter(|wait| always.is_none_or(|always| !always.contains(*wait)));
            told.any(|wait| !elsewhere.contains(wait))
        })
    }

    /// The loops that are entered through one block, by that block.
    pub(super) fn loops(&self) -> Vec<Loop> {
        let before = reversed(&self.next);
        let over = post_dominators(&before);
        let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (block, next) in self.next.iter().enumerate() {
            let dominators = over.get(block);
            for header in next.iter().filter(|next| dominators.is_some_and(|all| all.contains(next))) {
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
        let after = self.after.get(block)?;
        after.iter().copied().filter(|other| *other != block).max_by_key(|other| self.behind(*other))
    }

    /// The first block that every way out of a loop goes through, and the blocks that ways go through before.
    pub(super) fn out_of(&self, found: &Loop) -> Option<(usize, BTreeSet<usize>)> {
        let after = self.after.get(found.header)?.difference(&found.blocks).copied();
        let join = after.max_by_key(|block| self.behind(*block))?;
        let next = found.blocks.iter().flat_map(|block| self.successors(*block)).copied();
        let outside: Vec<usize> = next.filter(|next| !found.blocks.contains(next)).collect();
        let mut between = self.reached(&outside, &BTreeSet::from([join]));
        between.remove(&join);
        Some((join, between))
    }

    /// How many blocks every way from `block` to the end goes through.
    pub(super) fn behind(&self, block: usize) -> usize {
        self.after.get(block).map_or(0, BTreeSet::len)
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

/// By going backwards until nothing changes. Of the reversed edges, these are the dominators.
fn post_dominators(next: &[Vec<usize>]) -> Vec<BTreeSet<usize>> {
    let all: BTreeSet<usize> = (0..next.len()).collect();
    let mut known: BTreeMap<usize, BTreeSet<usize>> = all.iter().map(|block| (*block, all.clone())).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (block, successors) in next.iter().enumerate().rev() {
            let mut sets = successors.iter().filter_map(|successor| known.get(successor));
            let mut after = sets.next().cloned().unwrap_or_default();
            for set in sets {
                after = after.intersection(set).copied().collect();
            }
            after.insert(block);
            if known.get(&block) != Some(&after) {
                known.insert(block, after);
                changed = true;
            }
        }
    }
    known.into_values().collect()
}

/// The blocks that come before each block.
fn reversed(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); next.len()];
    for (block, successors) in next.iter().enumerate() {
        for successor in successors {
            before.get_mut(*successor).into_iter().for_each(|before| before.push(block));
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(next: &[&[usize]], waits: &[usize]) -> Flow {
        let next: Vec<Vec<usize>> = next.iter().map(|next| next.to_vec()).collect();
        let waits: BTreeSet<usize> = waits.iter().copied().collect();
        Flow { after: post_dominators(&next), next, meetings: waits.clone(), waits }
    }

    #[test]
    fn ways_meet_after_a_branch() {
        // 0 -> 1 or 2 -> 3
        let flow = flow(&[&[1, 2], &[3], &[3], &[]], &[]);
        assert_eq!(flow.influenced(0), [1, 2, 3].into());
        assert!(!flow.must_agree(0));
    }

    #[test]
    fn a_loop_with_a_wait_has_one_count_for_all() {
        // 0 -> 1 (wait) -> 2 -> 0 or 3
        let flow = flow(&[&[1, 3], &[2], &[0], &[]], &[1]);
        assert!(flow.must_agree(0));
        assert_eq!(flow.until_wait(2), [0, 1, 2, 3].into());
        assert_eq!(flow.influenced(0), [0, 1, 2, 3].into());
    }

    #[test]
    fn a_wait_after_a_loop_says_nothing_of_its_count() {
        // 0 -> 1 or 2; 1 -> 0; 2 (wait) -> 3
        let flow = flow(&[&[1, 2], &[0], &[3], &[]], &[2]);
        assert!(!flow.must_agree(0));
    }

    #[test]
    fn a_wait_under_a_second_condition_says_nothing_of_the_first() {
        // 0 -> 1 or 3; 1 -> 2 (wait) or 3; 2 -> 3
        let flow = flow(&[&[1, 3], &[2, 3], &[3], &[]], &[2]);
        assert!(!flow.must_agree(0));
        assert!(flow.must_agree(1));
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
