//! Private variables of a work-item: which are live across a barrier, and where their addresses go.
//!
//! A variable that is live across a barrier needs storage for each work-item. Every other one is an alloca that all
//! work-items of a loop reuse in turn.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// Whether an escaped variable is reused by all work-items of a loop.
    has_reused_escape: bool,
    /// For each pointer the variables that it may point to.
    points_to: BTreeMap<&'f str, BTreeSet<&'f str>>,
}

impl<'f> PrivateMemory<'f> {
    pub(crate) fn new(function: &'f Function, cfg: &ControlFlowGraph) -> PrivateMemory<'f> {
        let mut memory = PrivateMemory {
            variables: allocas(function).collect(),
            live_across_barrier: BTreeSet::new(),
            escaped: BTreeSet::new(),
            has_reused_escape: false,
            points_to: points_to(function),
        };
        if memory.variables.is_empty() {
            return memory;
        }
        for instruction in function.instructions() {
            let escaping = memory.escaping_variables(instruction);
            memory.escaped.extend(escaping);
        }
        memory.live_across_barrier = memory.find_live_across_barrier(function, cfg);
        memory.has_reused_escape = memory.escaped.iter().any(|variable| memory.is_reused(variable));
        memory
    }

    fn find_live_across_barrier(&self, function: &'f Function, cfg: &ControlFlowGraph) -> BTreeSet<&'f str> {
        let mut live = BTreeSet::new();
        let mut barriers = Vec::new();
        for (number, block) in function.blocks.iter().enumerate() {
            if matches!(block.terminator, Terminator::Barrier { .. }) {
                barriers.push(number);
            }
        }
        if barriers.is_empty() {
            return live;
        }
        let names: Vec<&str> = self.variables.iter().copied().collect();
        let accesses = self.accesses(function, &names);
        let before = accessed_before(&accesses, cfg, names.len());
        let after = accessed_after(&accesses, cfg, names.len());
        for barrier in barriers {
            let (Some(before), Some(after)) = (before.get(barrier), after.get(barrier)) else { continue };
            for variable in before.numbers() {
                let Some(name) = names.get(variable) else { continue };
                if after.contains(variable) || self.escaped.contains(name) {
                    live.insert(*name);
                }
            }
        }
        live
    }

    /// Whether `instruction` may access a variable that all work-items of a loop reuse.
    pub(crate) fn may_access_reused(&self, instruction: &Instruction) -> bool {
        // An escaped address can be anywhere.
        self.has_reused_escape || self.pointees(instruction).iter().any(|variable| self.is_reused(variable))
    }

    fn is_reused(&self, variable: &str) -> bool {
        !self.live_across_barrier.contains(variable)
    }

    /// The variables that the operands of `instruction` may point to.
    fn pointees(&self, instruction: &Instruction) -> BTreeSet<&'f str> {
        if self.points_to.is_empty() {
            return BTreeSet::new();
        }
        let sets = instruction.operands().filter_map(|operand| self.points_to.get(operand));
        sets.flatten().copied().collect()
    }

    /// The accesses of each block, with variables by their number in `names`.
    fn accesses(&self, function: &'f Function, names: &[&'f str]) -> Vec<Vec<VariableAccess>> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        numbers.extend(names.iter().enumerate().map(|(number, name)| (*name, number)));
        let mut all = Vec::with_capacity(function.blocks.len());
        for block in &function.blocks {
            let mut accesses = Vec::new();
            for instruction in &block.instructions {
                for name in self.pointees(instruction) {
                    let Some(variable) = numbers.get(name).copied() else { continue };
                    let is_escaped = self.escaped.contains(name);
                    accesses.push(VariableAccess { variable, opcode: instruction.opcode, is_escaped });
                }
            }
            all.push(accesses);
        }
        all
    }

    /// The variables whose addresses escape by `instruction`.
    fn escaping_variables(&self, instruction: &Instruction) -> BTreeSet<&'f str> {
        const COPIES: [&str; 3] = ["@llvm.memcpy.", "@llvm.memmove.", "@llvm.memset."];
        let pointees = self.pointees(instruction);
        if pointees.is_empty() {
            return pointees;
        }
        let keeps_address = instruction.is_marker()
            || propagates_pointer(instruction)
            || instruction.opcode == Opcode::Load
            || instruction.line.contains("icmp ")
            || COPIES.iter().any(|name| instruction.line.contains(name));
        if keeps_address {
            return BTreeSet::new();
        }
        if instruction.opcode != Opcode::Store {
            return pointees;
        }
        let text = instruction.line.text();
        let stored = operands(&text).first().and_then(|value| value.rsplit_once('%')).map(|(_, name)| name);
        stored.and_then(|name| self.points_to.get(name)).cloned().unwrap_or_default()
    }
}

/// An access of a variable, or a lifetime marker.
#[derive(Clone, Copy, Debug)]
struct VariableAccess {
    variable: usize,
    opcode: Opcode,
    /// An escaped variable may be accessed through unknown pointers.
    is_escaped: bool,
}

/// A set of variables by their number. A set for each block fits into memory also where there are many of both.
#[derive(Clone, Debug, PartialEq, Eq)]
struct VariableSet(Vec<u64>);

impl VariableSet {
    fn new(variables: usize) -> VariableSet {
        VariableSet(vec![0; variables.div_ceil(64)])
    }

    fn insert(&mut self, variable: usize) {
        if let Some(word) = self.0.get_mut(variable / 64) {
            *word |= 1 << (variable % 64);
        }
    }

    fn remove(&mut self, variable: usize) {
        if let Some(word) = self.0.get_mut(variable / 64) {
            *word &= !(1 << (variable % 64));
        }
    }

    fn contains(&self, variable: usize) -> bool {
        self.0.get(variable / 64).is_some_and(|word| word >> (variable % 64) & 1 == 1)
    }

    fn extend(&mut self, other: &VariableSet) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    fn numbers(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len().saturating_mul(64)).filter(|variable| self.contains(*variable))
    }
}

/// At the end of each block: the variables that may have been accessed (forward data flow).
fn accessed_before(
    accesses: &[Vec<VariableAccess>],
    cfg: &ControlFlowGraph,
    variables: usize,
) -> Vec<VariableSet> {
    let mut ends = vec![VariableSet::new(variables); accesses.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, accesses) in accesses.iter().enumerate() {
            let mut now = VariableSet::new(variables);
            for before in cfg.predecessors(number).iter().filter_map(|block| ends.get(*block)) {
                now.extend(before);
            }
            for access in accesses {
                match access.opcode {
                    Opcode::Lifetime(_) if access.is_escaped => {}
                    Opcode::Lifetime(_) => now.remove(access.variable),
                    _ => now.insert(access.variable),
                }
            }
            changed |= replace(&mut ends, number, now);
        }
    }
    ends
}

/// At the end of each block: the variables that may be accessed later (backward data flow).
fn accessed_after(
    accesses: &[Vec<VariableAccess>],
    cfg: &ControlFlowGraph,
    variables: usize,
) -> Vec<VariableSet> {
    let mut starts = vec![VariableSet::new(variables); accesses.len()];
    let mut ends = starts.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for (number, accesses) in accesses.iter().enumerate().rev() {
            let mut now = VariableSet::new(variables);
            for after in cfg.successors(number).iter().filter_map(|block| starts.get(*block)) {
                now.extend(after);
            }
            changed |= replace(&mut ends, number, now.clone());
            for access in accesses.iter().rev() {
                match access.opcode {
                    Opcode::Lifetime(Lifetime::Start) => now.remove(access.variable),
                    Opcode::Lifetime(Lifetime::End) | Opcode::DebugRecord => {}
                    _ => now.insert(access.variable),
                }
            }
            changed |= replace(&mut starts, number, now);
        }
    }
    ends
}

/// Replaces one set of a data-flow analysis, and returns whether it has changed.
fn replace(known: &mut [VariableSet], number: usize, now: VariableSet) -> bool {
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
        "getelementptr",
        "select",
        "freeze",
        "addrspacecast",
        "insertelement",
        "extractelement",
        "shufflevector",
    ];
    instruction.opcode == Opcode::Phi || WORDS.contains(&instruction.line.opcode())
}
