//! Loads and stores of values that are live across barriers.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::RegionWriter;
use crate::codegen::plan::{ContextSlot, Storage};
use crate::ir::function::{Block, Instruction, Opcode};
use crate::ir::line::NameMap;

impl<'f> RegionWriter<'_, 'f> {
    /// Loads a live-in value.
    pub(super) fn load_live_in(&mut self, name: &str) {
        let number = self.number;
        let is_redefined = self.redefined.contains(name);
        let value = if is_redefined { format!("%{name}.p{number}.in") } else { format!("%{name}.p{number}") };
        if let Some(ty) = self.plan.group_values.get(name) {
            let _ = writeln!(self.text.head, "  {value} = load {ty}, ptr %offload.once.{name}");
        } else if let Some(slot) = self.plan.slot(name)
            && let Some(ty) = &slot.ty
        {
            let address = format!("%offload.at.{name}.p{number}");
            let stored = StoredValue { ty, address: &address, align: slot.layout.align };
            let text = format!("  {address} = {}\n{}", self.slot_address(slot), self.load(&value, &stored));
            self.text.start.push_str(&text);
        }
        if is_redefined && let Some(ty) = self.plan.value_type(name) {
            let _ = writeln!(self.text.start, "  store {ty} {value}, ptr %offload.cell.{name}");
        }
    }

    /// Writes a phi with the predecessors that are in the region.
    pub(super) fn write_phi(&mut self, phi: &'f Instruction) {
        let Some(name) = phi.result.as_deref() else { return };
        let mut operands = Vec::new();
        for incoming in &phi.incoming {
            let block = self.plan.block_numbers.get(incoming.from.as_str());
            if block.is_some_and(|block| self.region.blocks.contains(block)) {
                let names = PhiOperandNames { writer: self, from: &incoming.from };
                let value = incoming.value.render(&names);
                operands.push(format!("[ {value}, %{} ]", self.label(&incoming.from)));
            }
        }
        let head = phi.line.render(self);
        let _ = writeln!(self.text.body, "  %{name}.p{} = {head} {}", self.number, operands.join(", "));
    }

    /// Loads the redefined values among `names` from their cells.
    pub(super) fn load_redefined<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let redefined: BTreeSet<&str> = names.filter(|name| self.redefined.contains(name)).collect();
        for name in redefined {
            let Some(ty) = self.plan.value_type(name) else { continue };
            self.loads = self.loads.saturating_add(1);
            let value = format!("%{name}.p{}.u{}", self.number, self.loads);
            let _ = writeln!(self.text.body, "  {value} = load {ty}, ptr %offload.cell.{name}");
            self.loaded.insert(name.to_string(), value);
        }
    }

    /// Stores `name`, which was just defined, for later regions, and for later uses if it is redefined.
    pub(super) fn store_live_out(&mut self, name: &str) {
        let plan = self.plan;
        let number = self.number;
        let Some(ty) = plan.value_type(name) else { return };
        let value = format!("%{name}.p{number}");
        let is_redefined = self.redefined.contains(name);
        if is_redefined {
            let _ = writeln!(self.text.body, "  store {ty} {value}, ptr %offload.cell.{name}");
        }
        if !plan.is_live_out(self.region, name) {
            return;
        }
        if plan.group_values.contains_key(name) {
            let _ = writeln!(self.text.body, "  store {ty} {value}, ptr %offload.next.{name}");
        } else if self.chunk_values.contains(name) {
            if !is_redefined {
                let _ = writeln!(self.text.body, "  store {ty} {value}, ptr %offload.cell.{name}");
            }
        } else if let Some(slot) = plan.slot(name) {
            let address = format!("%offload.to.{name}.p{number}");
            let stored = StoredValue { ty: &ty, address: &address, align: slot.layout.align };
            let text = format!("  {address} = {}\n{}", self.slot_address(slot), self.store(&value, &stored));
            self.text.body.push_str(&text);
        }
    }

    /// Loads the slots of the chunk into cells, which hold the values until others are defined: a store under a condition
    /// to a slot would not be vectorised.
    pub(super) fn load_cells(&mut self) {
        let number = self.number;
        let names: Vec<&str> = self.chunk_values.difference(&self.redefined).copied().collect();
        for name in names {
            let (Some(slot), Some(ty)) = (self.plan.slot(name), self.plan.value_type(name)) else { continue };
            let address = format!("%offload.was.{name}.p{number}");
            let old = format!("%offload.old.{name}.p{number}");
            let stored = StoredValue { ty: &ty, address: &address, align: slot.layout.align };
            let _ = writeln!(
                self.text.start,
                "  {address} = {}\n{}  store {ty} {old}, ptr %offload.cell.{name}",
                self.slot_address(slot),
                self.load(&old, &stored)
            );
        }
    }

    /// Stores the cells into the slots of the chunk at the end of the region.
    pub(super) fn store_cells(&mut self) {
        let number = self.number;
        for name in self.chunk_values.clone() {
            let (Some(slot), Some(ty)) = (self.plan.slot(name), self.plan.value_type(name)) else { continue };
            let address = format!("%offload.to.{name}.p{number}");
            let last = format!("%offload.last.{name}.p{number}");
            let stored = StoredValue { ty: &ty, address: &address, align: slot.layout.align };
            let _ = write!(
                self.text.end,
                "  {last} = load {ty}, ptr %offload.cell.{name}\n  {address} = {}\n{}",
                self.slot_address(slot),
                self.store(&last, &stored)
            );
        }
    }

    /// The instruction that computes the address of a work-item's slot.
    fn slot_address(&self, slot: &ContextSlot<'_>) -> String {
        let name = slot.name;
        let number = self.number;
        match (slot.storage, self.chunk, &slot.ty) {
            (Storage::Chunk, Some(chunk), Some(ty)) => format!(
                "getelementptr inbounds {}, ptr %offload.lanes.{name}.c{}, i64 %offload.lane.p{number}",
                memory_type(ty),
                chunk.suffix
            ),
            _ => format!(
                "getelementptr inbounds [{} x i8], ptr %offload.slot.{name}, i64 %offload.i.p{number}",
                self.plan.stride(slot)
            ),
        }
    }

    fn load(&self, to: &str, stored: &StoredValue<'_>) -> String {
        let StoredValue { ty, address, align } = stored;
        let group = self.nodes.accesses;
        match *ty {
            "i1" => format!(
                "  {to}.byte = load i8, ptr {address}, !llvm.access.group !{group}\n  {to} = trunc i8 {to}.byte to i1\n"
            ),
            _ => format!("  {to} = load {ty}, ptr {address}, align {align}, !llvm.access.group !{group}\n"),
        }
    }

    fn store(&self, value: &str, stored: &StoredValue<'_>) -> String {
        let StoredValue { ty, address, align } = stored;
        let group = self.nodes.accesses;
        match *ty {
            "i1" => format!(
                "  {value}.byte = zext i1 {value} to i8\n  store i8 {value}.byte, ptr {address}, !llvm.access.group !{group}\n"
            ),
            _ => format!("  store {ty} {value}, ptr {address}, align {align}, !llvm.access.group !{group}\n"),
        }
    }

    /// Loads redefined values that phis of the successors take from this block, under names that depend on both only.
    pub(super) fn load_for_phis(&mut self, number: usize, block: &'f Block) {
        let mut names = BTreeSet::new();
        if self.redefined.is_empty() {
            return;
        }
        for successor in self.plan.cfg.successors(number) {
            let Some(successor) = self.plan.function.blocks.get(*successor) else { continue };
            let phis = successor.instructions.iter().filter(|instruction| instruction.opcode == Opcode::Phi);
            let incoming = phis.filter_map(|phi| phi.operand_from(&block.name));
            names.extend(incoming.flat_map(|operand| operand.values()));
        }
        for name in names.into_iter().filter(|name| self.redefined.contains(name)) {
            let Some(ty) = self.plan.value_type(name) else { continue };
            let value = phi_operand_name(name, &self.label(&block.name));
            let _ = writeln!(self.text.body, "  {value} = load {ty}, ptr %offload.cell.{name}");
        }
    }
}

/// A value in memory.
struct StoredValue<'k> {
    ty: &'k str,
    address: &'k str,
    align: u64,
}

/// The type of a value of type `ty` in memory.
pub(crate) fn memory_type(ty: &str) -> &str {
    if ty == "i1" { "i8" } else { ty }
}

/// Names in the operand of a phi: a redefined value is loaded in the predecessor.
struct PhiOperandNames<'w, 'p, 'f> {
    writer: &'w RegionWriter<'p, 'f>,
    from: &'w str,
}

impl NameMap for PhiOperandNames<'_, '_, '_> {
    fn value(&self, name: &str) -> String {
        if self.writer.redefined.contains(name) {
            phi_operand_name(name, &self.writer.label(self.from))
        } else {
            self.writer.value(name)
        }
    }

    fn label(&self, name: &str) -> String {
        self.writer.label(name)
    }
}

fn phi_operand_name(name: &str, block: &str) -> String {
    format!("%{name}.from.{block}")
}
