//! The profit of vectors: an estimate of the time of a region's loops, one work-item after the other and as vectors.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::{is_ignored, is_vectorizable_call};
use super::parts::{Parts, elements};
use super::shapes::Shape;
use super::writer::VectorWriter;
use crate::analysis::values::{has_opcode, has_variable_divisor};
use crate::codegen::wide_vectors::WIDE_VECTOR;
use crate::ir::function::{Instruction, Opcode, Terminator};
use crate::transforms::vector_math::MATH_PREFIX;

/// Iterations of each loop.
const ITERATIONS: u64 = 8;
/// The time of a branch, or of a selection that may become one, with its part of mispredictions.
const UNPREDICTABLE: u64 = 40;
/// Nesting beyond which loops count as often as those outside.
const MAX_DEPTH: usize = 4;

/// Times in tenths of a simple instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// Of each work-item.
    scalar: u64,
    /// Of a vector of work-items.
    vector: u64,
}

impl Cost {
    fn new(scalar: u64, vector: u64) -> Cost {
        Cost { scalar, vector }
    }

    fn add(&mut self, other: Cost, times: u64) {
        self.scalar = self.scalar.saturating_add(other.scalar.saturating_mul(times));
        self.vector = self.vector.saturating_add(other.vector.saturating_mul(times));
    }
}

impl<'f> VectorWriter<'_, 'f> {
    /// Whether vectors are faster: there is a loop that lanes leave in different iterations, which LLVM leaves scalar, and
    /// its computations outweigh accesses lane by lane.
    pub(super) fn is_profitable(&mut self) -> bool {
        if self.shapes.divergent_loops.is_empty() {
            return false;
        }
        let plan = self.plan;
        let mut cost = Cost::default();
        let uneven = self.uneven_loops();
        let ways = self.ways();
        for number in self.order.blocks.clone() {
            let depth = self.order.loops_around(number).count().min(MAX_DEPTH);
            let Some(block) = plan.function.blocks.get(number).filter(|_| depth > 0) else { continue };
            let times = ITERATIONS.saturating_pow(u32::try_from(depth).unwrap_or(0));
            self.block = number;
            let mut own = Cost::default();
            for instruction in block.instructions.iter().filter(|one| !one.is_marker() && !is_ignored(one)) {
                own.add(self.instruction_cost(instruction), 1);
            }
            if let Terminator::Branch(line) = &block.terminator
                && line.values().next().is_some()
            {
                own.add(self.branch_cost(number), 1);
            }
            // One work-item takes one of the ways.
            own.scalar = own.scalar.checked_div(ways.get(&number).copied().unwrap_or(1)).unwrap_or(0);
            // Lanes wait for the one with the most iterations, and execute what one of them does.
            if self.order.loops_around(number).any(|one| uneven.contains(&one.header)) {
                own.vector = own.vector.saturating_mul(2);
            }
            cost.add(own, times);
        }
        self.block = usize::MAX;
        // Loops over positions have few iterations, and addresses that LLVM computes once.
        let percent = if uneven.is_empty() { 40 } else { 80 };
        cost.vector.saturating_mul(100) < cost.scalar.saturating_mul(self.lanes).saturating_mul(percent)
    }

    /// The time of a branch: vectors have masks for each way.
    fn branch_cost(&self, block: usize) -> Cost {
        let ways = u64::try_from(self.order.successors(block).len()).unwrap_or(1);
        if !self.shapes.divergent.contains(&block) {
            return Cost::new(10, 10 * ways);
        }
        // Registers for masks hold all lanes.
        let registers =
            if self.vector_bits >= 512 { 1 } else { (32 * self.lanes).div_ceil(self.register_bits()) };
        // Neighbours leave a loop over positions alike.
        let scalar = if self.compares_positions(block) { 10 } else { UNPREDICTABLE };
        Cost::new(scalar, (20 + 30 * registers).saturating_mul(ways))
    }

    /// The ways at divergent branches inside of a loop, for each block on one of them.
    fn ways(&self) -> BTreeMap<usize, u64> {
        let mut ways = BTreeMap::new();
        for branch in &self.shapes.divergent {
            let successors = self.order.successors(*branch);
            let Some(inner) = self.order.loops_around(*branch).last() else { continue };
            if !successors.iter().all(|next| inner.blocks.contains(next)) {
                continue;
            }
            let count = u64::try_from(successors.len()).unwrap_or(1);
            for block in self.plan.cfg.divergent_region(*branch) {
                let known = ways.entry(block).or_insert(count);
                *known = count.max(*known);
            }
        }
        ways
    }

    /// The headers of loops that lanes leave in iterations far from each other: not where a position is compared with an end,
    /// as in `for (i = id; i < n; i += size)`.
    fn uneven_loops(&self) -> BTreeSet<usize> {
        let mut uneven = BTreeSet::new();
        for one in self.order.loops.iter().filter(|one| self.shapes.divergent_loops.contains(&one.header)) {
            let mut exits = one.blocks.iter().filter(|block| {
                let is_exit = self.order.successors(**block).iter().any(|next| !one.blocks.contains(next));
                is_exit && self.shapes.divergent.contains(block)
            });
            if exits.any(|block| !self.compares_positions(*block)) {
                uneven.insert(one.header);
            }
        }
        uneven
    }

    /// Whether the branch at the end of a block compares affine and uniform values.
    fn compares_positions(&self, block: usize) -> bool {
        let Some(Terminator::Branch(line)) =
            self.plan.function.blocks.get(block).map(|block| &block.terminator)
        else {
            return false;
        };
        let condition = line.values().next().and_then(|name| self.plan.values.definitions.get(name));
        condition.is_some_and(|condition| {
            let compared = &condition.instruction;
            has_opcode(compared, &["icmp"])
                && compared.operands().all(|name| self.shapes.shape(name) != Shape::Varying)
        })
    }

    fn instruction_cost(&self, instruction: &'f Instruction) -> Cost {
        let name = instruction.result.as_deref().unwrap_or_default();
        let is_varying = self.shapes.shape(name) == Shape::Varying;
        let lanes = self.lanes;
        let Some((count, registers)) = self.registers(instruction) else { return Cost::new(10, 10 * lanes) };
        match instruction.opcode {
            Opcode::Phi if is_varying => Cost::new(0, 20 * registers),
            Opcode::Load | Opcode::Store => self.access_cost(instruction),
            _ if !is_varying => Cost::new(5, 5),
            Opcode::Call if instruction.line.contains(MATH_PREFIX) => Cost::new(200, 300 * registers),
            Opcode::Call if is_vectorizable_call(instruction) => Cost::new(10 * count, 10 * registers),
            _ => match instruction.line.opcode() {
                "udiv" | "sdiv" | "urem" | "srem" if has_variable_divisor(instruction) => {
                    Cost::new(60 * count, 80 * count * lanes)
                }
                "udiv" | "sdiv" | "urem" | "srem" => Cost::new(15 * count, 40 * registers),
                "select" => Cost::new(UNPREDICTABLE * count, 10 * registers),
                "fdiv" => Cost::new(40 * count, 60 * registers),
                "frem" => Cost::new(200 * count, 220 * count * lanes),
                "mul" => Cost::new(10 * count, 30 * registers),
                "extractelement" | "insertelement" | "shufflevector" => Cost::new(5, 0),
                // Addresses are part of an access.
                "getelementptr" => Cost::new(0, 0),
                _ => Cost::new(10 * count, 10 * registers),
            },
        }
    }

    fn access_cost(&self, access: &'f Instruction) -> Cost {
        let text = access.line.text();
        let pointer =
            Parts::parse(&text).and_then(|parts| parts.operands.last().and_then(|operand| operand.name()));
        let shape = pointer.map_or(Shape::Uniform, |name| self.shape_here(name));
        let ty = Parts::parse(&text).and_then(|parts| match parts.element {
            Some(element) => self.types.layout(element),
            None => parts.operands.first().and_then(|value| self.types.layout(value.ty)),
        });
        let size = ty.map_or(0, |layout| layout.size);
        let size_of_all = self.structure_size(access).unwrap_or(size);
        match shape {
            Shape::Uniform => Cost::new(10, 10),
            // A part of the access of a structure.
            Shape::Affine { stride, .. }
                if size_of_all > size
                    && u64::try_from(stride) == Ok(size_of_all)
                    && self.may_access_at_once(size_of_all) =>
            {
                Cost::new(10, 20 * size.saturating_mul(8 * self.lanes).div_ceil(self.register_bits()))
            }
            Shape::Affine { stride, .. }
                if u64::try_from(stride) == Ok(size) && self.may_access_at_once(size) =>
            {
                Cost::new(10, 20 * size.saturating_mul(8 * self.lanes).div_ceil(self.register_bits()))
            }
            _ if self.vector_bits >= 512 && [4, 8].contains(&size) => {
                Cost::new(10, if access.opcode == Opcode::Load { 25 } else { 50 } * self.lanes)
            }
            _ => Cost::new(10, 35 * self.lanes),
        }
    }

    /// Whether lanes access adjacent elements at once: where all execute the block, or the CPU has masks.
    fn may_access_at_once(&self, size: u64) -> bool {
        let is_conditional =
            self.order.loops_around(self.block).last().is_some_and(|one| one.header != self.block);
        !is_conditional || !self.shapes.partial.contains(&self.block) || self.vector_bits >= 256 && size >= 4
    }

    /// Whether numbers of all lanes have two registers of 512 bits. With one, loops wait for its latency.
    pub(super) fn is_wide(&self) -> bool {
        let size = if self.has_long_state() { 64 } else { 32 };
        self.vector_bits >= WIDE_VECTOR && size * self.lanes >= 2 * u64::from(WIDE_VECTOR)
    }

    /// Whether loops that lanes leave one by one change numbers of 64 bits.
    fn has_long_state(&self) -> bool {
        let headers = self.shapes.divergent_loops.iter();
        let blocks = headers.filter_map(|header| self.plan.function.blocks.get(*header));
        let mut phis = blocks.flat_map(|block| &block.instructions).filter(|one| one.opcode == Opcode::Phi);
        phis.any(|phi| {
            let name = phi.result.as_deref().unwrap_or_default();
            let ty = self.value_type(name);
            self.shapes.shape(name) == Shape::Varying && matches!(ty.as_deref(), Some("double" | "i64"))
        })
    }

    /// The bits of a register: clang prefers those of AVX2 where there are wider ones.
    fn register_bits(&self) -> u64 {
        if self.is_wide() { u64::from(WIDE_VECTOR) } else { u64::from(self.vector_bits.min(256)) }
    }

    /// The elements of an instruction's value, and the registers of its vectors.
    fn registers(&self, instruction: &Instruction) -> Option<(u64, u64)> {
        let ty = match instruction.result.as_deref() {
            Some(name) => self.value_type(name)?,
            None => return Some((1, 1)),
        };
        let (count, element) = elements(&ty)?;
        let count = u64::try_from(count).ok()?;
        let bits = match element {
            "i1" => 32,
            element => self.types.layout(element)?.size.saturating_mul(8),
        };
        let registers = bits.saturating_mul(self.lanes).div_ceil(self.register_bits()).max(1);
        Some((count, registers.saturating_mul(count)))
    }
}
