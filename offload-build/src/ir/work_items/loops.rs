//! Loops of the source that go on for several work-items at once: each round is cut like a wait, and becomes a loop over
//! work-items, which clang can make vectors of.
//!
//! The loop in the source is inside the loop over the work-items otherwise, where no vector goes through it
//! (Jääskeläinen et al., "pocl: A Performance-Portable OpenCL Implementation", 2015, section 4.3).
//!
//! - Loops that all work-items of a group go round equally often are cut for the whole group.
//! - If each work-item reads memory of its own there, far from what its neighbours read, a few of them go on at once: a
//!   group would read from more places than a cache keeps.
//! - If work-items leave such a loop one by one, a few of them go on until all are done. Such a loop may write nothing.

mod steps;

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{self, Facts};
use super::flow::{Flow, Loop};
use super::function::{Block, End, Function, Instruction, Kind, Rounds, Wait};
use super::memory::PrivateMemory;
use super::state::{self, State};

/// Cuts the innermost loops of `function` whose rounds are worth it.
pub(super) fn cut(function: &mut Function) {
    let mut cuts = cuts(function);
    // From the last, so that the numbers of those before stay.
    while let Some((block, wait)) = cuts.pop_last() {
        function.wait_after_phis(block, wait);
    }
}

/// The blocks after whose phis work-items wait: the first ones of loops, and those behind loops that are left one by one.
fn cuts(function: &Function) -> BTreeMap<usize, Wait> {
    let flow = Flow::of(function);
    let facts = Facts::of(function, &flow);
    let memory = PrivateMemory::of(function, &flow);
    let loops = flow.loops();
    let starts: BTreeSet<usize> = loops.iter().map(|found| found.header).collect();
    let is_innermost =
        |blocks: &BTreeSet<usize>| blocks.iter().filter(|block| starts.contains(*block)).count() == 1;
    let mut cuts = BTreeMap::new();
    for found in loops.iter().filter(|found| is_innermost(&found.blocks)) {
        let blocks: Vec<&Block> =
            found.blocks.iter().filter_map(|number| function.blocks.get(*number)).collect();
        let waits = |block: &&Block| matches!(block.end, End::Wait { .. });
        if blocks.iter().any(waits) || !becomes_vectors(&blocks, &facts, &memory) {
            continue;
        }
        if !facts.parted.contains(&found.header) && leaves_together(found, &flow, function, &facts) {
            let few = steps::are_far(&blocks, function, &facts);
            cuts.insert(found.header, if few { Wait::Lanes(Rounds::Equal) } else { Wait::Group });
        } else if let Some((join, between)) = flow.out_of(found)
            && found.blocks.union(&between).all(|number| computes_alone(function, *number, &facts))
            && loops.iter().all(|outer| !outer.holds(found) || outer.waits(function))
            && let Some(joins) = joins(found, join, &flow, function, &facts)
        {
            let rounds = if joins.len() == 1 { Rounds::Own } else { Rounds::Some };
            cuts.insert(found.header, Wait::Lanes(rounds));
            for join in joins {
                cuts.entry(join).or_insert(Wait::Lanes(Rounds::Equal));
            }
        }
    }
    cuts
}

/// The blocks where work-items wait for those that are still in the loop: the only one behind it, and one for each branch
/// at which others have gone elsewhere before. `None` if they may be together in no such block.
///
/// The numbers ascend: those who wait in a block with a lower one go on first.
fn joins(
    found: &Loop,
    exit: usize,
    flow: &Flow,
    function: &Function,
    facts: &Facts<'_>,
) -> Option<Vec<usize>> {
    let others = function.blocks.iter().enumerate().filter(|(number, _)| !found.blocks.contains(number));
    let parting = others.filter(|(number, block)| {
        facts.parts(&block.end)
            && !flow.must_agree(*number)
            && flow.influenced(*number).contains(&found.header)
    });
    let mut joins = parting.map(|(number, _)| flow.meeting(number)).collect::<Option<Vec<usize>>>()?;
    joins.retain(|join| *join != found.header);
    joins.push(exit);
    // What more ways go through comes later.
    joins.sort_by_key(|join| std::cmp::Reverse(flow.behind(*join)));
    let all = std::iter::once(&found.header).chain(&joins);
    let ascend = all.clone().zip(&joins).all(|(first, second)| first <= second);
    (ascend && found.header < exit && joins.first() == Some(&exit)).then_some(joins)
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

/// Whether block `number` does nothing but compute: it writes no memory, and reads none that is not equal for all
/// work-items.
fn computes_alone(function: &Function, number: usize, facts: &Facts<'_>) -> bool {
    let Some(block) = function.blocks.get(number) else { return false };
    let alone = |instruction: &Instruction| match instruction.kind {
        Kind::Store | Kind::Exclusive | Kind::Lifetime(_) => false,
        Kind::Call => facts::calls_pure(instruction),
        Kind::Load => {
            state::read(instruction).is_some()
                || instruction.operands().all(|operand| facts.uniform.contains(operand))
        }
        _ => !is_ordered(instruction) && !facts::divides(instruction),
    };
    matches!(block.end, End::Jump(_)) && block.instructions.iter().all(alone)
}

/// Whether all work-items leave the loop in the same round.
fn leaves_together(found: &Loop, flow: &Flow, function: &Function, facts: &Facts<'_>) -> bool {
    found.blocks.iter().all(|number| {
        let leaves = flow.successors(*number).iter().any(|next| !found.blocks.contains(next));
        let end = function.blocks.get(*number).map(|block| &block.end);
        !leaves || end.is_some_and(|end| !facts.parts(end))
    })
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
mod tests {
    use super::*;
    use crate::ir::work_items::types::Types;

    /// Sums what lies `step` apart, from the work-item's position.
    const SUM: &str = "\
define void @f(ptr %args) {
  %1 = load ptr, ptr %args
  %2 = load ptr, ptr %1
  %3 = load i64, ptr @__offload_state_local_id
  %4 = load i64, ptr @__offload_state_local_size
  br label %5
5:
  %6 = phi i64 [ 0, %0 ], [ %9, %5 ]
  %7 = phi float [ 0.0, %0 ], [ %12, %5 ]
  %8 = add i64 %6, %3
  %9 = add i64 %6, 1
  %10 = getelementptr float, ptr %2, i64 %8
  %11 = load float, ptr %10
  %12 = fadd float %7, %11
  %13 = icmp eq i64 %9, %4
  br i1 %13, label %14, label %5
14:
  store float %12, ptr %2
  ret void";

    fn cut_function(text: &str) -> Function {
        let lines: Vec<&str> = text.lines().collect();
        let mut function = Function::parse(&lines, &Types::of("")).unwrap();
        cut(&mut function);
        function
    }

    fn waits(text: &str) -> usize {
        let blocks = cut_function(text).blocks;
        blocks.iter().filter(|block| matches!(block.end, End::Wait { .. })).count()
    }

    #[test]
    fn each_round_of_a_loop_with_one_count_for_all_is_cut_after_its_phis() {
        let function = cut_function(SUM);
        let blocks: Vec<(&str, usize)> =
            function.blocks.iter().map(|block| (block.name.as_str(), block.instructions.len())).collect();
        assert_eq!(blocks, [("v0", 4), ("v5", 2), ("v5.r1", 6), ("v14", 1)]);
        let phi = &function.blocks[1].instructions[0];
        let from: Vec<&str> = phi.incoming.iter().map(|incoming| incoming.from.as_str()).collect();
        assert_eq!(from, ["v0", "v5.r1"]);
    }

    #[test]
    fn loops_that_work_items_leave_one_by_one_stay() {
        assert_eq!(waits(&SUM.replace("icmp eq i64 %9, %4", "icmp eq i64 %9, %3")), 0);
        assert_eq!(waits(&SUM.replace("icmp eq i64 %9, %4", "fcmp olt float %12, 1.0")), 0);
    }

    #[test]
    fn loops_that_some_work_items_do_not_come_to_stay() {
        let guarded =
            SUM.replace("  br label %5\n5:", "  %c = icmp eq i64 %3, 0\n  br i1 %c, label %14, label %5\n5:");
        let guarded =
            guarded.replace("store float %12", "%r = phi float [ 0.0, %0 ], [ %12, %5 ]\n  store float %r");
        assert_eq!(waits(&guarded), 0);
    }

    #[test]
    fn loops_over_private_arrays_stay() {
        let array = SUM.replace("load ptr, ptr %1", "alloca [64 x float]");
        assert_eq!(waits(&array), 0);
    }

    #[test]
    fn loops_with_calls_vectors_or_order_stay() {
        assert_eq!(waits(&SUM.replace("load float, ptr %10", "call float @expf(float %7)")), 0);
        assert_eq!(waits(&SUM.replace("load float, ptr %10", "load volatile float, ptr %10")), 0);
        assert_eq!(
            waits(&SUM.replace("load float, ptr %10", "atomicrmw fadd ptr %10, float 1.0 monotonic")),
            0
        );
        let vectors = SUM.replace(
            "%11 = load float, ptr %10",
            "%v = load <4 x float>, ptr %10\n  %11 = extractelement <4 x float> %v, i64 0",
        );
        assert_eq!(waits(&vectors), 0);
        // A vector that is the same for all work-items is read once.
        let equal = vectors.replace("i64 %8", "i64 %6");
        assert_eq!(waits(&equal), 1);
    }

    /// Halves a number of the work-item's own until it is small.
    const HALVES: &str = "\
define void @f(ptr %args) {
  %1 = load ptr, ptr %args
  %2 = load ptr, ptr %1
  %3 = load i64, ptr @__offload_state_local_id
  br label %4
4:
  %5 = phi i64 [ %3, %0 ], [ %6, %4 ]
  %6 = lshr i64 %5, 1
  %7 = icmp ugt i64 %6, 3
  br i1 %7, label %4, label %8
8:
  store i64 %6, ptr %2
  ret void";

    fn kinds(text: &str) -> Vec<Wait> {
        let blocks = cut_function(text).blocks;
        let wait = |block: &Block| match block.end {
            End::Wait { wait, .. } => Some(wait),
            _ => None,
        };
        blocks.iter().filter_map(wait).collect()
    }

    #[test]
    fn neighbours_wait_behind_a_loop_that_they_leave_one_by_one() {
        let [own, some, equal] = [Rounds::Own, Rounds::Some, Rounds::Equal].map(Wait::Lanes);
        assert_eq!(kinds(HALVES), [own, equal]);
        let entered = "  br label %4\n4:";
        let guard = "  %g = icmp ugt i64 %3, 9\n  br i1 %g, label %4, label %8\n4:";
        assert_eq!(kinds(&HALVES.replace(entered, guard)), [some, equal]);
        // Those who return before the loop wait at the end of the function.
        let guard = guard.replace("%8", "%end");
        let returns =
            HALVES.replace(entered, &guard).replace("  ret void", "  br label %end\nend:\n  ret void");
        assert_eq!(kinds(&returns), [some, equal, equal]);
        // Where some come another way to the loop, all come.
        let way = "  %g = icmp ugt i64 %3, 9\n  br i1 %g, label %4, label %way\nway:\n  br label %4\n4:";
        assert_eq!(
            kinds(&HALVES.replace(entered, way).replace("[ %3, %0 ]", "[ %3, %0 ], [ 5, %way ]")),
            [own, equal]
        );
    }

    #[test]
    fn loops_with_effects_are_not_left_one_by_one() {
        assert_eq!(kinds(&HALVES.replace("  %7 =", "  store i64 %6, ptr %2\n  %7 =")), []);
        assert_eq!(kinds(&HALVES.replace("lshr i64 %5, 1", "udiv i64 %5, %3")), []);
        let read = "  %at = getelementptr i64, ptr %2, i64 %5\n  %6 = load i64, ptr %at";
        assert_eq!(kinds(&HALVES.replace("  %6 = lshr i64 %5, 1", read)), []);
        let equal = "  %x = load i64, ptr %2\n  %6 = lshr i64 %5, %x";
        assert_eq!(kinds(&HALVES.replace("  %6 = lshr i64 %5, 1", equal)).len(), 2);
    }

    /// What neighbours keep would be in memory, and the loop may be short.
    #[test]
    fn loops_in_others_are_left_one_by_one_only_between_barriers() {
        let outer = HALVES.replace("  br label %4\n4:", "  br label %outer\nouter:\n  br label %4\n4:");
        let outer = outer.replace("[ %3, %0 ]", "[ %3, %outer ]");
        let again = "  %o = phi i64 [ 0, %0 ], [ %o.next, %8 ]";
        let outer = outer.replace("outer:\n", &format!("outer:\n{again}\n")).replace(
            "  ret void",
            "  %o.next = add i64 %o, 1\n  %c = icmp ult i64 %o, 9\n  br i1 %c, label %outer, label %end\nend:\n  ret void",
        );
        assert_eq!(kinds(&outer), []);
        let waits = outer.replace("8:\n", "8:\n  call void @__offload_wait()\n");
        let lanes = [Rounds::Own, Rounds::Equal].map(Wait::Lanes);
        assert_eq!(kinds(&waits), [lanes[0], lanes[1], Wait::Group]);
    }

    #[test]
    fn neighbours_that_read_far_apart_are_few() {
        let far = [Wait::Lanes(Rounds::Equal)];
        assert_eq!(kinds(SUM), [Wait::Group]);
        let rows =
            |row: &str| SUM.replace("  %8 = add i64 %6, %3", &format!("  %m = {row}\n  %8 = add i64 %6, %m"));
        assert_eq!(kinds(&rows("mul i64 %3, %4")), far);
        assert_eq!(kinds(&rows("shl i64 %3, 9")), far);
        assert_eq!(kinds(&rows("shl i64 %3, 1")), [Wait::Group]);
        // Equal for neighbours in the first dimension.
        let row = rows("mul i64 %y, %4").replace("  %3 = load", "  %y = load i64, ptr getelementptr inbounds (i8, ptr @__offload_state_local_id, i64 8)\n  %3 = load");
        assert_eq!(kinds(&row), [Wait::Group]);
        // One read that is close together is enough for vectors.
        let both = rows("mul i64 %3, %4").replace(
            "  %12 =",
            "  %at = getelementptr float, ptr %2, i64 %3\n  %near = load float, ptr %at\n  %12 =",
        );
        assert_eq!(kinds(&both), [Wait::Group]);
    }
}
