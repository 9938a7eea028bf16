//! What is known of the values of a work-item's function: which are equal for all work-items of a group, and which are
//! computed again rather than kept.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::Flow;
use super::function::{End, Function, Instruction, Kind};
use super::mathematics;
use super::state::{self, State};

/// More instructions than this are not worth doing again instead of one load.
const CHEAP: usize = 6;

/// The values of a function.
#[derive(Debug)]
pub(super) struct Facts<'f> {
    pub(super) definitions: BTreeMap<&'f str, Definition<'f>>,
    /// Equal for all work-items of a group.
    pub(super) uniform: BTreeSet<&'f str>,
    /// Blocks where work-items that went different ways can meet, or be at different times.
    pub(super) parted: BTreeSet<usize>,
    /// Computed again in each piece that uses them, with how many instructions for each work-item.
    pub(super) recomputed: BTreeMap<&'f str, usize>,
    /// Of these, what is loaded through the array of arguments, which is there for every group.
    pub(super) arguments: BTreeSet<&'f str>,
}

/// Where a value is from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition<'f> {
    pub(super) block: usize,
    pub(super) instruction: &'f Instruction,
}

/// What an argument array leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Into the array itself.
    Array,
    /// To where an argument lies.
    Cell,
    /// The argument.
    Value,
}

impl<'f> Facts<'f> {
    pub(super) fn of(function: &'f Function, flow: &Flow) -> Facts<'f> {
        let mut definitions = BTreeMap::new();
        for (block, instructions) in function.blocks.iter().enumerate() {
            for instruction in &instructions.instructions {
                if let Some(result) = &instruction.result {
                    definitions.insert(result.as_str(), Definition { block, instruction });
                }
            }
        }
        let (uniform, parted) = (BTreeSet::new(), BTreeSet::new());
        let (recomputed, arguments) = (BTreeMap::new(), BTreeSet::new());
        let mut facts = Facts { definitions, uniform, parted, recomputed, arguments };
        let arguments = facts.arguments(&function.parameter);
        facts.arguments = arguments.keys().copied().collect();
        facts.find_uniform(function, flow, &arguments);
        facts.find_recomputed(function, &arguments);
        facts
    }

    /// What is loaded through the array of arguments.
    fn arguments(&self, array: &'f str) -> BTreeMap<&'f str, Reach> {
        let mut found = BTreeMap::from([(array, Reach::Array)]);
        let mut grown = true;
        while grown {
            grown = false;
            for (name, definition) in &self.definitions {
                let reach = argument(definition.instruction, &found);
                if let (Some(reach), false) = (reach, found.contains_key(name)) {
                    found.insert(name, reach);
                    grown = true;
                }
            }
        }
        found
    }

    /// Takes all values for uniform, and away what is not until nothing changes.
    fn find_uniform(&mut self, function: &'f Function, flow: &Flow, arguments: &BTreeMap<&'f str, Reach>) {
        self.uniform = self.definitions.keys().copied().collect();
        self.uniform.insert(&function.parameter);
        let mut asked: BTreeSet<usize> = BTreeSet::new();
        loop {
            let varying: Vec<&str> = self
                .definitions
                .iter()
                .filter(|(name, definition)| {
                    self.uniform.contains(**name)
                        && !arguments.contains_key(**name)
                        && !self.stays_uniform(definition)
                })
                .map(|(name, _)| *name)
                .collect();
            for name in &varying {
                self.uniform.remove(name);
            }
            let before = self.parted.len();
            for (block, instructions) in function.blocks.iter().enumerate() {
                if self.parts(&instructions.end) && asked.insert(block) && !flow.is_barrier_uniform(block) {
                    self.parted.extend(flow.influenced(block));
                }
            }
            if varying.is_empty() && self.parted.len() == before {
                return;
            }
        }
    }

    /// Whether work-items can go different ways at this end of a block.
    pub(super) fn parts(&self, end: &End) -> bool {
        match end {
            End::Jump(line) => line.values().any(|value| !self.uniform.contains(value)),
            _ => false,
        }
    }

    fn stays_uniform(&self, definition: &Definition<'_>) -> bool {
        let instruction = definition.instruction;
        let mut operands =
            instruction.operands().chain(instruction.incoming.iter().flat_map(|i| i.value.values()));
        let equal = operands.all(|operand| self.uniform.contains(operand));
        match instruction.kind {
            Kind::Phi => equal && !self.parted.contains(&definition.block),
            Kind::Load => matches!(state::read(instruction), Some(State::Group { .. })),
            // Of poison, each `freeze` makes a value of its own.
            Kind::Other => equal && is_pure(instruction) && !is_word(instruction, &["freeze"]),
            Kind::Call => equal && calls_pure(instruction),
            _ => false,
        }
    }

    fn find_recomputed(&mut self, function: &'f Function, arguments: &BTreeMap<&'f str, Reach>) {
        self.recomputed.insert(&function.parameter, 0);
        let mut grown = true;
        while grown {
            grown = false;
            for (name, definition) in &self.definitions {
                if self.recomputed.contains_key(name) {
                    continue;
                }
                let cost = match arguments.contains_key(name) {
                    true => Some(0),
                    false => self.cost(definition.instruction, self.uniform.contains(name)),
                };
                if let Some(cost) = cost {
                    self.recomputed.insert(name, cost);
                    grown = true;
                }
            }
        }
    }

    /// How many instructions it takes to compute a value again for each work-item; `None` for too many, and where it
    /// is not the same the second time.
    fn cost(&self, instruction: &Instruction, is_uniform: bool) -> Option<usize> {
        if instruction.kind == Kind::Alloca || state::read(instruction).is_some() {
            return Some(0);
        }
        let again = match instruction.kind {
            Kind::Other => is_pure(instruction) && !is_word(instruction, &["freeze"]),
            Kind::Call => is_uniform && calls_pure(instruction),
            _ => false,
        };
        if !again || (!is_uniform && !is_integer_step(instruction)) || may_trap(instruction) {
            return None;
        }
        let operands = instruction.operands().map(|operand| self.recomputed.get(operand).copied());
        let sum = operands.sum::<Option<usize>>()?;
        if is_uniform { Some(0) } else { Some(sum.saturating_add(1)).filter(|cost| *cost <= CHEAP) }
    }
}

fn argument(instruction: &Instruction, known: &BTreeMap<&str, Reach>) -> Option<Reach> {
    let mut operands = instruction.operands();
    let (from, others) = (known.get(operands.next()?)?, operands.next());
    if others.is_some() {
        return None;
    }
    match (instruction.kind, from) {
        (Kind::Load, _)
            if instruction.line.contains("load volatile") || instruction.line.contains(" atomic ") =>
        {
            None
        }
        (Kind::Load, Reach::Array) => instruction.line.contains("load ptr,").then_some(Reach::Cell),
        (Kind::Load, Reach::Cell) => Some(Reach::Value),
        (Kind::Other, Reach::Array | Reach::Cell) if is_word(instruction, &["getelementptr"]) => Some(*from),
        _ => None,
    }
}

fn is_word(instruction: &Instruction, words: &[&str]) -> bool {
    let text = instruction.line.plain();
    text.split(' ').next().is_some_and(|word| words.contains(&word))
}

fn is_pure(instruction: &Instruction) -> bool {
    !is_word(instruction, &["fence", "cmpxchg", "atomicrmw", "va_arg"])
}

/// Division by what might be zero.
fn may_trap(instruction: &Instruction) -> bool {
    is_word(instruction, &["udiv", "sdiv", "urem", "srem"])
}

/// Whether whole numbers are divided by one that is not written there: processors have no vectors for it.
pub(super) fn divides(instruction: &Instruction) -> bool {
    let mut text = instruction.line.plain();
    text.truncate(text.find(", !").unwrap_or(text.len()));
    let divisor = text.rsplit(' ').next().unwrap_or_default();
    may_trap(instruction) && divisor.parse::<i64>().is_err()
}

/// What costs about as much as an addition.
fn is_integer_step(instruction: &Instruction) -> bool {
    const STEPS: [&str; 14] = [
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
    is_word(instruction, &STEPS)
}

/// Whether `instruction` calls a function that only computes, and that has a form for vectors.
pub(super) fn calls_pure(instruction: &Instruction) -> bool {
    const PURE: [&str; 16] = [
        "umin", "umax", "smin", "smax", "abs", "fabs", "fma", "fmuladd", "ctpop", "ctlz", "cttz", "bswap",
        "fshl", "fshr", "sqrt", "copysign",
    ];
    let intrinsic = PURE.iter().any(|name| instruction.line.contains(&format!("@llvm.{name}.")));
    intrinsic || instruction.line.contains(mathematics::PREFIX)
}
