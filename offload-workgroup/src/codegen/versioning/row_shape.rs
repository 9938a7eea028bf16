//! The change of numbers along a row of work-items.

use std::collections::BTreeMap;

use super::comparison::{ComparisonKind, RowComparison};
use crate::analysis::values::Definition;
use crate::analysis::work_item_state::{StateLoad, state_load};
use crate::codegen::plan::Plan;
use crate::ir::function::{Instruction, Opcode};

/// The shape of a number that can be computed from the arguments and the position alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowShape {
    /// Whether it grows by one from neighbour to neighbour; otherwise it is fixed along a row.
    pub(super) is_consecutive: bool,
    /// Whether it differs between groups. Comparisons of one that does not are invariant in no group.
    pub(super) varies_by_group: bool,
}

/// The shape of an argument or a constant.
const CONSTANT: RowShape = RowShape { is_consecutive: false, varies_by_group: false };

/// The numbers of a function that have a shape, and the comparisons among the requested values.
pub(super) struct RowShapes<'p, 'f> {
    plan: &'p Plan<'f>,
    pub(super) known: BTreeMap<&'f str, RowShape>,
    pub(super) comparisons: BTreeMap<&'f str, RowComparison>,
}

impl<'p, 'f> RowShapes<'p, 'f> {
    pub(super) fn new(plan: &'p Plan<'f>) -> RowShapes<'p, 'f> {
        RowShapes { plan, known: BTreeMap::new(), comparisons: BTreeMap::new() }
    }

    /// Adds the instruction that defines `name`, if it compares a consecutive number with a fixed one.
    pub(super) fn add_comparison(&mut self, name: &'f str) {
        let Some(instruction) = self.definition(name).map(|definition| definition.instruction) else {
            return;
        };
        if !matches!(instruction.opcode, Opcode::Other | Opcode::Call) {
            return;
        }
        let Some(mut comparison) = RowComparison::parse(instruction) else { return };
        let operands = comparison.operands.each_ref().map(|operand| self.operand_shape(operand));
        let [Some(first), Some(second)] = operands else { return };
        comparison.consecutive = usize::from(second.is_consecutive);
        let consecutive = if second.is_consecutive { second } else { first };
        let is_subtrahend = second.is_consecutive && comparison.kind == ComparisonKind::SaturatingSubtraction;
        let has_fixed_operand = first.is_consecutive != second.is_consecutive;
        if has_fixed_operand && consecutive.varies_by_group && !is_subtrahend {
            self.comparisons.insert(name, comparison);
        }
    }

    fn definition(&self, name: &str) -> Option<Definition<'f>> {
        self.plan.values.definitions.get(name).copied()
    }

    /// The shape of an operand, as a name or a number.
    fn operand_shape(&mut self, text: &str) -> Option<RowShape> {
        match text.strip_prefix('%') {
            Some(name) => self.shape(name),
            None => text.parse::<i64>().ok().map(|_| CONSTANT),
        }
    }

    fn shape(&mut self, name: &str) -> Option<RowShape> {
        if name == self.plan.function.parameter {
            return Some(CONSTANT);
        }
        if let Some(shape) = self.known.get(name) {
            return Some(*shape);
        }
        let (name, definition) = self.plan.values.definitions.get_key_value(name)?;
        let instruction = definition.instruction;
        let shape = match state_load(instruction) {
            Some(StateLoad::LocalId { dimension }) => {
                RowShape { is_consecutive: dimension == 0, varies_by_group: false }
            }
            Some(StateLoad::Group { field, .. }) => {
                RowShape { is_consecutive: false, varies_by_group: field.name == "group_id" }
            }
            None if self.plan.values.arguments.contains(name) => {
                // Loads of arguments are chains of values, which the guard computes too.
                for operand in instruction.operands() {
                    self.shape(operand)?;
                }
                CONSTANT
            }
            None => self.result_shape(name, instruction)?,
        };
        self.known.insert(name, shape);
        Some(shape)
    }

    fn result_shape(&mut self, name: &'f str, instruction: &'f Instruction) -> Option<RowShape> {
        const OPCODES: [&str; 11] =
            ["add", "sub", "trunc", "zext", "sext", "mul", "shl", "lshr", "ashr", "and", "xor"];
        let text = instruction.line.text();
        let word = text.split(' ').next().unwrap_or_default();
        let is_known = match instruction.opcode {
            Opcode::Other => OPCODES.contains(&word) && !text.contains('<') && !text.contains('('),
            Opcode::Call => {
                RowComparison::parse(instruction).is_some_and(|one| one.kind.intrinsic().is_some())
            }
            _ => false,
        };
        if !is_known {
            return None;
        }
        let operands = instruction.operands().map(|operand| self.shape(operand));
        let operands = operands.collect::<Option<Vec<RowShape>>>()?;
        let varies_by_group = operands.iter().any(|shape| shape.varies_by_group);
        if operands.iter().all(|shape| !shape.is_consecutive) {
            return Some(RowShape { is_consecutive: false, varies_by_group });
        }
        let is_consecutive = match (word, operands.as_slice()) {
            ("trunc", [_]) => true,
            ("add", operands) => operands.iter().filter(|shape| shape.is_consecutive).count() == 1,
            // The minuend is consecutive, and not the subtrahend.
            ("sub", [first, rest @ ..]) => {
                let is_minuend = text.split(", ").next().is_some_and(|first| first.contains('%'));
                first.is_consecutive && is_minuend && rest.iter().all(|shape| !shape.is_consecutive)
            }
            // Consecutive where the bound is not reached, which the guard checks.
            _ if instruction.opcode == Opcode::Call => {
                self.add_comparison(name);
                self.comparisons.contains_key(name)
            }
            _ => false,
        };
        is_consecutive.then_some(RowShape { is_consecutive, varies_by_group })
    }
}
