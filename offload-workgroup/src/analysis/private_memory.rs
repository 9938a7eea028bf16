//! Private variables of a work-item: which are live across a barrier, and where their addresses go.
//!
//! A variable that is live across a barrier needs storage for each work-item. Every other one is an alloca that all
//! work-items of a loop reuse in turn.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::control_flow::ControlFlowGraph;
use crate::ir::function::{Function, Instruction, Lifetime, Opcode, Terminator, operands};

/// The allocas of a function, with a points-to analysis.
#[derive(Debug)]
pub(crate) struct PrivateMemory<'f> {
    /// Every variable, by its name.
    pub(crate) variables: BTreeSet<&'f str>,
    /// Variables that are live across a barrier.
    pub(crate) live_across_barrier: BTreeSet<&'f str>,
    /// Variables whose addresses escape the analysis.
    escaped: BTreeSet<&'f str>,
    /// For each pointer the variables that it may point to.
    points_to: BTreeMap<&'f str, BTreeSet<&'f str>>,
}

impl<'f> PrivateMemory<'f> {
    pub(crate) fn new(function: &'f Function, cfg: &ControlFlowGraph) -> PrivateMemory<'f> {
        let mut memory = PrivateMemory {
            variables: allocas(function).collect(),
            live_across_barrier: BTreeSet::new(),
            escaped: BTreeSet::new(),
            points_to: points_to(function),
        };
        for instruction in function.instructions() {
            let escaping = memory.escaping_variables(instruction);
            memory.escaped.extend(escaping);
        }
        let before = memory.accessed_before(function, cfg);
        let after = memory.accessed_after(function, cfg);
        for ((block, before), after) in function.blocks.iter().zip(before).zip(after) {
            if matches!(block.terminator, Terminator::Barrier { .. }) {
                let live: Vec<&str> = before
                    .into_iter()
                    .filter(|variable| after.contains(variable) || memory.escaped.contains(variable))
                    .collect();
                memory.live_across_barrier.extend(live);
            }
        }
        memory
    }

    /// Whether `instruction` may access a variable that all work-items of a loop reuse.
    pub(crate) fn may_access_reused(&self, instruction: &Instruction) -> bool {
        // An escaped address can be anywhere.
        self.escaped.iter().any(|variable| self.is_reused(variable))
            || self.pointees(instruction).iter().any(|variable| self.is_reused(variable))
    }

    fn is_reused(&self, variable: &str) -> bool {
        !self.live_across_barrier.contains(variable)
    }

    /// The variables that the operands of `instruction` may point to.
    fn pointees(&self, instruction: &Instruction) -> BTreeSet<&'f str> {
        let sets = instruction.operands().filter_map(|operand| self.points_to.get(operand));
        sets.flatten().copied().collect()
    }

    /// The variables whose addresses escape by `instruction`.
    fn escaping_variables(&self, instruction: &Instruction) -> BTreeSet<&'f str> {
        const COPIES: [&str; 3] = ["@llvm.memcpy.", "@llvm.memmove.", "@llvm.memset."];
        let pointees = self.pointees(instruction);
        let keeps_address = instruction.is_marker()
            || propagates_pointer(instruction)
            || instruction.opcode == Opcode::Load
            || instruction.line.contains("icmp ")
            || COPIES.iter().any(|name| instruction.line.contains(name));
        if pointees.is_empty() || keeps_address {
            return BTreeSet::new();
        }
        if instruction.opcode != Opcode::Store {
            return pointees;
        }
        let text = instruction.line.text();
        let stored = operands(&text).first().and_then(|value| value.rsplit_once('%')).map(|(_, name)| name);
        stored.and_then(|name| self.points_to.get(name)).cloned().unwrap_or_default()
    }

    /// At the end of each block: the variables that may have been accessed (forward data flow).
    fn accessed_before(&self, function: &'f Function, cfg: &ControlFlowGraph) -> Vec<BTreeSet<&'f str>> {
        let mut known = vec![BTreeSet::new(); function.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (number, block) in function.blocks.iter().enumerate() {
                let mut now: BTreeSet<&str> = BTreeSet::new();
                for (other, set) in known.iter().enumerate() {
                    if cfg.successors(other).contains(&number) {
                        now.extend(set);
                    }
                }
                for instruction in &block.instructions {
                    match instruction.opcode {
                        Opcode::Lifetime(_) => self.remove_unescaped(instruction, &mut now),
                        _ => now.extend(self.pointees(instruction)),
                    }
                }
                changed |= replace(&mut known, number, now);
            }
        }
        known
    }

    /// At the end of each block: the variables that may be accessed later (backward data flow).
    fn accessed_after(&self, function: &'f Function, cfg: &ControlFlowGraph) -> Vec<BTreeSet<&'f str>> {
        let mut starts = vec![BTreeSet::new(); function.blocks.len()];
        let mut ends = starts.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for (number, block) in function.blocks.iter().enumerate().rev() {
                let mut now: BTreeSet<&str> = BTreeSet::new();
                for successor in cfg.successors(number) {
                    now.extend(starts.get(*successor).into_iter().flatten());
                }
                changed |= replace(&mut ends, number, now.clone());
                for instruction in block.instructions.iter().rev() {
                    match instruction.opcode {
                        Opcode::Lifetime(Lifetime::Start) => {
                            for variable in self.pointees(instruction) {
                                now.remove(variable);
                            }
                        }
                        Opcode::Lifetime(Lifetime::End) | Opcode::DebugRecord => {}
                        _ => now.extend(self.pointees(instruction)),
                    }
                }
                changed |= replace(&mut starts, number, now);
            }
        }
        ends
    }

    /// Removes the pointees of `instruction` from `set`. An escaped variable may be accessed through unknown pointers.
    fn remove_unescaped(&self, instruction: &Instruction, set: &mut BTreeSet<&'f str>) {
        for variable in self.pointees(instruction) {
            if !self.escaped.contains(variable) {
                set.remove(variable);
            }
        }
    }
}

/// Replaces one set of a data-flow analysis, and returns whether it has changed.
fn replace<'f>(known: &mut [BTreeSet<&'f str>], number: usize, now: BTreeSet<&'f str>) -> bool {
    match known.get_mut(number) {
        Some(known) if *known != now => {
            *known = now;
            true
        }
        _ => false,
    }
}

fn allocas(function: &Function) -> impl Iterator<Item = &str> {
    let allocas = function.instructions().filter(|instruction| instruction.opcode == Opcode::Alloca);
    allocas.filter_map(|instruction| instruction.result.as_deref())
}

/// The variables that each pointer may point to, by iteration to a fixed point.
fn points_to(function: &Function) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut points_to: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    points_to.extend(allocas(function).map(|name| (name, BTreeSet::from([name]))));
    if points_to.is_empty() {
        return points_to;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for instruction in function.instructions().filter(|instruction| propagates_pointer(instruction)) {
            let Some(result) = instruction.result.as_deref() else { continue };
            let incoming = instruction.incoming.iter().flat_map(|incoming| incoming.value.values());
            let sets = instruction.operands().chain(incoming).filter_map(|operand| points_to.get(operand));
            let found: BTreeSet<&str> = sets.flatten().copied().collect();
            let known = points_to.get(result).map_or(0, BTreeSet::len);
            if found.len() > known {
                points_to.insert(result, found);
                changed = true;
            }
        }
    }
    points_to
}

/// Whether the result of `instruction` may be a pointer that is derived from one of its operands.
fn propagates_pointer(instruction: &Instruction) -> bool {
    const WORDS: [&str; 7] = [
        "getelementptr ",
        "select ",
        "freeze ",
        "addrspacecast ",
        "insertelement ",
        "extractelement ",
        "shufflevector ",
    ];
    let text = instruction.line.text();
    instruction.opcode == Opcode::Phi || WORDS.iter().any(|word| text.starts_with(word))
}
