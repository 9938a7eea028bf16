//! Loop versioning: a copy of the loop over a row of work-items for rows in which comparisons with the position are
//! invariant.
//!
//! Such comparisons are with the edges of an image, or with the number of elements. The position grows by one from
//! neighbour to neighbour, so that both ends of a row determine the result for all between them, as long as the position
//! does not wrap. In the copy `x == 0 ? 0 : x - 1` is the element beside `x`, which vectors load at once, and no lane has to
//! be masked.

mod comparison;
mod guard;
mod row_shape;

use std::collections::BTreeMap;

use self::comparison::{ComparisonKind, RowComparison};
use self::row_shape::{RowShape, RowShapes};
use crate::codegen::plan::Plan;
use crate::ir::line::NameMap;

/// The limit on the instructions of a region that is versioned.
const MAX_INSTRUCTIONS: usize = 200;
/// The limit on comparisons: more would cost more in the guard of each row than they gain.
const MAX_COMPARISONS: usize = 12;
/// The limit for each region of a kernel with barriers, whose groups are small.
const MAX_COMPARISONS_OF_REGION: usize = 4;

/// The comparisons that are invariant in the copy.
#[derive(Debug)]
pub(crate) struct RowVersion<'f> {
    comparisons: BTreeMap<&'f str, RowComparison>,
    shapes: BTreeMap<&'f str, RowShape>,
    /// The suffix of names in the guard.
    suffix: usize,
}

impl<'f> RowVersion<'f> {
    /// The version of region `number`, whose text for one work-item computes the values `rematerialized`, if it is
    /// profitable.
    pub(crate) fn new(plan: &Plan<'f>, number: usize, rematerialized: &[String]) -> Option<RowVersion<'f>> {
        let region = plan.regions.get(number)?;
        let blocks = region.blocks.iter().filter_map(|block| plan.function.blocks.get(*block));
        let instructions = blocks.flat_map(|block| &block.instructions).filter(|one| !one.is_marker());
        if instructions.clone().count() > MAX_INSTRUCTIONS {
            return None;
        }
        let mut shapes = RowShapes::new(plan);
        for name in rematerialized {
            if let Some((name, _)) = plan.values.definitions.get_key_value(name.as_str()) {
                shapes.add_comparison(name);
            }
        }
        for name in instructions.filter_map(|instruction| instruction.result.as_deref()) {
            shapes.add_comparison(name);
        }
        let RowShapes { comparisons, known: shapes, .. } = shapes;
        let most = if plan.regions.len() > 1 { MAX_COMPARISONS_OF_REGION } else { MAX_COMPARISONS };
        let is_profitable = !comparisons.is_empty() && comparisons.len() <= most;
        is_profitable.then_some(RowVersion { comparisons, shapes, suffix: number })
    }

    /// The text that replaces the instruction which defines `name`.
    pub(crate) fn replacement(&self, name: &str, names: &dyn NameMap) -> Option<String> {
        let comparison = self.comparisons.get(name)?;
        let ty = &comparison.ty;
        Some(match &comparison.kind {
            ComparisonKind::Equality { is_negated } => format!("add i1 {is_negated}, false"),
            ComparisonKind::Order { .. } => format!("add i1 %offload.edge.{name}.p{}, false", self.suffix),
            ComparisonKind::SaturatingSubtraction => {
                format!("sub {ty} {}, {}", comparison.operand(0, names), comparison.operand(1, names))
            }
            ComparisonKind::MinMax { .. } => {
                format!("add {ty} {}, 0", comparison.operand(comparison.consecutive, names))
            }
        })
    }
}

#[cfg(test)]
mod tests;
