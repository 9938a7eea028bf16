//! Which values are used after a wait that were made before it.

use std::collections::BTreeSet;

use super::flow::Flow;
use super::function::{Block, End, Function};

/// For each block, by number: the values that it, or what comes after it, uses and that are made before it.
pub(super) fn live_in<'f>(function: &'f Function, flow: &Flow) -> Vec<BTreeSet<&'f str>> {
    let own: Vec<Own<'f>> = function.blocks.iter().map(Own::of).collect();
    let mut live: Vec<BTreeSet<&str>> = own.iter().map(|own| own.used.clone()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (number, own) in own.iter().enumerate().rev() {
            let mut found = own.used.clone();
            for next in flow.successors(number) {
                let onward = live.get(*next).into_iter().flatten();
                found.extend(onward.filter(|value| !own.made.contains(*value)));
                found.extend(from(function, number, *next).filter(|value| !own.made.contains(value)));
            }
            if let Some(live) = live.get_mut(number)
                && live.len() != found.len()
            {
                *live = found;
                changed = true;
            }
        }
    }
    live
}

/// What a block makes, and what it uses before it makes it.
struct Own<'f> {
    made: BTreeSet<&'f str>,
    used: BTreeSet<&'f str>,
}

impl<'f> Own<'f> {
    fn of(block: &'f Block) -> Own<'f> {
        let mut own = Own { made: BTreeSet::new(), used: BTreeSet::new() };
        for instruction in block.instructions.iter().filter(|instruction| !instruction.is_note()) {
            let operands = instruction.operands().filter(|operand| !own.made.contains(operand));
            own.used.extend(operands.collect::<Vec<_>>());
            own.made.extend(instruction.result.as_deref());
        }
        if let End::Jump(line) = &block.end {
            own.used.extend(line.values().filter(|value| !own.made.contains(value)));
        }
        own
    }
}

/// What the phis of block `next` take from block `number`.
fn from(function: &Function, number: usize, next: usize) -> impl Iterator<Item = &str> {
    let name = function.blocks.get(number).map(|block| block.name.as_str()).unwrap_or_default();
    let instructions = function.blocks.get(next).into_iter().flat_map(|block| &block.instructions);
    let incoming = instructions.flat_map(|instruction| &instruction.incoming);
    incoming.filter(move |incoming| incoming.from == name).flat_map(|incoming| incoming.value.values())
}
