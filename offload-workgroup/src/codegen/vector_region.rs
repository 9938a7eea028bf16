//! Vectorisation of parallel regions with divergent loops: vectors of neighbouring work-items execute the region in lockstep,
//! with masks.
//!
//! LLVM vectorises the innermost loop of a nest, so that a work-item loop around a loop of the kernel stays scalar. Here
//! each instruction becomes one for a vector of work-items (R. Karrenberg and S. Hack, "Whole-Function Vectorization", CGO
//! 2011), and control flow becomes masks (S. Moll and S. Hack, "Partial Control-Flow Linearization", PLDI 2018).
//!
//! ```text
//! order         the order of the blocks
//! shapes        uniform, affine and varying values
//! profit        whether vectors are faster
//! writer        names of values, and variables
//! instructions  instructions, accesses of memory, calls
//! members       accesses of structures whose members lie side by side
//! branches      masks
//! ```
//!
//! A region with anything that has no form for vectors stays scalar: atomic operations, private arrays, unknown calls.

mod accesses;
mod branches;
mod calls;
mod instructions;
mod members;
mod order;
mod parts;
mod profit;
mod shapes;
mod writer;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use self::accesses::{SCRATCH, SCRATCH_SIZE};
use self::order::RegionOrder;
use self::shapes::{RegionStart, Shape, Shapes};
use self::writer::{Names, VectorWriter};
use crate::analysis::work_item_state::{StateLoad, state_load};
use crate::codegen::plan::{ContextSlot, ParallelRegion, Plan, Storage};
use crate::codegen::region::{RegionCopy, RegionText, used_values};
use crate::ir::Types;
use crate::ir::function::{Opcode, Terminator};
use crate::options::Validity;

/// More instructions are compiled faster than they run.
const MAX_INSTRUCTIONS: usize = 4000;

/// Two registers of numbers with 32 bits hide latencies; more lanes wait longer for each other.
const MAX_LANES: u64 = 32;
/// The rows that work-groups of two dimensions commonly have.
const SHORT_ROW: u64 = 16;

/// What vectors of a CPU there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VectorTarget<'t> {
    pub(crate) types: &'t Types<'t>,
    pub(crate) vector_bits: u32,
    /// The size of work-groups in the first dimension, if it is known.
    pub(crate) row: Option<u64>,
}

/// A region for vectors of work-items.
#[derive(Debug)]
pub(crate) struct VectorRegion {
    pub(crate) lanes: u64,
    /// Whether vectors of 512 bits are used where the CPU has them.
    pub(crate) is_wide: bool,
    pub(crate) allocas: String,
    /// From the first block to the branch to `offload.next.vN`.
    pub(crate) body: String,
}

/// A copy of a region of `plan` for vectors; `None` if it stays scalar. `text` is that of one work-item.
pub(crate) fn vectorize(
    plan: &Plan<'_>,
    copy: RegionCopy,
    text: &RegionText,
    target: &VectorTarget<'_>,
) -> Option<VectorRegion> {
    let region = plan.regions.get(copy.region)?;
    let is_eligible =
        plan.validity != Validity::Checked && !text.needs_local_id && !plan.uses_local_id_address;
    if !is_eligible || target.vector_bits < 128 || size(plan, region) > MAX_INSTRUCTIONS {
        return None;
    }
    let order = RegionOrder::new(&plan.cfg, region)?;
    if order.loops.is_empty() {
        return None;
    }
    let used = used_values(plan, region);
    if used
        .iter()
        .any(|name| plan.memory.variables.contains(name) && !plan.memory.live_across_barrier.contains(name))
    {
        return None;
    }
    let lanes = lanes(plan, target)?;
    let start = region_start(plan, region, text, &used);
    let shapes = Shapes::new(plan, &order, start, target.types);
    let mut writer = VectorWriter {
        plan,
        region,
        types: target.types,
        used_outside: HashSet::new(),
        temporal: HashSet::new(),
        used_behind: HashSet::new(),
        order,
        shapes,
        number: copy.suffix,
        lanes,
        vector_bits: target.vector_bits,
        fixed: Names::default(),
        local: Names::default(),
        variables: BTreeMap::new(),
        block: usize::MAX,
        members: HashMap::new(),
        stores: Vec::new(),
        stored: Vec::new(),
        mask: None,
        out: String::new(),
        names: 0,
    };
    if !writer.is_profitable() {
        return None;
    }
    writer.find_uses();
    writer.write_start(text, &used)?;
    let entry = format!("offload.entry.v{}", copy.suffix);
    let prelude = std::mem::take(&mut writer.out);
    writer.write_blocks()?;
    writer.write_finish()?;
    Some(writer.finish(&entry, &prelude))
}

/// The lanes of vectors that rows are divided into; `None` if rows are too short.
fn lanes(plan: &Plan<'_>, target: &VectorTarget<'_>) -> Option<u64> {
    let widest = u64::from(target.vector_bits / 32).saturating_mul(2).min(MAX_LANES);
    let lanes = match target.row {
        // The rest of a row is scalar.
        Some(row) if widest > SHORT_ROW && row % widest >= SHORT_ROW => SHORT_ROW,
        Some(row) => widest.min(1u64.checked_shl(row.checked_ilog2()?)?),
        None if is_planar(plan) => widest.min(SHORT_ROW),
        None => widest,
    };
    (lanes >= 4).then_some(lanes)
}

/// Whether a kernel asks for more than the first dimension of its position.
fn is_planar(plan: &Plan<'_>) -> bool {
    plan.function
        .instructions()
        .any(|one| matches!(state_load(one), Some(StateLoad::LocalId { dimension: 1.. })))
}

fn size(plan: &Plan<'_>, region: &ParallelRegion<'_>) -> usize {
    let blocks = region.blocks.iter().filter_map(|number| plan.function.blocks.get(*number));
    blocks.map(|block| block.instructions.len()).sum()
}

fn region_start<'f>(
    plan: &Plan<'f>,
    region: &ParallelRegion<'f>,
    text: &RegionText,
    used: &BTreeSet<&'f str>,
) -> RegionStart<'f> {
    let mut live_in = HashMap::from([(plan.function.parameter.as_str(), Shape::Uniform)]);
    for slot in plan.slots.iter().filter(|slot| slot.ty.is_none()) {
        let stride = i64::try_from(plan.stride(slot)).unwrap_or(i64::MAX);
        live_in.insert(slot.name, Shape::Affine { stride, conditional: false });
    }
    let mut rematerialized = Vec::new();
    for name in &text.rematerialized {
        rematerialized.extend(plan.values.definitions.get_key_value(name.as_str()).map(|(name, _)| *name));
    }
    let mut redefined = HashMap::new();
    for name in region.live_in.iter().filter(|name| !plan.values.rematerialized.contains_key(*name)) {
        let is_group_value = plan.group_values.contains_key(name);
        let shape = if is_group_value { Shape::Uniform } else { Shape::Varying };
        if !region.defined.contains(name) {
            live_in.insert(*name, shape);
        } else if !is_group_value || used.contains(name) {
            redefined.insert(*name, shape);
        }
    }
    RegionStart { live_in, rematerialized, redefined }
}

impl<'f> VectorWriter<'_, 'f> {
    /// Finds the values that other blocks use.
    fn find_uses(&mut self) {
        let plan = self.plan;
        for number in self.order.blocks.clone() {
            let Some(block) = plan.function.blocks.get(number) else { continue };
            for instruction in block.instructions.iter().filter(|one| !one.is_marker()) {
                for name in instruction.operands() {
                    self.add_use(name, Some(number));
                }
                for incoming in &instruction.incoming {
                    let from = plan.block_numbers.get(incoming.from.as_str()).copied();
                    for name in incoming.value.values().filter(|_| from.is_some()) {
                        self.add_use(name, from);
                    }
                }
                if let Some(name) = instruction.result.as_deref()
                    && (instruction.opcode == Opcode::Phi || self.region.live_in.contains(name))
                {
                    self.used_outside.insert(name);
                }
            }
            if let Terminator::Branch(line) = &block.terminator {
                for name in line.values() {
                    self.add_use(name, Some(number));
                }
            }
        }
        for name in self.region.defined.iter().filter(|name| plan.is_live_out(self.region, name)) {
            self.add_use(name, None);
        }
    }

    /// Adds a use in a block, or at the end of the region.
    fn add_use(&mut self, name: &'f str, at: Option<usize>) {
        let Some(definition) = self.shapes.definition(name) else { return };
        if at != Some(definition) {
            self.used_outside.insert(name);
        }
        if self.shapes.is_temporal(&self.order, name, at) {
            self.temporal.insert(name);
        }
        let own = self.order.loop_of_header(definition);
        if own.is_some_and(|own| at.is_none_or(|at| !own.blocks.contains(&at))) {
            self.used_behind.insert(name);
        }
    }

    /// Writes what is computed and loaded before the first block.
    fn write_start(&mut self, text: &RegionText, used: &BTreeSet<&'f str>) -> Option<()> {
        let plan = self.plan;
        let number = self.number;
        for slot in plan.slots.iter().filter(|slot| slot.ty.is_none()) {
            let address = self.slot_address(slot);
            self.fixed.scalars.insert(slot.name.to_string(), address);
        }
        for name in &text.rematerialized {
            let (name, definition) = plan.values.definitions.get_key_value(name.as_str())?;
            if definition.instruction.opcode == Opcode::Alloca {
                continue;
            }
            if plan.values.uniform.contains(name) {
                self.fixed.scalars.insert(name.to_string(), format!("%{name}.p{number}"));
                continue;
            }
            self.define(name, definition.instruction)?;
            let local = std::mem::take(&mut self.local);
            self.fixed.scalars.extend(local.scalars);
            self.fixed.vectors.extend(local.vectors);
            self.fixed.conditions.extend(local.conditions);
        }
        for name in &self.region.live_in {
            if plan.values.rematerialized.contains_key(name) {
                continue;
            }
            let is_redefined = self.region.defined.contains(name);
            let is_used = used.contains(name);
            if let Some(ty) = plan.group_values.get(name) {
                match (is_redefined, is_used) {
                    (_, false) => {}
                    (false, true) => {
                        self.fixed.scalars.insert(name.to_string(), format!("%{name}.p{number}"));
                    }
                    (true, true) => self.initialize_uniform(name, ty)?,
                }
                continue;
            }
            let slot = plan.slot(name)?;
            if !is_used && !plan.is_live_out(self.region, name) {
                continue;
            }
            let vectors = self.load_slot(slot)?;
            if is_redefined {
                self.store_vectors(name, slot.ty.as_deref()?, &vectors, None)?;
            } else {
                self.fixed.vectors.insert(name.to_string(), vectors);
            }
        }
        Some(())
    }

    /// Initialises the variables of a uniform value that is live, and defined again.
    fn initialize_uniform(&mut self, name: &'f str, ty: &str) -> Option<()> {
        let live = format!("%{name}.p{}.in", self.number);
        if self.shapes.shape(name) != Shape::Uniform {
            return None;
        }
        let variable = self.variable("one", name, ty);
        self.store(ty, &live, &variable);
        if self.temporal.contains(name) {
            let (_, element) = parts::elements(ty).filter(|(count, _)| *count == 1)?;
            let vector = self.splat(element, &live);
            self.store_vectors(name, ty, &[vector], None)?;
        }
        Some(())
    }

    fn slot_address(&mut self, slot: &ContextSlot<'_>) -> String {
        let size = self.plan.stride(slot);
        self.emit(&format!(
            "getelementptr inbounds [{size} x i8], ptr %offload.slot.{}, i64 %offload.i.v{}",
            slot.name, self.number
        ))
    }

    /// Loads the values of a slot for all lanes.
    fn load_slot(&mut self, slot: &ContextSlot<'f>) -> Option<Vec<String>> {
        let ty = slot.ty.as_deref().filter(|_| slot.storage == Storage::Context)?;
        let first = self.slot_address(slot);
        let stride = i64::try_from(self.plan.stride(slot)).ok()?;
        let is_bit = ty == "i1";
        let stored = if is_bit { "i8" } else { ty };
        let loaded = self.load_strided(stored, &first, stride, slot.layout.align)?;
        if !is_bit {
            return Some(loaded);
        }
        let [bytes] = loaded.as_slice() else { return None };
        let (from, to) = (self.vector_type("i8"), self.vector_type("i1"));
        Some(vec![self.emit(&format!("trunc {from} {bytes} to {to}"))])
    }

    /// Writes the end of a vector: values that are live behind the region go to their slots.
    fn write_finish(&mut self) -> Option<()> {
        let plan = self.plan;
        let finish = format!("offload.finish.v{}", self.number);
        self.open(&finish);
        for name in self.region.defined.clone() {
            let is_stored = plan.is_live_out(self.region, name) && !plan.group_values.contains_key(name);
            let Some(slot) = plan.slot(name).filter(|_| is_stored) else { continue };
            let ty = slot.ty.as_deref().filter(|_| slot.storage == Storage::Context)?;
            let mut vectors = self.vector_values(name)?;
            let mut stored = ty;
            if ty == "i1" {
                let (from, to) = (self.vector_type("i1"), self.vector_type("i8"));
                vectors = vec![self.emit(&format!("zext {from} {} to {to}", vectors.first()?))];
                stored = "i8";
            }
            let first = self.slot_address(slot);
            let stride = i64::try_from(plan.stride(slot)).ok()?;
            self.store_strided(stored, &vectors, &first, stride, slot.layout.align)?;
        }
        let next = format!("offload.next.v{}", self.number);
        self.line(&format!("br label %{next}"));
        Some(())
    }

    /// The text with its variables.
    fn finish(mut self, entry: &str, prelude: &str) -> VectorRegion {
        let start = self.region.start;
        let blocks = std::mem::take(&mut self.out);
        for block in self.order.blocks.clone() {
            let waiting = self.waiting(block);
            let is_start = block == start && self.shapes.partial.contains(&start);
            let lanes = self.constant_mask(is_start);
            self.store_mask(&lanes, &waiting);
        }
        let masks = std::mem::take(&mut self.out);
        let mut body = format!("{entry}:\n{prelude}{masks}");
        let _ = writeln!(body, "  br label %{}", self.label("go", start));
        body.push_str(&blocks);
        let mut allocas =
            format!("  %{SCRATCH}.v{} = alloca [{SCRATCH_SIZE} x i8], align {SCRATCH_SIZE}\n", self.number);
        for (name, ty) in &self.variables {
            let _ = writeln!(allocas, "  {name} = alloca {ty}");
        }
        VectorRegion { lanes: self.lanes, is_wide: self.is_wide(), allocas, body }
    }
}

#[cfg(test)]
mod tests;
