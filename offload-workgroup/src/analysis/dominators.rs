//! Dominator trees (Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001).

/// The blocks by their immediate dominator: of the edges of a function the dominators, of the reversed edges the
/// post-dominators.
#[derive(Debug)]
pub(crate) struct DominatorTree {
    /// `None` for blocks whose only dominator is themselves, and for those that no root reaches.
    parents: Vec<Option<usize>>,
    /// For each block when a depth-first walk of the tree enters and leaves it.
    visits: Vec<Visit>,
}

/// The part of a depth-first walk of the tree that is below a block.
#[derive(Clone, Copy, Debug, Default)]
struct Visit {
    enter: usize,
    leave: usize,
    /// The number of blocks above, the block included.
    depth: usize,
}

impl DominatorTree {
    /// The tree of the graph with these edges. Its roots are the blocks without an incoming edge.
    pub(crate) fn new(next: &[Vec<usize>]) -> DominatorTree {
        let before = reversed(next);
        let builder = Builder { before: &before, numbers: postorder_numbers(next, &before) };
        let parents = builder.parents();
        let visits = visits(&parents);
        DominatorTree { parents, visits }
    }

    /// The immediate dominator of `block`.
    pub(crate) fn parent(&self, block: usize) -> Option<usize> {
        self.parents.get(block).copied().flatten()
    }

    /// `block`, its immediate dominator, and so on.
    pub(crate) fn dominators(&self, block: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(block), |block| self.parent(*block))
    }

    /// The number of dominators of `block`, itself included.
    pub(crate) fn depth(&self, block: usize) -> usize {
        self.visits.get(block).map_or(0, |visit| visit.depth)
    }

    /// Whether `block` is a dominator of `other`, or `other` itself.
    pub(crate) fn dominates(&self, block: usize, other: usize) -> bool {
        match (self.visits.get(block), self.visits.get(other)) {
            (Some(above), Some(below)) => above.enter <= below.enter && below.leave <= above.leave,
            _ => false,
        }
    }
}

/// A depth-first walk of the trees with these parents.
fn visits(parents: &[Option<usize>]) -> Vec<Visit> {
    let mut children = vec![Vec::new(); parents.len()];
    let mut open = Vec::new();
    for (block, parent) in parents.iter().enumerate().rev() {
        match parent.and_then(|parent| children.get_mut(parent)) {
            Some(children) => children.push(block),
            None => open.push((block, 1)),
        }
    }
    let mut visits = vec![Visit::default(); parents.len()];
    let mut time = 0;
    // A block before its children are visited, and again behind them.
    while let Some((block, depth)) = open.pop() {
        let Some(visit) = visits.get_mut(block) else { continue };
        time += 1;
        if visit.depth > 0 {
            visit.leave = time;
            continue;
        }
        *visit = Visit { enter: time, leave: time, depth };
        open.push((block, depth));
        let below = children.get(block).into_iter().flatten();
        open.extend(below.map(|child| (*child, depth + 1)));
    }
    visits
}

/// The blocks that come before each block.
pub(crate) fn reversed(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut before = vec![Vec::new(); next.len()];
    for (block, successors) in next.iter().enumerate() {
        for successor in successors {
            if let Some(before) = before.get_mut(*successor) {
                before.push(block);
            }
        }
    }
    before
}

/// For each block its place in a depth-first postorder from the roots; `None` if no root reaches it.
fn postorder_numbers(next: &[Vec<usize>], before: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut numbers = vec![None; next.len()];
    let mut seen = vec![false; next.len()];
    let mut count = 0;
    for (root, _) in before.iter().enumerate().filter(|(_, before)| before.is_empty()) {
        // A block, and how many of its successors have been visited.
        let mut open = vec![(root, 0)];
        mark(&mut seen, root);
        while let Some((block, visited)) = open.pop() {
            let Some(successor) = next.get(block).and_then(|next| next.get(visited)).copied() else {
                if let Some(number) = numbers.get_mut(block) {
                    *number = Some(count);
                }
                count += 1;
                continue;
            };
            open.push((block, visited + 1));
            if mark(&mut seen, successor) {
                open.push((successor, 0));
            }
        }
    }
    numbers
}

/// Marks `block`; whether it was not marked before.
fn mark(seen: &mut [bool], block: usize) -> bool {
    match seen.get_mut(block) {
        Some(seen) => !std::mem::replace(seen, true),
        None => false,
    }
}

/// What the tree is built from.
struct Builder<'b> {
    before: &'b [Vec<usize>],
    numbers: Vec<Option<usize>>,
}

/// What is known of a block's immediate dominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Immediate {
    Unknown,
    /// The root that stands before all roots.
    Root,
    Block(usize),
}

impl Builder<'_> {
    fn parents(&self) -> Vec<Option<usize>> {
        let mut order: Vec<usize> =
            (0..self.before.len()).filter(|block| self.number(*block).is_some()).collect();
        order.sort_by_key(|block| std::cmp::Reverse(self.number(*block)));
        let mut known = vec![Immediate::Unknown; self.before.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for block in &order {
                let immediate = self.immediate(*block, &known);
                if let Some(known) = known.get_mut(*block)
                    && *known != immediate
                {
                    *known = immediate;
                    changed = true;
                }
            }
        }
        known
            .into_iter()
            .map(|known| if let Immediate::Block(block) = known { Some(block) } else { None })
            .collect()
    }

    fn number(&self, block: usize) -> Option<usize> {
        self.numbers.get(block).copied().flatten()
    }

    /// The common dominator of the predecessors that are known.
    fn immediate(&self, block: usize, known: &[Immediate]) -> Immediate {
        let before = self.before.get(block).map_or(&[] as &[usize], Vec::as_slice);
        if before.is_empty() {
            return Immediate::Root;
        }
        let mut common = Immediate::Unknown;
        for predecessor in before {
            if known.get(*predecessor).copied() != Some(Immediate::Unknown) {
                common = self.common(common, Immediate::Block(*predecessor), known);
            }
        }
        common
    }

    fn common(&self, mut first: Immediate, mut second: Immediate, known: &[Immediate]) -> Immediate {
        while first != second {
            match (first, second) {
                (Immediate::Unknown, other) | (other, Immediate::Unknown) => return other,
                (Immediate::Root, _) | (_, Immediate::Root) => return Immediate::Root,
                (Immediate::Block(one), Immediate::Block(other)) if self.number(one) < self.number(other) => {
                    first = known.get(one).copied().unwrap_or(Immediate::Root);
                }
                (_, Immediate::Block(other)) => {
                    second = known.get(other).copied().unwrap_or(Immediate::Root);
                }
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(next: &[&[usize]]) -> DominatorTree {
        let next: Vec<Vec<usize>> = next.iter().map(|next| next.to_vec()).collect();
        DominatorTree::new(&next)
    }

    #[test]
    fn a_merge_block_is_dominated_by_the_branch() {
        let tree = tree(&[&[1, 2], &[3], &[3], &[]]);
        assert_eq!([0, 1, 2, 3].map(|block| tree.parent(block)), [None, Some(0), Some(0), Some(0)]);
        assert_eq!(tree.dominators(3).collect::<Vec<_>>(), [3, 0]);
        assert_eq!(tree.depth(3), 2);
        assert!(
            tree.dominates(0, 3) && tree.dominates(3, 3) && !tree.dominates(1, 3) && !tree.dominates(3, 0)
        );
    }

    #[test]
    fn irreducible_graphs_and_several_roots_have_trees() {
        // 0 -> 1 or 2; 1 -> 2; 2 -> 1 or 3; 4 -> 3
        let tree = tree(&[&[1, 2], &[2], &[1, 3], &[], &[3]]);
        assert_eq!([1, 2, 3, 4].map(|block| tree.parent(block)), [Some(0), Some(0), None, None]);
    }

    #[test]
    fn what_no_root_reaches_has_no_dominator() {
        // 0 -> 1; 2 -> 3; 3 -> 2 or 1
        let tree = tree(&[&[1], &[], &[3], &[2, 1]]);
        assert_eq!([1, 2, 3].map(|block| tree.parent(block)), [Some(0), None, None]);
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % limit
        }
    }

    /// The blocks that ways from roots lead to which avoid one block.
    fn reachable(next: &[Vec<usize>], without: Option<usize>) -> Vec<bool> {
        let before = reversed(next);
        let mut found = vec![false; next.len()];
        let mut open: Vec<usize> = (0..next.len()).filter(|block| before[*block].is_empty()).collect();
        while let Some(block) = open.pop() {
            if Some(block) != without && !found[block] {
                found[block] = true;
                open.extend(&next[block]);
            }
        }
        found
    }

    /// By the definition: a block dominates another if no way from a root avoids it.
    #[test]
    fn trees_of_random_graphs_are_right() {
        let mut random = Random(7);
        for _ in 0..300 {
            let count = 2 + random.below(9);
            let mut next = Vec::new();
            for _ in 0..count {
                let successors: Vec<usize> =
                    (0..random.below(4)).map(|_| 1 + random.below(count - 1)).collect();
                next.push(successors);
            }
            let tree = DominatorTree::new(&next);
            let all = reachable(&next, None);
            for block in (0..count).filter(|block| all[*block]) {
                let wanted: Vec<usize> =
                    (0..count).filter(|other| !reachable(&next, Some(*other))[block]).collect();
                let mut found: Vec<usize> = tree.dominators(block).collect();
                found.sort_unstable();
                assert_eq!(
                    found,
                    wanted.into_iter().filter(|other| all[*other]).collect::<Vec<_>>(),
                    "{next:?} {block}"
                );
            }
        }
    }
}
