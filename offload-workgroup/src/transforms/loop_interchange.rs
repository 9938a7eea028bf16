//! Loops of the source that go on for several work-items at once: each round is cut like a wait, and becomes a loop over
//! work-items, which clang can make vectors of.
//!
//! The loop in the source is inside the loop over the work-items otherwise, where no vector goes through it
//! (Jääskeläinen et al., "pocl: A Performance-Portable OpenCL Implementation", 2015, section 4.3).
//!
//! - Loops that all work-items of a group go round equally often are cut for the whole group.
//! - If each work-item reads memory of its own there, far from what its neighbours read, a few of them go on at once: a
//!   group would read from more places than a cache keeps.
//! - If work-items leave such a loop one by one, a few of them go on until all are done. Such a loop computes alone, or
//!   goes over memory side by side.

mod steps;

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{self, Facts};
use super::flow::{Flow, Loop};
use super::function::{Block, End, Function, Instruction, Kind, Rounds, Wait};
use super::memory::PrivateMemory;
use super::state::{self, State};
use super::validity::Validity;

/// Cuts the innermost loops of `function` whose rounds are worth it.
pub(super) fn cut(function: &mut Function) {
    let mut cuts = Known::of(function).cuts();
    // From the last, so that the numbers of those before stay.
    while let Some((block, wait)) = cuts.pop_last() {
        function.wait_after_phis(block, wait);
    }
}

/// How work-items leave a loop.
struct Leaving {
    rounds: Rounds,
    /// Where they wait for each other.
    joins: Vec<usize>,
}

/// What is known of a function before it is cut.
struct Known<'f> {
    function: &'f Function,
    flow: Flow,
    facts: Facts<'f>,
    memory: PrivateMemory<'f>,
}

impl<'f> Known<'f> {
    fn of(function: &'f Function) -> Known<'f> {
        let flow = Flow::new(function, Validity::Assumed);
        let (facts, memory) = (Facts::of(function, &flow), PrivateMemory::of(function, &flow));
        Known { function, flow, facts, memory }
    }

    /// The blocks after whose phis work-items wait: the first ones of loops, and those behind loops that are left one by
    /// one.
    fn cuts(&self) -> BTreeMap<usize, Wait> {
        let loops = self.flow.loops();
        let starts: BTreeSet<usize> = loops.iter().map(|found| found.header).collect();
        let is_innermost =
            |found: &&Loop| found.blocks.iter().filter(|block| starts.contains(*block)).count() == 1;
        let mut cuts = BTreeMap::new();
        for found in loops.iter().filter(is_innermost) {
            let blocks = self.blocks(found);
            let mut waits = blocks.iter().filter(|block| matches!(block.end, End::Wait { .. }));
            if waits.next().is_some() || !becomes_vectors(&blocks, &self.facts, &self.memory) {
                continue;
            }
            if !self.facts.parted.contains(&found.header) && self.leaves_together(found) {
                let few = steps::are_far(&blocks, self.function, &self.facts);
                cuts.insert(found.header, if few { Wait::Lanes(Rounds::Equal) } else { Wait::Group });
            } else if loops.iter().all(|outer| !outer.holds(found) || outer.waits(self.function))
                && let Some(Leaving { rounds, joins }) = self.leaving(found, &blocks)
            {
                cuts.insert(found.header, Wait::Lanes(rounds));
                for join in joins {
                    cuts.entry(join).or_insert(Wait::Lanes(Rounds::Equal));
                }
            }
        }
        cuts
    }

    fn blocks(&self, found: &Loop) -> Vec<&'f Block> {
        found.blocks.iter().filter_map(|number| self.function.blocks.get(*number)).collect()
    }

    /// Whether all work-items leave the loop in the same round.
    fn leaves_together(&self, found: &Loop) -> bool {
        found.blocks.iter().all(|number| {
            let leaves = self.flow.successors(*number).iter().any(|next| !found.blocks.contains(next));
            let end = self.function.blocks.get(*number).map(|block| &block.end);
            !leaves || end.is_some_and(|end| !self.facts.parts(end))
        })
    }

    /// How work-items leave the loop one by one; `None` where that is not worth it.
    ///
    /// Who is done can repeat the last round if that does nothing but compute. Otherwise it is passed over, which takes
    /// longer: that is for loops that go over memory side by side, as `for (i = id; i < n; i += size)`.
    fn leaving(&self, found: &Loop, blocks: &[&Block]) -> Option<Leaving> {
        let (exit, between) = self.flow.out_of(found)?;
        let alone = found.blocks.iter().all(|number| self.computes_alone(*number));
        let is_worth_it = alone || steps::are_near(blocks, self.function, &self.facts);
        if !is_worth_it || !between.iter().all(|number| self.computes_alone(*number)) {
            return None;
        }
        let joins = self.joins(found, exit)?;
        let rounds = if alone && joins.len() == 1 { Rounds::Own } else { Rounds::Some };
        Some(Leaving { rounds, joins })
    }

    /// The blocks where work-items wait for those that are still in the loop: one behind it, and one for each branch at
    /// which others have gone elsewhere before. `None` if they may be together in no such block.
    ///
    /// The numbers ascend: those who wait in a block with a lower one go on first.
    fn joins(&self, found: &Loop, exit: usize) -> Option<Vec<usize>> {
        let others = self.function.blocks.iter().enumerate();
        let others = others.filter(|(number, _)| !found.blocks.contains(number));
        let parting = others.filter(|(number, block)| {
            self.facts.parts(&block.end)
                && !self.flow.is_barrier_uniform(*number)
                && self.flow.influenced(*number).contains(&found.header)
        });
        let mut joins =
            parting.map(|(number, _)| self.flow.meeting(number)).collect::<Option<Vec<usize>>>()?;
        joins.retain(|join| *join != found.header);
        joins.push(exit);
        // What more ways go through comes later.
        joins.sort_by_key(|join| std::cmp::Reverse(self.flow.behind(*join)));
        let all = std::iter::once(&found.header).chain(&joins);
        let ascend = all.zip(&joins).all(|(first, second)| first <= second);
        (ascend && found.header < exit && joins.first() == Some(&exit)).then_some(joins)
    }

    /// Whether block `number` does nothing but compute: it writes no memory, and reads none that is not equal for all
    /// work-items.
    fn computes_alone(&self, number: usize) -> bool {
        let Some(block) = self.function.blocks.get(number) else { return false };
        let alone = |instruction: &Instruction| match instruction.kind {
            Kind::Store | Kind::Exclusive | Kind::Lifetime(_) => false,
            Kind::Call => facts::calls_pure(instruction),
            Kind::Load => {
                let is_uniform = instruction.operands().all(|operand| self.facts.uniform.contains(operand));
                state::read(instruction).is_some() || is_uniform && !is_ordered(instruction)
            }
            _ => !is_ordered(instruction) && !facts::divides(instruction),
        };
        matches!(block.end, End::Jump(_)) && block.instructions.iter().all(alone)
    }
}

impl Loop {
    /// Whether `other` is inside.
    fn holds(&self, other: &Loop) -> bool {
        self.header != other.header && self.blocks.contains(&other.header)
    }

    /// Whether all work-items of a group wait in each round: what they keep is in memory anyway.
    fn waits(&self, function: &Function) -> bool {
        let mut blocks = self.blocks.iter().filter_map(|number| function.blocks.get(*number));
        blocks.any(|block| matches!(block.end, End::Wait { .. }))
    }
}

/// Whether clang makes vectors over work-items of these instructions: of numbers, not of vectors, and without calls.
/// A private array would have to be kept for each work-item, which one after the other uses now.
fn becomes_vectors<'f>(blocks: &[&'f Block], facts: &Facts<'f>, memory: &PrivateMemory<'f>) -> bool {
    let mut equal: BTreeSet<&str> = BTreeSet::new();
    let own = |instruction: &&Instruction| !instruction.is_note();
    let instructions = blocks.iter().flat_map(|block| &block.instructions).filter(own);
    for instruction in instructions {
        let mut operands = instruction.operands();
        let is_equal = matches!(instruction.kind, Kind::Load | Kind::Other)
            && !state::mentions_local_id(instruction)
            && !matches!(state::read(instruction), Some(State::LocalId { .. }))
            && operands.all(|operand| facts.uniform.contains(operand) || equal.contains(operand));
        if let (true, Some(result)) = (is_equal, instruction.result.as_deref()) {
            equal.insert(result);
        }
        let known = match instruction.kind {
            Kind::Alloca => false,
            Kind::Call => facts::calls_pure(instruction),
            Kind::Load | Kind::Store if memory.shares(instruction) => false,
            _ => !is_ordered(instruction),
        };
        if !known || !is_equal && instruction.line.contains("<") {
            return false;
        }
    }
    true
}

/// Whether work-items may be seen to do `instruction` one after the other.
fn is_ordered(instruction: &Instruction) -> bool {
    ["atomic", "cmpxchg", " volatile ", "fence "].iter().any(|word| instruction.line.contains(word))
}

#[cfg(test)]
mod tests;
