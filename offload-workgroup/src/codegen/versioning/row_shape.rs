//! How numbers change along a row of work-items.

use std::collections::BTreeMap;

use super::edge::{Compare, Edge};
use crate::ir::work_items::facts::Definition;
use crate::ir::work_items::function::{Instruction, Kind};
use crate::ir::work_items::plan::Plan;
use crate::ir::work_items::state::{self, State};

/// A number that can be computed from the arguments and the position alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// One more for each neighbour; otherwise equal for all of a row.
    pub(super) moves: bool,
    /// Whether it differs between groups. A number that does not meets its edge in every group.
    pub(super) of_group: bool,
}

const FIXED: Shape = Shape { moves: false, of_group: false };

/// The numbers of a function that have a shape, and the edges that were asked for.
pub(super) struct Shapes<'p, 'f> {
    plan: &'p Plan<'f>,
    pub(super) known: BTreeMap<&'f str, Shape>,
    pub(super) edges: BTreeMap<&'f str, Edge>,
}

impl<'p, 'f> Shapes<'p, 'f> {
    pub(super) fn of(plan: &'p Plan<'f>) -> Shapes<'p, 'f> {
        Shapes { plan, known: BTreeMap::new(), edges: BTreeMap::new() }
    }

    /// Keeps what makes `name`, if it compares a moving number with one that is equal for all.
    pub(super) fn edge(&mut self, name: &'f str) {
        let Some(instruction) = self.definition(name).map(|definition| definition.instruction) else {
            return;
        };
        let mut edge = match instruction.kind {
            Kind::Other | Kind::Call => Edge::parse(instruction),
            _ => None,
        };
        let Some(edge) = &mut edge else { return };
        let operands = edge.operands.each_ref().map(|operand| self.operand(operand));
        let [Some(first), Some(second)] = operands else { return };
        edge.moving = usize::from(second.moves);
        let moving = if second.moves { second } else { first };
        let stops_at_zero = edge.compare == Compare::Subtract;
        if first.moves != second.moves && moving.of_group && !(second.moves && stops_at_zero) {
            self.edges.insert(name, edge.clone());
        }
    }

    fn definition(&self, name: &str) -> Option<Definition<'f>> {
        self.plan.facts.definitions.get(name).copied()
    }

    /// The shape of what is written as an operand.
    fn operand(&mut self, text: &str) -> Option<Shape> {
        match text.strip_prefix('%') {
            Some(name) => self.shape(name),
            None => text.parse::<i64>().ok().map(|_| FIXED),
        }
    }

    fn shape(&mut self, name: &str) -> Option<Shape> {
        if name == self.plan.function.parameter {
            return Some(FIXED);
        }
        if let Some(shape) = self.known.get(name) {
            return Some(*shape);
        }
        let (name, definition) = self.plan.facts.definitions.get_key_value(name)?;
        let instruction = definition.instruction;
        let shape = match state::read(instruction) {
            Some(State::LocalId { dimension }) => Shape { moves: dimension == 0, of_group: false },
            Some(State::Group { field, .. }) => Shape { moves: false, of_group: field.name == "group_id" },
            None if self.plan.facts.arguments.contains(name) => {
                // They are loaded through each other.
                for operand in instruction.operands() {
                    self.shape(operand)?;
                }
                FIXED
            }
            None => self.computed(name, instruction)?,
        };
        self.known.insert(name, shape);
        Some(shape)
    }

    fn computed(&mut self, name: &'f str, instruction: &'f Instruction) -> Option<Shape> {
        const WORDS: [&str; 11] =
            ["add", "sub", "trunc", "zext", "sext", "mul", "shl", "lshr", "ashr", "and", "xor"];
        let text = instruction.line.plain();
        let word = text.split(' ').next().unwrap_or_default();
        let function = Edge::parse(instruction).filter(|edge| edge.compare.function().is_some());
        let is_known = match instruction.kind {
            Kind::Other => WORDS.contains(&word) && !text.contains('<') && !text.contains('('),
            Kind::Call => function.is_some(),
            _ => false,
        };
        if !is_known {
            return None;
        }
        let operands = instruction.operands().map(|operand| self.shape(operand));
        let operands = operands.collect::<Option<Vec<Shape>>>()?;
        let of_group = operands.iter().any(|shape| shape.of_group);
        if operands.iter().all(|shape| !shape.moves) {
            return Some(Shape { moves: false, of_group });
        }
        let moves = match (word, operands.as_slice()) {
            ("trunc", [_]) => true,
            ("add", operands) => operands.iter().filter(|shape| shape.moves).count() == 1,
            // Not what a moving number is taken from.
            ("sub", [first, rest @ ..]) => {
                let is_first = text.split(", ").next().is_some_and(|first| first.contains('%'));
                first.moves && is_first && rest.iter().all(|shape| !shape.moves)
            }
            // What a bound does not hold up, which the row is asked for.
            _ if instruction.kind == Kind::Call => {
                self.edge(name);
                self.edges.contains_key(name)
            }
            _ => false,
        };
        moves.then_some(Shape { moves, of_group })
    }
}
