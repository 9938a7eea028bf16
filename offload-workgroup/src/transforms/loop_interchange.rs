//! Interchange of innermost loops with the work-item loop, by implicit barriers at their headers.
//!
//! Without it the loop of the kernel is inside the work-item loop, and vectors over work-items do not go through it
//! (Jääskeläinen et al., "pocl: A Performance-Portable OpenCL Implementation", 2015, section 4.3: horizontal inner-loop
//! parallelisation). Each iteration becomes a parallel region.
//!
//! - A loop with a uniform trip count gets a barrier of the whole group.
//! - If its accesses have large strides, it gets a barrier of a chunk of neighbours: a group would access more cache lines
//!   than a cache holds.
//! - A loop with divergent exits gets a barrier of a chunk, whose work-items iterate until all have left. The loop is free
//!   of side effects, or accesses memory with the stride one.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::control_flow::{ControlFlowGraph, Loop};
use crate::analysis::private_memory::PrivateMemory;
use crate::analysis::strides::Strides;
use crate::analysis::values::{Values, has_variable_divisor, is_pure_call};
use crate::analysis::work_item_state::{StateLoad, state_load, uses_local_id_address};
use crate::ir::function::{BarrierScope, Block, Function, Instruction, Iterations, Opcode, Terminator};
use crate::options::Validity;

/// Inserts barriers into the innermost loops of `function` that are worth an interchange.
///
/// Returns whether there are others with divergent exits, which `loops` leaves out.
pub(crate) fn insert_barriers(function: &mut Function, loops: Loops) -> bool {
    let Barriers { blocks, has_others } = LoopAnalysis::new(function).barriers(loops);
    function.has_interchanged_loops |= !blocks.is_empty();
    function.insert_barriers_after_phis(&blocks);
    has_others
}

/// The loops that are interchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loops {
    All,
    /// Those that all work-items leave together.
    Uniform,
}

/// The implicit barriers of a function.
struct Barriers {
    /// The scopes by the blocks that get a barrier behind their phis: headers of loops, and merge blocks of divergent exits.
    blocks: BTreeMap<usize, BarrierScope>,
    /// Whether loops that would be interchanged are left out.
    has_others: bool,
}

/// The divergent exits of a loop.
struct DivergentExit {
    iterations: Iterations,
    /// The blocks in which work-items wait for the rest of their chunk.
    merge_blocks: Vec<usize>,
}

/// The analyses of a function before barriers are inserted.
struct LoopAnalysis<'f> {
    function: &'f Function,
    cfg: ControlFlowGraph,
    values: Values<'f>,
    memory: PrivateMemory<'f>,
    strides: OnceCell<Strides<'f>>,
    bypasses: OnceCell<Vec<Vec<usize>>>,
}

impl<'f> LoopAnalysis<'f> {
    fn new(function: &'f Function) -> LoopAnalysis<'f> {
        let cfg = ControlFlowGraph::new(function, Validity::Assumed);
        let values = Values::new(function, &cfg);
        let memory = PrivateMemory::new(function, &cfg);
        LoopAnalysis { function, cfg, values, memory, strides: OnceCell::new(), bypasses: OnceCell::new() }
    }

    fn strides(&self) -> &Strides<'f> {
        self.strides.get_or_init(|| Strides::new(self.function, &self.values))
    }

    /// For each block the divergent branches at which work-items part, some of which come to it before they are together
    /// again.
    fn bypasses(&self) -> &[Vec<usize>] {
        self.bypasses.get_or_init(|| {
            let mut bypasses = vec![Vec::new(); self.function.blocks.len()];
            for (number, block) in self.function.blocks.iter().enumerate() {
                if !self.values.is_divergent(&block.terminator) || self.cfg.is_barrier_uniform(number) {
                    continue;
                }
                for influenced in self.cfg.influence_region(number) {
                    if let Some(bypasses) = bypasses.get_mut(influenced) {
                        bypasses.push(number);
                    }
                }
            }
            bypasses
        })
    }

    fn barriers(&self, interchanged: Loops) -> Barriers {
        let mut has_others = false;
        let loops = self.cfg.loops();
        let headers: BTreeSet<usize> = loops.iter().map(|one| one.header).collect();
        // What a chunk stores across the iterations of an outer loop is in memory only if that has a barrier.
        let mut nested_without_barrier: BTreeSet<usize> = BTreeSet::new();
        for outer in loops.iter().filter(|outer| !outer.has_barrier(self.function)) {
            let nested =
                outer.blocks.iter().filter(|block| **block != outer.header && headers.contains(block));
            nested_without_barrier.extend(nested);
        }
        let mut barriers = BTreeMap::new();
        for candidate in &loops {
            let is_innermost = candidate.blocks.iter().filter(|block| headers.contains(block)).count() == 1;
            let blocks = self.blocks(candidate);
            if !is_innermost
                || candidate.has_barrier(self.function)
                || !is_vectorizable(&blocks, &self.values, &self.memory)
            {
                continue;
            }
            let is_entered_together = !self.values.divergent_blocks.contains(&candidate.header);
            if is_entered_together && self.has_uniform_exits(candidate) {
                let scope = if self.strides().are_large(&blocks) {
                    BarrierScope::Chunk(Iterations::Uniform)
                } else {
                    BarrierScope::Group
                };
                barriers.insert(candidate.header, scope);
                continue;
            }
            if nested_without_barrier.contains(&candidate.header) {
                continue;
            }
            if let Some(DivergentExit { iterations, merge_blocks }) = self.divergent_exit(candidate, &blocks)
            {
                if interchanged == Loops::Uniform {
                    has_others = true;
                    continue;
                }
                barriers.insert(candidate.header, BarrierScope::Chunk(iterations));
                for block in merge_blocks {
                    barriers.entry(block).or_insert(BarrierScope::Chunk(Iterations::Uniform));
                }
            }
        }
        Barriers { blocks: barriers, has_others }
    }

    fn blocks(&self, of: &Loop) -> Vec<&'f Block> {
        of.blocks.iter().filter_map(|number| self.function.blocks.get(*number)).collect()
    }

    /// Whether all work-items leave the loop in the same iteration.
    fn has_uniform_exits(&self, candidate: &Loop) -> bool {
        candidate.blocks.iter().all(|number| {
            let successors = self.cfg.successors(*number);
            let is_exiting = successors.iter().any(|block| !candidate.blocks.contains(block));
            let terminator = self.function.blocks.get(*number).map(|block| &block.terminator);
            !is_exiting || terminator.is_some_and(|terminator| !self.values.is_divergent(terminator))
        })
    }

    /// The divergent exits of a loop; `None` where an interchange is not profitable.
    ///
    /// A work-item that has left can repeat the last iteration if that is idempotent. Otherwise it is masked, which takes
    /// longer: that is for loops over memory with the stride one, as `for (i = id; i < n; i += size)`.
    fn divergent_exit(&self, candidate: &Loop, blocks: &[&Block]) -> Option<DivergentExit> {
        let exit = self.cfg.exit(candidate)?;
        let is_repeatable = candidate.blocks.iter().all(|number| self.is_idempotent(*number));
        let is_profitable = is_repeatable || self.strides().are_unit(blocks);
        if !is_profitable || !exit.between.iter().all(|number| self.is_idempotent(*number)) {
            return None;
        }
        let merge_blocks = self.merge_blocks(candidate, exit.merge_block)?;
        let is_reached_by_all = merge_blocks.len() == 1;
        let iterations =
            if is_repeatable && is_reached_by_all { Iterations::Repeated } else { Iterations::Scheduled };
        Some(DivergentExit { iterations, merge_blocks })
    }

    /// The blocks where work-items wait for those that are still in the loop: its exit, and the merge block of each
    /// divergent branch at which others have bypassed it. `None` if they may be together in no such block.
    ///
    /// The numbers ascend: work-items that wait in a block with a lower one go on first.
    fn merge_blocks(&self, candidate: &Loop, exit: usize) -> Option<Vec<usize>> {
        let mut merge_blocks = Vec::new();
        for number in self.bypasses().get(candidate.header).into_iter().flatten() {
            if !candidate.blocks.contains(number) {
                merge_blocks.push(self.cfg.merge_block(*number)?);
            }
        }
        merge_blocks.retain(|block| *block != candidate.header);
        merge_blocks.push(exit);
        // Post-dominators of others come later.
        merge_blocks.sort_by_key(|block| std::cmp::Reverse(self.cfg.post_dominator_depth(*block)));
        let ascends = merge_blocks.is_sorted();
        (ascends && candidate.header < exit && merge_blocks.first() == Some(&exit)).then_some(merge_blocks)
    }

    /// Whether a second execution of block `number` changes nothing: it writes no memory, and its loads are uniform.
    fn is_idempotent(&self, number: usize) -> bool {
        let Some(block) = self.function.blocks.get(number) else { return false };
        matches!(block.terminator, Terminator::Branch(_))
            && block.instructions.iter().all(|instruction| self.is_repeatable(instruction))
    }

    fn is_repeatable(&self, instruction: &Instruction) -> bool {
        match instruction.opcode {
            Opcode::Store | Opcode::LocalAtomic | Opcode::Lifetime(_) => false,
            Opcode::Call => is_pure_call(instruction),
            Opcode::Load => {
                let is_uniform = instruction.operands().all(|operand| self.values.uniform.contains(operand));
                state_load(instruction).is_some() || is_uniform && !is_atomic_or_volatile(instruction)
            }
            _ => !is_atomic_or_volatile(instruction) && !has_variable_divisor(instruction),
        }
    }
}

impl Loop {
    /// Whether the loop has a barrier, so that its live values are in memory in every iteration.
    fn has_barrier(&self, function: &Function) -> bool {
        let mut blocks = self.blocks.iter().filter_map(|number| function.blocks.get(*number));
        blocks.any(|block| matches!(block.terminator, Terminator::Barrier { .. }))
    }
}

/// Whether LLVM can vectorise these blocks over work-items: they have scalar instructions, and no calls.
///
/// A private array that all work-items reuse would need storage for each of them.
fn is_vectorizable<'f>(blocks: &[&'f Block], values: &Values<'f>, memory: &PrivateMemory<'f>) -> bool {
    // Uniform by their operands, loads included: within an iteration nothing else is stored to what they read.
    let mut invariant: BTreeSet<&str> = BTreeSet::new();
    let instructions = blocks.iter().flat_map(|block| &block.instructions);
    for instruction in instructions.filter(|instruction| !instruction.is_marker()) {
        let is_invariant = matches!(instruction.opcode, Opcode::Load | Opcode::Other)
            && !uses_local_id_address(instruction)
            && !matches!(state_load(instruction), Some(StateLoad::LocalId { .. }))
            && instruction
                .operands()
                .all(|operand| values.uniform.contains(operand) || invariant.contains(operand));
        if is_invariant && let Some(result) = instruction.result.as_deref() {
            invariant.insert(result);
        }
        let has_vector_form = match instruction.opcode {
            Opcode::Alloca => false,
            Opcode::Call => is_pure_call(instruction),
            Opcode::Load | Opcode::Store if memory.may_access_reused(instruction) => false,
            _ => !is_atomic_or_volatile(instruction),
        };
        if !has_vector_form || !is_invariant && instruction.line.contains("<") {
            return false;
        }
    }
    true
}

/// Whether the order in which work-items execute `instruction` is observable.
fn is_atomic_or_volatile(instruction: &Instruction) -> bool {
    ["atomic", "cmpxchg", " volatile ", "fence "].iter().any(|word| instruction.line.contains(word))
}

#[cfg(test)]
mod tests;
