//! Liveness: values that are used in a block or behind it, and defined before it.
//!
//! Values that are live at the start of a block behind a barrier are live across the barrier.

use std::collections::BTreeSet;

use crate::analysis::control_flow::ControlFlowGraph;
use crate::ir::function::{Block, Function, Terminator};

/// The live-in values of each block, by its number: a backward data-flow analysis.
///
/// Operands of phis are used at the end of the predecessor.
pub(crate) fn live_in<'f>(function: &'f Function, cfg: &ControlFlowGraph) -> Vec<BTreeSet<&'f str>> {
    let uses: Vec<BlockUses<'f>> = function.blocks.iter().map(BlockUses::new).collect();
    let mut live: Vec<BTreeSet<&str>> = uses.iter().map(|uses| uses.exposed.clone()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (number, uses) in uses.iter().enumerate().rev() {
            let mut now = uses.exposed.clone();
            for successor in cfg.successors(number) {
                let live_out = live.get(*successor).into_iter().flatten().copied();
                let live_out = live_out.chain(phi_operands(function, number, *successor));
                now.extend(live_out.filter(|value| !uses.defined.contains(value)));
            }
            if let Some(live) = live.get_mut(number)
                && live.len() != now.len()
            {
                *live = now;
                changed = true;
            }
        }
    }
    live
}

/// Definitions and uses of a block.
struct BlockUses<'f> {
    defined: BTreeSet<&'f str>,
    /// Upward-exposed uses: those before a definition in the block.
    exposed: BTreeSet<&'f str>,
}

impl<'f> BlockUses<'f> {
    fn new(block: &'f Block) -> BlockUses<'f> {
        let mut uses = BlockUses { defined: BTreeSet::new(), exposed: BTreeSet::new() };
        for instruction in block.instructions.iter().filter(|instruction| !instruction.is_marker()) {
            for operand in instruction.operands() {
                uses.add_use(operand);
            }
            uses.defined.extend(instruction.result.as_deref());
        }
        if let Terminator::Branch(line) = &block.terminator {
            for value in line.values() {
                uses.add_use(value);
            }
        }
        uses
    }

    fn add_use(&mut self, value: &'f str) {
        if !self.defined.contains(value) {
            self.exposed.insert(value);
        }
    }
}

/// The values that the phis of block `successor` take from block `number`.
fn phi_operands(function: &Function, number: usize, successor: usize) -> impl Iterator<Item = &str> {
    let name = function.blocks.get(number).map(|block| block.name.as_str()).unwrap_or_default();
    let instructions = function.blocks.get(successor).into_iter().flat_map(|block| &block.instructions);
    let incoming = instructions.flat_map(|instruction| &instruction.incoming);
    incoming.filter(move |incoming| incoming.from == name).flat_map(|incoming| incoming.value.values())
}
