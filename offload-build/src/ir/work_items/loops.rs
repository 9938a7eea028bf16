//! Loops that all work-items of a group go round equally often: each round is cut like a wait, and becomes a loop over
//! the work-items, which clang can make vectors of.
//!
//! The loop in the source is inside the loop over the work-items otherwise, where no vector goes through it
//! (Jääskeläinen et al., "pocl: A Performance-Portable OpenCL Implementation", 2015, section 4.3).

use std::collections::BTreeSet;

use super::facts::{self, Facts};
use super::flow::{Flow, Loop};
use super::function::{Block, End, Function, Instruction, Kind};
use super::memory::PrivateMemory;
use super::state::{self, State};

/// Cuts the innermost loops of `function` whose rounds are worth it.
pub(super) fn cut(function: &mut Function) {
    let mut headers = headers(function);
    // From the last, so that the numbers of those before stay.
    while let Some(header) = headers.pop_last() {
        function.wait_after_phis(header);
    }
}

/// The first blocks of the loops that are cut.
fn headers(function: &Function) -> BTreeSet<usize> {
    let flow = Flow::of(function);
    let facts = Facts::of(function, &flow);
    let memory = PrivateMemory::of(function, &flow);
    let loops = flow.loops();
    let starts: BTreeSet<usize> = loops.iter().map(|found| found.header).collect();
    let is_innermost =
        |blocks: &BTreeSet<usize>| blocks.iter().filter(|block| starts.contains(*block)).count() == 1;
    let chosen = loops.iter().filter(|found| {
        let blocks: Vec<&Block> =
            found.blocks.iter().filter_map(|number| function.blocks.get(*number)).collect();
        is_innermost(&found.blocks)
            && !facts.parted.contains(&found.header)
            && leaves_together(found, &flow, function, &facts)
            && blocks.iter().all(|block| !matches!(block.end, End::Wait { .. }))
            && becomes_vectors(&blocks, &facts, &memory)
    });
    chosen.map(|found| found.header).collect()
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
}
