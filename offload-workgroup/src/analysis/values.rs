//! Uniform values, and values that are rematerialised behind a barrier rather than stored across it.
//!
//! The divergence analysis is that of Karrenberg and Hack with influence regions; `docs/design/work-groups.md` has the
//! conditions and the literature.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::control_flow::ControlFlowGraph;
use crate::analysis::work_item_state::{StateLoad, state_load};
use crate::ir::function::{Function, Instruction, Opcode, Terminator};
use crate::transforms::vector_math::MATH_PREFIX;

/// Instructions for each work-item beyond which a load from memory is cheaper than rematerialisation.
const MAX_REMATERIALIZED: usize = 6;

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
        let arguments = values.argument_values(&function.parameter);
        values.arguments = arguments.keys().copied().collect();
        values.find_uniform(function, cfg, &arguments);
        values.find_rematerialized(function, &arguments);
        values
    }

    /// The values that are loaded through the argument array.
    fn argument_values(&self, array: &'f str) -> BTreeMap<&'f str, ArgumentValue> {
        let mut found = BTreeMap::from([(array, ArgumentValue::Array)]);
        let mut changed = true;
        while changed {
            changed = false;
            for (name, definition) in &self.definitions {
                if found.contains_key(name) {
                    continue;
                }
                if let Some(value) = argument_value(definition.instruction, &found) {
                    found.insert(name, value);
                    changed = true;
                }
            }
        }
        found
    }

    /// The optimistic fixed point: all values start as uniform, and varying ones are removed until nothing changes.
    fn find_uniform(
        &mut self,
        function: &'f Function,
        cfg: &ControlFlowGraph,
        arguments: &BTreeMap<&'f str, ArgumentValue>,
    ) {
        self.uniform = self.definitions.keys().copied().collect();
        self.uniform.insert(&function.parameter);
        let mut divergent_branches: BTreeSet<usize> = BTreeSet::new();
        loop {
            let mut varying: Vec<&str> = Vec::new();
            for (name, definition) in &self.definitions {
                let is_candidate = self.uniform.contains(*name) && !arguments.contains_key(*name);
                if is_candidate && !self.stays_uniform(definition) {
                    varying.push(name);
                }
            }
            for name in &varying {
                self.uniform.remove(name);
            }
            let before = self.divergent_blocks.len();
            for (number, block) in function.blocks.iter().enumerate() {
                if self.is_divergent(&block.terminator)
                    && divergent_branches.insert(number)
                    && !cfg.is_barrier_uniform(number)
                {
                    self.divergent_blocks.extend(cfg.influence_region(number));
                }
            }
            if varying.is_empty() && self.divergent_blocks.len() == before {
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

    fn find_rematerialized(&mut self, function: &'f Function, arguments: &BTreeMap<&'f str, ArgumentValue>) {
        self.rematerialized.insert(&function.parameter, 0);
        let mut changed = true;
        while changed {
            changed = false;
            for (name, definition) in &self.definitions {
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
                    changed = true;
                }
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
    let text = instruction.line.text();
    text.split(' ').next().is_some_and(|word| words.contains(&word))
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
    let is_intrinsic = INTRINSICS.iter().any(|name| instruction.line.contains(&format!("@llvm.{name}.")));
    is_intrinsic || instruction.line.contains(MATH_PREFIX)
}
