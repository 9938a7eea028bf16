//! What a piece loads that was kept, and keeps for later ones.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Writer;
use crate::ir::work_items::function::{Block, Instruction};
use crate::ir::work_items::plan::{Holder, Slot};
use crate::ir::work_items::text::Names;

impl<'f> Writer<'_, 'f> {
    /// Loads a value that was kept.
    pub(super) fn fetch(&mut self, name: &str) {
        let number = self.number;
        let own = format!("%{name}.p{number}");
        let to = if self.remade.contains(name) { format!("{own}.in") } else { own };
        if let Some(ty) = self.plan.once.get(name) {
            let _ = writeln!(self.text.head, "  {to} = load {ty}, ptr %offload.once.{name}");
        } else if let Some(slot) = self.plan.slot(name)
            && let Some(ty) = &slot.ty
        {
            let address = format!("%offload.at.{name}.p{number}");
            let kept = Kept { ty, address: &address, align: slot.layout.align };
            let text = format!("  {address} = {}\n{}", self.address_of(slot), self.load(&to, &kept));
            self.text.start.push_str(&text);
        }
        if self.remade.contains(name)
            && let Some(ty) = self.plan.value_type(name)
        {
            let _ = writeln!(self.text.start, "  store {ty} {to}, ptr %offload.cell.{name}");
        }
    }

    pub(super) fn phi(&mut self, phi: &'f Instruction) {
        let Some(name) = phi.result.as_deref() else { return };
        let inside = |block: &str| {
            let number = self.plan.function.blocks.iter().position(|other| other.name == block);
            number.is_some_and(|number| self.piece.blocks.contains(&number))
        };
        let here = phi.incoming.iter().filter(|incoming| inside(&incoming.from));
        let incoming: Vec<String> = here
            .map(|incoming| {
                let names = PhiNames { writer: self, from: &incoming.from };
                format!("[ {}, %{} ]", incoming.value.with(&names), self.label(&incoming.from))
            })
            .collect();
        let head = phi.line.with(self);
        let _ = writeln!(self.text.body, "  %{name}.p{} = {head} {}", self.number, incoming.join(", "));
    }

    /// Writes loads of what was made before the piece or in it.
    pub(super) fn load_remade<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        for name in names.filter(|name| self.remade.contains(name)).collect::<BTreeSet<_>>() {
            let Some(ty) = self.plan.value_type(name) else { continue };
            self.loads = self.loads.saturating_add(1);
            let value = format!("%{name}.p{}.u{}", self.number, self.loads);
            let _ = writeln!(self.text.body, "  {value} = load {ty}, ptr %offload.cell.{name}");
            self.loaded.insert(name.to_string(), value);
        }
    }

    /// Stores `name`, which was just made, where later pieces and later instructions read it.
    pub(super) fn keep(&mut self, name: &str) {
        let (plan, number) = (self.plan, self.number);
        let Some(ty) = plan.value_type(name) else { return };
        let value = format!("%{name}.p{number}");
        if self.remade.contains(name) {
            let _ = writeln!(self.text.body, "  store {ty} {value}, ptr %offload.cell.{name}");
        }
        if !plan.outlives(self.piece, name) {
            return;
        }
        if plan.once.contains_key(name) {
            let _ = writeln!(self.text.body, "  store {ty} {value}, ptr %offload.next.{name}");
        } else if self.settled.contains(name) {
            if !self.remade.contains(name) {
                let _ = writeln!(self.text.body, "  store {ty} {value}, ptr %offload.cell.{name}");
            }
        } else if let Some(slot) = plan.slot(name) {
            let address = format!("%offload.to.{name}.p{number}");
            let kept = Kept { ty: &ty, address: &address, align: slot.layout.align };
            let text = format!("  {address} = {}\n{}", self.address_of(slot), self.store(&value, &kept));
            self.text.body.push_str(&text);
        }
    }

    /// The cells of what neighbours keep hold what was kept until something else is made: where it is made under a
    /// condition, a store under a condition would be no vector.
    pub(super) fn unsettle(&mut self) {
        let number = self.number;
        for name in self.settled.difference(&self.remade).copied().collect::<Vec<_>>() {
            let (Some(slot), Some(ty)) = (self.plan.slot(name), self.plan.value_type(name)) else { continue };
            let (address, old) =
                (format!("%offload.was.{name}.p{number}"), format!("%offload.old.{name}.p{number}"));
            let kept = Kept { ty: &ty, address: &address, align: slot.layout.align };
            let _ = writeln!(
                self.text.start,
                "  {address} = {}\n{}  store {ty} {old}, ptr %offload.cell.{name}",
                self.address_of(slot),
                self.load(&old, &kept)
            );
        }
    }

    /// At the end of the piece neighbours keep what the cells hold.
    pub(super) fn settle(&mut self) {
        let number = self.number;
        for name in self.settled.clone() {
            let (Some(slot), Some(ty)) = (self.plan.slot(name), self.plan.value_type(name)) else { continue };
            let (address, last) =
                (format!("%offload.to.{name}.p{number}"), format!("%offload.last.{name}.p{number}"));
            let kept = Kept { ty: &ty, address: &address, align: slot.layout.align };
            let _ = write!(
                self.text.end,
                "  {last} = load {ty}, ptr %offload.cell.{name}\n  {address} = {}\n{}",
                self.address_of(slot),
                self.store(&last, &kept)
            );
        }
    }

    /// The instruction that gives a work-item's place.
    fn address_of(&self, slot: &Slot<'_>) -> String {
        let (name, number) = (slot.name, self.number);
        match (slot.holder, self.chunk, &slot.ty) {
            (Holder::Lanes, Some(chunk), Some(ty)) => format!(
                "getelementptr inbounds {}, ptr %offload.lanes.{name}.c{}, i64 %offload.lane.p{number}",
                stored(ty),
                chunk.mark
            ),
            _ => format!(
                "getelementptr inbounds [{} x i8], ptr %offload.slot.{name}, i64 %offload.i.p{number}",
                self.plan.stride(slot)
            ),
        }
    }

    fn load(&self, to: &str, kept: &Kept<'_>) -> String {
        let (Kept { ty, address, align }, group) = (kept, self.nodes.accesses);
        match *ty {
            "i1" => format!(
                "  {to}.byte = load i8, ptr {address}, !llvm.access.group !{group}\n  {to} = trunc i8 {to}.byte to i1\n"
            ),
            _ => format!("  {to} = load {ty}, ptr {address}, align {align}, !llvm.access.group !{group}\n"),
        }
    }

    fn store(&self, value: &str, kept: &Kept<'_>) -> String {
        let (Kept { ty, address, align }, group) = (kept, self.nodes.accesses);
        match *ty {
            "i1" => format!(
                "  {value}.byte = zext i1 {value} to i8\n  store i8 {value}.byte, ptr {address}, !llvm.access.group !{group}\n"
            ),
            _ => format!("  store {ty} {value}, ptr {address}, align {align}, !llvm.access.group !{group}\n"),
        }
    }

    /// Loads of remade values that phis of the next blocks take from this one, under names that only depend on both.
    pub(super) fn load_for_phis(&mut self, number: usize, block: &'f Block) {
        let mut names = BTreeSet::new();
        for next in self.plan.function.successors(number) {
            let instructions =
                self.plan.function.blocks.get(next).into_iter().flat_map(|next| &next.instructions);
            let incoming = instructions.flat_map(|instruction| &instruction.incoming);
            let from_here = incoming.filter(|incoming| incoming.from == block.name);
            names.extend(from_here.flat_map(|incoming| incoming.value.values()));
        }
        for name in names.into_iter().filter(|name| self.remade.contains(name)) {
            let Some(ty) = self.plan.value_type(name) else { continue };
            let value = phi_value(name, &self.label(&block.name));
            let _ = writeln!(self.text.body, "  {value} = load {ty}, ptr %offload.cell.{name}");
        }
    }
}

/// A value in memory.
struct Kept<'k> {
    ty: &'k str,
    address: &'k str,
    align: u64,
}

/// How a value of type `ty` lies in memory.
pub(in crate::ir::work_items) fn stored(ty: &str) -> &str {
    if ty == "i1" { "i8" } else { ty }
}

/// Names in the operand of a phi: a remade value is loaded where the operand comes from.
struct PhiNames<'w, 'p, 'f> {
    writer: &'w Writer<'p, 'f>,
    from: &'w str,
}

impl Names for PhiNames<'_, '_, '_> {
    fn value(&self, name: &str) -> String {
        match self.writer.remade.contains(name) {
            true => phi_value(name, &self.writer.label(self.from)),
            false => self.writer.value(name),
        }
    }

    fn label(&self, name: &str) -> String {
        self.writer.label(name)
    }
}

fn phi_value(name: &str, block: &str) -> String {
    format!("%{name}.from.{block}")
}
