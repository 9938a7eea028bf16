//! Comparisons of a work-item's position that come out the same along nearly every row of a group: with the edges of an
//! image, or with the number of elements.
//!
//! Neighbours in the first dimension compute numbers that follow each other. Where such a number is compared with one that
//! is equal for all, the two ends of a row tell the result for all between them, as long as the number does not wrap. Rows
//! for which they do get a copy of the loop without these comparisons: `x == 0 ? 0 : x - 1` is then what lies beside `x`,
//! which vectors read at once, and no lane has to be masked.

mod edge;
mod guard;
mod shape;

use std::collections::BTreeMap;

use self::edge::{Compare, Edge};
use self::shape::{Shape, Shapes};
use super::plan::Plan;
use super::text::Names;

/// Longer kernels are not written twice.
const LONG: usize = 200;
/// To ask for more edges in each row would cost more than it gains.
const MANY: usize = 12;

/// The edges that a kernel compares with.
#[derive(Debug)]
pub(super) struct Edges<'f> {
    found: BTreeMap<&'f str, Edge>,
    shapes: BTreeMap<&'f str, Shape>,
    /// What the names of the guard end with.
    mark: usize,
}

impl<'f> Edges<'f> {
    /// The edges that a kernel without waits compares with, if it is worth to have a copy without them.
    pub(super) fn of(plan: &Plan<'f>) -> Option<Edges<'f>> {
        // What is kept from piece to piece, addresses too, is read from memory anyway.
        let [piece] = plan.pieces.as_slice() else { return None };
        let blocks = piece.blocks.iter().filter_map(|block| plan.function.blocks.get(*block));
        let instructions = blocks.flat_map(|block| &block.instructions).filter(|one| !one.is_note());
        let names: Vec<&'f str> = instructions.clone().filter_map(|one| one.result.as_deref()).collect();
        if instructions.count() > LONG {
            return None;
        }
        let mut shapes = Shapes::of(plan);
        for name in names {
            shapes.edge(name);
        }
        let Shapes { edges: found, known: shapes, .. } = shapes;
        let is_worth_it = !found.is_empty() && found.len() <= MANY;
        is_worth_it.then_some(Edges { found, shapes, mark: 0 })
    }

    /// What stands for the instruction that makes `name`, in rows that meet no edge.
    pub(super) fn replacement(&self, name: &str, names: &dyn Names) -> Option<String> {
        let edge = self.found.get(name)?;
        let operand = |number: usize| {
            let text = edge.operands.get(number).map(String::as_str).unwrap_or_default();
            text.strip_prefix('%').map_or_else(|| text.to_string(), |name| names.value(name))
        };
        let ty = &edge.ty;
        Some(match &edge.compare {
            Compare::Equal { is_negated } => format!("add i1 {is_negated}, false"),
            Compare::Order { .. } => format!("add i1 %offload.edge.{name}.p{}, false", self.mark),
            Compare::Subtract => format!("sub {ty} {}, {}", operand(0), operand(1)),
            Compare::Bound { .. } => format!("add {ty} {}, 0", operand(edge.moving)),
        })
    }
}

#[cfg(test)]
mod tests;
