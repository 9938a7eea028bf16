//! Uniform values, and values that are rematerialised behind a barrier rather than stored across it.
//!
//! The divergence analysis is that of Karrenberg and Hack with influence regions; `docs/design/work-groups.md` has the
//! conditions and the literature.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::analysis::control_flow::{ControlFlowGraph, InfluenceRegions};
use crate::analysis::work_item_state::{StateLoad, state_load};
use crate::ir::function::{Function, Instruction, Opcode, Terminator};
use crate::transforms::vector_math::MATH_PREFIX;

/// Instructions for each work-item beyond which a load from memory is cheaper than rematerialisation. Addresses of
/// neighbours, also those clamped to an edge, have fewer: where they are computed, vectors access adjacent elements, and
/// where they are loaded, each lane accesses one.
const MAX_REMATERIALIZED: usize = 16;

/// The values of a function.
#[derive(Debug)]
pub(crate) struct Values<'f> {
    pub(crate) definitions: BTreeMap<&'f str, Definition<'f>>,
    /// Values that are equal for all work-items of a group.
    pub(crate) uniform: BTreeSet<&'f str>,
    /// Blocks in the influence region of a divergent branch.
    pub(crate) divergent_blocks: BTreeSet<usize>,
    /// Values that are computed again in each region that uses them, with the number of instructions for each work-item.
    pub(crate) rematerialized: BTreeMap<&'f str, usize>,
    /// Those of them that are loaded through the argument array, which outlives the group.
    pub(crate) arguments: BTreeSet<&'f str>,
}

/// The definition of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition<'f> {
    pub(crate) block: usize,
    pub(crate) instruction: &'f Instruction,
}

/// A value that is derived from the argument array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentValue {
    /// A pointer into the argument array.
    Array,
    /// A pointer to an argument.
    Cell,
    /// The argument.
    Argument,
}

impl<'f> Values<'f> {
    pub(crate) fn new(function: &'f Function, cfg: &ControlFlowGraph) -> Values<'f> {
        let mut definitions = BTreeMap::new();
        for (number, block) in function.blocks.iter().enumerate() {
            for instruction in &block.instructions {
                if let Some(result) = &instruction.result {
                    definitions.insert(result.as_str(), Definition { block: number, instruction });
                }
            }
        }
        let mut values = Values {
            definitions,
            uniform: BTreeSet::new(),
            divergent_blocks: BTreeSet::new(),
            rematerialized: BTreeMap::new(),
            arguments: BTreeSet::new(),
        };
        let users = Users::new(function);
        let arguments = values.argument_values(&function.parameter, &users);
        values.arguments = arguments.keys().copied().collect();
        values.find_uniform(function, cfg, &arguments, &users);
        values.find_rematerialized(function, &arguments, &users);
        values
    }

    /// The values that are loaded through the argument array.
    fn argument_values(&self, array: &'f str, users: &Users<'f>) -> BTreeMap<&'f str, ArgumentValue> {
        let mut found = BTreeMap::from([(array, ArgumentValue::Array)]);
        let mut open = vec![array];
        while let Some(name) = open.pop() {
            for user in users.values_of(name) {
                if found.contains_key(user) {
                    continue;
                }
                let definition = self.definitions.get(user);
                if let Some(value) = definition.and_then(|one| argument_value(one.instruction, &found)) {
                    found.insert(user, value);
                    open.push(user);
                }
            }
        }
        found
    }

    /// The optimistic fixed point: all values start as uniform, and varying ones are removed until nothing changes. What
    /// depends on a value that was removed is looked at again.
    fn find_uniform(
        &mut self,
        function: &'f Function,
        cfg: &ControlFlowGraph,
        arguments: &BTreeMap<&'f str, ArgumentValue>,
        users: &Users<'f>,
    ) {
        self.uniform = self.definitions.keys().copied().collect();
        self.uniform.insert(&function.parameter);
        let mut influence = InfluenceRegions::new(function.blocks.len());
        let mut open: Vec<&str> = self.definitions.keys().copied().collect();
        // Branches may depend on what is no value of the function.
        let mut branches: Vec<usize> = (0..function.blocks.len()).collect();
        loop {
            while let Some(name) = open.pop() {
                let Some(definition) = self.definitions.get(name) else { continue };
                let is_candidate = self.uniform.contains(name) && !arguments.contains_key(name);
                if is_candidate && !self.stays_uniform(definition) {
                    self.uniform.remove(name);
                    open.extend(users.values_of(name));
                    branches.extend(users.branches_of(name));
                }
            }
            let mut divergent: BTreeSet<usize> = branches.drain(..).collect();
            divergent.retain(|number| {
                let block = function.blocks.get(*number);
                block.is_some_and(|block| self.is_divergent(&block.terminator))
                    && !cfg.is_barrier_uniform(*number)
            });
            for number in influence.add(cfg, &divergent) {
                self.divergent_blocks.insert(number);
                let block = function.blocks.get(number);
                let phis = block.into_iter().flat_map(|block| &block.instructions);
                let phis = phis.filter(|instruction| instruction.opcode == Opcode::Phi);
                open.extend(phis.filter_map(|phi| phi.result.as_deref()));
            }
            if open.is_empty() {
                return;
            }
        }
    }

    /// Whether a branch depends on a varying value.
    pub(crate) fn is_divergent(&self, terminator: &Terminator) -> bool {
        match terminator {
            Terminator::Branch(line) => line.values().any(|value| !self.uniform.contains(value)),
            _ => false,
        }
    }

    fn stays_uniform(&self, definition: &Definition<'_>) -> bool {
        let instruction = definition.instruction;
        let incoming = instruction.incoming.iter().flat_map(|incoming| incoming.value.values());
        let has_uniform_operands =
            instruction.operands().chain(incoming).all(|operand| self.uniform.contains(operand));
        match instruction.opcode {
            Opcode::Phi => has_uniform_operands && !self.divergent_blocks.contains(&definition.block),
            Opcode::Load => matches!(state_load(instruction), Some(StateLoad::Group { .. })),
            // Each `freeze` of poison may choose another value.
            Opcode::Other => {
                has_uniform_operands && is_pure(instruction) && !has_opcode(instruction, &["freeze"])
            }
            Opcode::Call => has_uniform_operands && is_pure_call(instruction),
            _ => false,
        }
    }

    fn find_rematerialized(
        &mut self,
        function: &'f Function,
        arguments: &BTreeMap<&'f str, ArgumentValue>,
        users: &Users<'f>,
    ) {
        self.rematerialized.insert(&function.parameter, 0);
        let results = function.instructions().filter_map(|instruction| instruction.result.as_deref());
        let mut open: Vec<&str> = results.collect();
        // From the first, so that most operands are known before their users.
        open.reverse();
        while let Some(name) = open.pop() {
            let Some(definition) = self.definitions.get(name) else { continue };
            if self.rematerialized.contains_key(name) {
                continue;
            }
            let cost = if arguments.contains_key(name) {
                Some(0)
            } else {
                self.cost(definition.instruction, self.uniform.contains(name))
            };
            if let Some(cost) = cost {
                self.rematerialized.insert(name, cost);
                open.extend(users.values_of(name));
            }
        }
    }

    /// The instructions for each work-item that rematerialise a value; `None` for too many, and where a second execution
    /// may give another result.
    fn cost(&self, instruction: &Instruction, is_uniform: bool) -> Option<usize> {
        if instruction.opcode == Opcode::Alloca || state_load(instruction).is_some() {
            return Some(0);
        }
        let is_repeatable = match instruction.opcode {
            Opcode::Other => is_pure(instruction) && !has_opcode(instruction, &["freeze"]),
            Opcode::Call => is_uniform && is_pure_call(instruction),
            _ => false,
        };
        if !is_repeatable || (!is_uniform && !is_cheap_integer(instruction)) || may_trap(instruction) {
            return None;
        }
        let mut cost = 0usize;
        for operand in instruction.operands() {
            cost = cost.checked_add(*self.rematerialized.get(operand)?)?;
        }
        if is_uniform {
            return Some(0);
        }
        Some(cost.saturating_add(1)).filter(|cost| *cost <= MAX_REMATERIALIZED)
    }
}

/// What uses each value.
struct Users<'f>(HashMap<&'f str, ValueUsers<'f>>);

#[derive(Default)]
struct ValueUsers<'f> {
    values: Vec<&'f str>,
    /// Blocks whose terminators use it.
    branches: Vec<usize>,
}

impl<'f> Users<'f> {
    fn new(function: &'f Function) -> Users<'f> {
        let mut users: HashMap<&str, ValueUsers<'_>> = HashMap::new();
        for (number, block) in function.blocks.iter().enumerate() {
            for instruction in &block.instructions {
                let Some(result) = instruction.result.as_deref() else { continue };
                for operand in instruction.operands() {
                    users.entry(operand).or_default().values.push(result);
                }
                for operand in instruction.incoming.iter().flat_map(|incoming| incoming.value.values()) {
                    users.entry(operand).or_default().values.push(result);
                }
            }
            if let Terminator::Branch(line) = &block.terminator {
                for operand in line.values() {
                    users.entry(operand).or_default().branches.push(number);
                }
            }
        }
        Users(users)
    }

    fn values_of(&self, name: &str) -> impl Iterator<Item = &'f str> {
        self.0.get(name).into_iter().flat_map(|users| users.values.iter().copied())
    }

    fn branches_of(&self, name: &str) -> impl Iterator<Item = usize> {
        self.0.get(name).into_iter().flat_map(|users| users.branches.iter().copied())
    }
}

fn argument_value(instruction: &Instruction, known: &BTreeMap<&str, ArgumentValue>) -> Option<ArgumentValue> {
    let mut operands = instruction.operands();
    let base = known.get(operands.next()?)?;
    if operands.next().is_some() {
        return None;
    }
    let line = &instruction.line;
    match (instruction.opcode, base) {
        (Opcode::Load, _) if line.contains("load volatile") || line.contains(" atomic ") => None,
        (Opcode::Load, ArgumentValue::Array) => line.contains("load ptr,").then_some(ArgumentValue::Cell),
        (Opcode::Load, ArgumentValue::Cell) => Some(ArgumentValue::Argument),
        (Opcode::Other, ArgumentValue::Array | ArgumentValue::Cell) => {
            has_opcode(instruction, &["getelementptr"]).then_some(*base)
        }
        _ => None,
    }
}

/// Whether the text of an instruction begins with one of `words`.
pub(crate) fn has_opcode(instruction: &Instruction, words: &[&str]) -> bool {
    words.contains(&instruction.line.opcode())
}

fn is_pure(instruction: &Instruction) -> bool {
    !has_opcode(instruction, &["fence", "cmpxchg", "atomicrmw", "va_arg"])
}

/// Whether an instruction is an integer division.
fn may_trap(instruction: &Instruction) -> bool {
    has_opcode(instruction, &["udiv", "sdiv", "urem", "srem"])
}

/// Whether an instruction is an integer division whose divisor is no constant: processors have no vectors for it.
pub(crate) fn has_variable_divisor(instruction: &Instruction) -> bool {
    let mut text = instruction.line.text();
    text.truncate(text.find(", !").unwrap_or(text.len()));
    let divisor = text.rsplit(' ').next().unwrap_or_default();
    may_trap(instruction) && divisor.parse::<i64>().is_err()
}

/// Whether an instruction costs about as much as an addition.
fn is_cheap_integer(instruction: &Instruction) -> bool {
    const OPCODES: [&str; 14] = [
        "add",
        "sub",
        "mul",
        "shl",
        "lshr",
        "ashr",
        "and",
        "or",
        "xor",
        "zext",
        "sext",
        "trunc",
        "icmp",
        "getelementptr",
    ];
    has_opcode(instruction, &OPCODES)
}

/// Whether `instruction` calls a function of its operands alone that has a form for vectors.
pub(crate) fn is_pure_call(instruction: &Instruction) -> bool {
    const INTRINSICS: [&str; 16] = [
        "umin", "umax", "smin", "smax", "abs", "fabs", "fma", "fmuladd", "ctpop", "ctlz", "cttz", "bswap",
        "fshl", "fshr", "sqrt", "copysign",
    ];
    let start = instruction.line.start();
    let called = start.split_once("@llvm.").and_then(|(_, name)| name.split_once('.'));
    called.is_some_and(|(name, _)| INTRINSICS.contains(&name)) || instruction.line.contains(MATH_PREFIX)
}
