//! Liveness: values that are used in a block or behind it, and defined before it.
//!
//! Values that are live at the start of a block behind a barrier are live across the barrier.

use std::collections::{BTreeSet, HashMap};

use crate::analysis::control_flow::ControlFlowGraph;
use crate::ir::function::{Block, Function, Terminator};

/// The values that are live at the start of each of `starts`, by its number.
///
/// Each value is followed from its uses backwards to its definition (Boissinot et al., "Computing Liveness Sets for SSA-Form
/// Programs", 2011). Operands of phis are used at the end of the predecessor.
pub(crate) fn live_in<'f>(
    function: &'f Function,
    cfg: &ControlFlowGraph,
    starts: &BTreeSet<usize>,
) -> HashMap<usize, BTreeSet<&'f str>> {
    let mut live: HashMap<usize, BTreeSet<&str>> = HashMap::new();
    live.extend(starts.iter().map(|start| (*start, BTreeSet::new())));
    let uses = ValueUses::new(function);
    // The last value that was live at the start of each block.
    let mut last: Vec<Option<&str>> = vec![None; function.blocks.len()];
    for (value, blocks) in uses.live_at {
        let definition = uses.defined.get(value);
        let mut open = blocks;
        while let Some(block) = open.pop() {
            match last.get_mut(block) {
                Some(last) if *last != Some(value) => *last = Some(value),
                _ => continue,
            }
            if let Some(live) = live.get_mut(&block) {
                live.insert(value);
            }
            let before = cfg.predecessors(block).iter().copied();
            open.extend(before.filter(|block| Some(block) != definition));
        }
    }
    live
}

/// Definitions and uses of the values of a function.
struct ValueUses<'f> {
    /// The block that defines each value.
    defined: HashMap<&'f str, usize>,
    /// The blocks at whose start each value is live because they use it, or give it to a phi.
    live_at: HashMap<&'f str, Vec<usize>>,
}

impl<'f> ValueUses<'f> {
    fn new(function: &'f Function) -> ValueUses<'f> {
        let mut uses = ValueUses { defined: HashMap::new(), live_at: HashMap::new() };
        for (number, block) in function.blocks.iter().enumerate() {
            uses.add_block(number, block);
        }
        // What a predecessor does not define is live at its start.
        let numbers = function.block_numbers();
        for instruction in function.instructions() {
            for incoming in &instruction.incoming {
                let Some(from) = numbers.get(incoming.from.as_str()) else { continue };
                for value in incoming.value.values() {
                    uses.add_use(*from, value);
                }
            }
        }
        uses
    }

    fn add_block(&mut self, number: usize, block: &'f Block) {
        for instruction in block.instructions.iter().filter(|instruction| !instruction.is_marker()) {
            for operand in instruction.operands() {
                self.add_use(number, operand);
            }
            if let Some(result) = instruction.result.as_deref() {
                self.defined.insert(result, number);
            }
        }
        if let Terminator::Branch(line) = &block.terminator {
            for value in line.values() {
                self.add_use(number, value);
            }
        }
    }

    /// Adds a use in a block whose definitions so far are known.
    fn add_use(&mut self, block: usize, value: &'f str) {
        if self.defined.get(value) == Some(&block) {
            return;
        }
        let blocks = self.live_at.entry(value).or_default();
        if blocks.last() != Some(&block) {
            blocks.push(block);
        }
    }
}
