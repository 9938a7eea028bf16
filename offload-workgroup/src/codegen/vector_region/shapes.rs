//! The shapes of values among the lanes of a vector: divergence analysis of lanes in lockstep.
//!
//! It is finer than `analysis::values`, which compares all work-items of a group: lanes that are active in a loop are in the
//! same iteration, so that a counter is uniform inside of a loop with divergent exits, and varying behind it (temporal
//! divergence). The terms are those of J. Rosemann, S. Moll and S. Hack, "An Abstract Interpretation for SPMD Divergence",
//! POPL 2021; `docs/design/work-groups.md` has the conditions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::calls::is_vectorizable_call;
use super::order::{RegionLoop, RegionOrder};
use super::parts::{Operand, Parts};
use crate::analysis::work_item_state::{StateLoad, state_load};
use crate::codegen::plan::Plan;
use crate::ir::Types;
use crate::ir::function::{Instruction, Opcode, Terminator};

/// Strides whose products with the lanes fit into 32 bits.
const MAX_STRIDE: i64 = 1 << 24;

/// The shape of a value among the active lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Equal.
    Uniform,
    /// The number of the first lane plus a multiple of the lane, modulo the size of the type.
    Affine {
        /// In bytes, of a pointer.
        stride: i64,
        /// Whether that holds only if numbers do not wrap between the lanes, which is known at run time.
        conditional: bool,
    },
    Varying,
}

impl Shape {
    /// The position on the way down from optimistic to pessimistic.
    fn rank(self) -> u8 {
        match self {
            Shape::Uniform => 0,
            Shape::Affine { conditional: false, .. } => 1,
            Shape::Affine { conditional: true, .. } => 2,
            Shape::Varying => 3,
        }
    }
}

/// What is known where a region starts.
pub(super) struct RegionStart<'f> {
    /// The shapes of values that are live.
    pub(super) live_in: HashMap<&'f str, Shape>,
    /// Values that are computed before the first block, operands first.
    pub(super) rematerialized: Vec<&'f str>,
    /// Values that are live, and defined again.
    pub(super) redefined: HashMap<&'f str, Shape>,
}

/// The shapes of a region's values.
#[derive(Debug)]
pub(super) struct Shapes<'f> {
    known: HashMap<&'f str, Shape>,
    /// The block that defines each value of the region.
    definitions: HashMap<&'f str, usize>,
    /// Blocks whose branches are divergent.
    pub(super) divergent: BTreeSet<usize>,
    /// Blocks that lanes may execute while others do not.
    pub(super) partial: BTreeSet<usize>,
    /// The headers of loops with divergent exits.
    pub(super) divergent_loops: BTreeSet<usize>,
    /// Blocks at which lanes may arrive from different predecessors.
    joins: BTreeSet<usize>,
}

impl<'f> Shapes<'f> {
    /// Analyses a region.
    pub(super) fn new(
        plan: &Plan<'f>,
        order: &RegionOrder,
        start: RegionStart<'f>,
        types: &Types<'_>,
    ) -> Shapes<'f> {
        let RegionStart { live_in, rematerialized, redefined } = start;
        let mut definitions = HashMap::new();
        for number in &order.blocks {
            let Some(block) = plan.function.blocks.get(*number) else { continue };
            for result in block.instructions.iter().filter_map(|one| one.result.as_deref()) {
                // What is rematerialised before the region has one definition.
                if !live_in.contains_key(result) && !rematerialized.contains(&result) {
                    definitions.insert(result, *number);
                }
            }
        }
        let mut shapes = Shapes {
            known: live_in,
            definitions,
            divergent: BTreeSet::new(),
            partial: BTreeSet::new(),
            divergent_loops: BTreeSet::new(),
            joins: BTreeSet::new(),
        };
        for name in rematerialized {
            let definition = plan.values.definitions.get(name).map(|definition| definition.instruction);
            let shape = match definition {
                _ if shapes.known.contains_key(name) => continue,
                _ if plan.values.uniform.contains(name) => Shape::Uniform,
                Some(instruction) => {
                    shapes.result_shape(order, usize::MAX, instruction, types).unwrap_or(Shape::Varying)
                }
                None => Shape::Varying,
            };
            shapes.known.insert(name, shape);
        }
        let fixed: BTreeSet<&str> = shapes.known.keys().copied().collect();
        shapes.known.extend(redefined);
        let mut changed = true;
        while changed {
            changed = false;
            for number in &order.blocks {
                let Some(block) = plan.function.blocks.get(*number) else { continue };
                for instruction in &block.instructions {
                    let Some(name) = instruction.result.as_deref() else { continue };
                    if fixed.contains(name) {
                        continue;
                    }
                    let found = match instruction.opcode {
                        Opcode::Phi => shapes.phi_shape(order, *number, instruction),
                        _ => shapes.result_shape(order, *number, instruction, types),
                    };
                    if let Some(found) = found {
                        changed |= shapes.lower(name, found);
                    }
                }
            }
            changed |= shapes.update_divergence(plan, order);
        }
        shapes
    }

    /// Records a shape; one that was more pessimistic stays so, and the iteration ends.
    fn lower(&mut self, name: &'f str, found: Shape) -> bool {
        let known = self.known.get(name).copied();
        let next = match known {
            None => found,
            Some(known) if known == found => return false,
            Some(known) if found.rank() > known.rank() => found,
            Some(_) => Shape::Varying,
        };
        self.known.insert(name, next);
        known != Some(next)
    }

    /// Updates the divergent branches, and what depends on them.
    fn update_divergence(&mut self, plan: &Plan<'f>, order: &RegionOrder) -> bool {
        let mut added = Vec::new();
        for number in &order.blocks {
            let Some(block) = plan.function.blocks.get(*number) else { continue };
            let Terminator::Branch(line) = &block.terminator else { continue };
            let is_divergent = line
                .values()
                .any(|name| !matches!(self.use_shape(order, name, *number), None | Some(Shape::Uniform)));
            if is_divergent && self.divergent.insert(*number) {
                added.push(*number);
            }
        }
        for branch in &added {
            let apart = plan.cfg.divergent_region(*branch);
            for one in order.loops_around(*branch) {
                // Also by a branch that is uniform, where some lanes come to it and others do not.
                let mut ends = apart.intersection(&one.blocks).chain([branch]);
                if ends.any(|block| order.successors(*block).iter().any(|next| !one.blocks.contains(next))) {
                    self.divergent_loops.insert(one.header);
                }
            }
            self.partial.extend(apart);
            self.joins.extend(joins(plan, order, *branch));
        }
        !added.is_empty()
    }

    /// The shape of a value where block `at` uses it; `None` for one that is undetermined.
    pub(super) fn use_shape(&self, order: &RegionOrder, name: &str, at: usize) -> Option<Shape> {
        let shape = self.known.get(name).copied()?;
        Some(if self.is_temporal(order, name, Some(at)) { Shape::Varying } else { shape })
    }

    /// Whether lanes have left a loop in different iterations between the definition of a value and its use in block `at`,
    /// or at the end of the region.
    pub(super) fn is_temporal(&self, order: &RegionOrder, name: &str, at: Option<usize>) -> bool {
        let Some(definition) = self.definitions.get(name) else { return false };
        order.loops_around(*definition).any(|one| {
            self.divergent_loops.contains(&one.header) && at.is_none_or(|at| !one.blocks.contains(&at))
        })
    }

    /// The shape of a value at its definition.
    pub(super) fn shape(&self, name: &str) -> Shape {
        self.known.get(name).copied().unwrap_or(Shape::Varying)
    }

    /// The block of the region that defines a value.
    pub(super) fn definition(&self, name: &str) -> Option<usize> {
        self.definitions.get(name).copied()
    }

    fn phi_shape(&self, order: &RegionOrder, at: usize, phi: &Instruction) -> Option<Shape> {
        let mut shape: Option<Shape> = None;
        for incoming in &phi.incoming {
            let mut names = incoming.value.values();
            let operand = match names.next() {
                Some(name) => match self.use_shape(order, name, at) {
                    Some(operand) => operand,
                    None => continue,
                },
                None => Shape::Uniform,
            };
            shape = Some(match (shape, operand) {
                (None, operand) => operand,
                (Some(shape), operand) if shape == operand => shape,
                (Some(Shape::Affine { stride, .. }), Shape::Affine { stride: other, .. })
                    if stride == other =>
                {
                    Shape::Affine { stride, conditional: true }
                }
                _ => Shape::Varying,
            });
        }
        // Lanes that come together at a header are either all new, or all of the same iteration before.
        if self.joins.contains(&at) && shape.is_some() { Some(Shape::Varying) } else { shape }
    }

    fn result_shape(
        &self,
        order: &RegionOrder,
        at: usize,
        instruction: &Instruction,
        types: &Types<'_>,
    ) -> Option<Shape> {
        match state_load(instruction) {
            Some(StateLoad::LocalId { dimension: 0 }) => {
                return Some(Shape::Affine { stride: 1, conditional: false });
            }
            Some(_) => return Some(Shape::Uniform),
            None => {}
        }
        let mut is_uniform = true;
        for name in instruction.operands() {
            is_uniform &= self.use_shape(order, name, at)? == Shape::Uniform;
        }
        match instruction.opcode {
            // Lanes load together, and by the rule on data races what another lane stores is elsewhere.
            Opcode::Load | Opcode::Other if is_uniform => Some(Shape::Uniform),
            Opcode::Call if is_uniform && is_vectorizable_call(instruction) => Some(Shape::Uniform),
            Opcode::Other => {
                let text = instruction.line.text();
                let affine = Parts::parse(&text).and_then(|parts| self.affine(order, at, &parts, types));
                Some(affine.unwrap_or(Shape::Varying))
            }
            _ => Some(Shape::Varying),
        }
    }

    /// The shape of an operand as stride and condition; zero for a uniform one.
    fn stride(&self, order: &RegionOrder, at: usize, operand: &Operand<'_>) -> Option<(i64, bool)> {
        let shape = match operand.name() {
            Some(name) => self.use_shape(order, name, at)?,
            None => Shape::Uniform,
        };
        match shape {
            Shape::Uniform => Some((0, false)),
            Shape::Affine { stride, conditional } => Some((stride, conditional)),
            Shape::Varying => None,
        }
    }

    /// The shape of integer arithmetic and of addresses.
    fn affine(&self, order: &RegionOrder, at: usize, parts: &Parts<'_>, types: &Types<'_>) -> Option<Shape> {
        let mut strides = Vec::new();
        let mut conditional = false;
        for operand in &parts.operands {
            let (stride, is_conditional) = self.stride(order, at, operand)?;
            strides.push(stride);
            conditional |= is_conditional;
        }
        let first = parts.operands.first()?;
        let is_number = |ty: &str| ["i32", "i64"].contains(&ty);
        let literal = parts.operands.get(1).and_then(|operand| operand.value.parse::<i64>().ok());
        let stride = match (parts.word, strides.as_slice()) {
            ("getelementptr", _) => address_stride(parts, &strides, types)?,
            _ if !is_number(first.ty) => return None,
            ("add", [a, b]) => a.checked_add(*b)?,
            ("or", [a, b]) if parts.flags.contains("disjoint") => a.checked_add(*b)?,
            ("sub", [a, b]) => a.checked_sub(*b)?,
            ("mul", [a, 0]) => a.checked_mul(literal?)?,
            ("shl", [a, 0]) => a.checked_mul(1i64.checked_shl(u32::try_from(literal?).ok()?)?)?,
            ("trunc", [a]) => is_number(parts.to?).then_some(*a)?,
            ("zext" | "sext", [a]) => {
                conditional = true;
                is_number(parts.to?).then_some(*a)?
            }
            ("and", [a, 0]) if low_bits(literal?) => {
                conditional = true;
                *a
            }
            ("freeze", [a]) => *a,
            _ => return None,
        };
        (stride != 0 && stride.abs() < MAX_STRIDE).then_some(Shape::Affine { stride, conditional })
    }
}

/// Whether an `and` with this mask keeps all bits of a local id.
pub(super) fn low_bits(mask: i64) -> bool {
    mask.checked_add(1).is_some_and(|over| over > 1 << 16 && over.count_ones() == 1)
}

/// The stride of an address in bytes, by those of the base and of the indices.
fn address_stride(parts: &Parts<'_>, strides: &[i64], types: &Types<'_>) -> Option<i64> {
    let (base, indices) = strides.split_first()?;
    let mut ty = parts.element?;
    let mut sum = *base;
    for (number, stride) in indices.iter().enumerate() {
        if number > 0 {
            // A member of a structure has a constant index.
            ty = match ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')) {
                Some(array) => array.split_once(" x ")?.1,
                None if *stride == 0 && indices.get(number..)?.iter().all(|stride| *stride == 0) => {
                    return Some(sum);
                }
                None => return None,
            };
        }
        if *stride == 0 {
            continue;
        }
        // Other indices are extended to 64 bits.
        if parts.operands.get(number.checked_add(1)?)?.ty != "i64" {
            return None;
        }
        let size = i64::try_from(types.layout(ty)?.size).ok()?;
        sum = sum.checked_add(stride.checked_mul(size)?)?;
    }
    Some(sum)
}

/// The blocks at which lanes that part at a divergent branch may arrive from different predecessors in the same iteration of
/// the loops around both.
fn joins(plan: &Plan<'_>, order: &RegionOrder, branch: usize) -> BTreeSet<usize> {
    let merge_block = plan.cfg.merge_block(branch);
    let around: Vec<&RegionLoop> = order.loops_around(branch).collect();
    let mut joins = BTreeSet::new();
    for depth in 0..=around.len() {
        let common = around.get(..depth).unwrap_or_default();
        let headers: BTreeSet<usize> = common.iter().map(|one| one.header).collect();
        let mut arrivals: BTreeMap<usize, usize> = BTreeMap::new();
        for successor in order.successors(branch) {
            let mut open = Vec::new();
            if headers.contains(successor) {
                *arrivals.entry(*successor).or_default() += 1;
            } else {
                open.push(*successor);
            }
            let mut reached = BTreeSet::new();
            let mut ends = BTreeSet::new();
            while let Some(block) = open.pop() {
                if !reached.insert(block) || Some(block) == merge_block {
                    continue;
                }
                for next in order.successors(block) {
                    if headers.contains(next) {
                        ends.insert(*next);
                    } else {
                        open.push(*next);
                    }
                }
            }
            for block in reached.union(&ends) {
                let count = arrivals.entry(*block).or_default();
                *count = count.saturating_add(1);
            }
        }
        for (block, count) in arrivals {
            let is_at_depth = order
                .loops_around(block)
                .filter(|one| around.iter().any(|other| other.header == one.header))
                .count()
                == depth;
            // One predecessor in the loop, or outside of it, is where all come from.
            if count > 1 && is_at_depth && has_several_ways(order, block) {
                joins.insert(block);
            }
        }
    }
    joins
}

/// Whether lanes that come to a block together may come from several blocks.
fn has_several_ways(order: &RegionOrder, block: usize) -> bool {
    let predecessors = order.predecessors(block);
    let Some(own) = order.loop_of_header(block) else { return predecessors.len() > 1 };
    let inside = predecessors.iter().filter(|from| own.blocks.contains(from)).count();
    inside > 1 || predecessors.len().saturating_sub(inside) > 1
}
