//! Members of a structure that are accessed side by side, as those of `float4` in CUDA C++: the lanes of a vector access whole
//! structures at once, where each member alone would be an access lane by lane.
//!
//! The members are loaded where the first is, and stored where the last is. Between them the block has no other access of
//! memory, and no call.

use super::instructions::is_ordered;
use super::parts::Parts;
use super::shapes::Shape;
use super::writer::VectorWriter;
use crate::ir::function::{Instruction, Opcode};

/// The members of `float4`, the largest structure that is accessed at once.
const MOST_MEMBERS: usize = 4;

/// A plain access of a number at a constant distance from a pointer.
struct Member<'f> {
    instruction: &'f Instruction,
    ty: String,
    base: &'f str,
    offset: u64,
    align: u64,
}

impl<'f> VectorWriter<'_, 'f> {
    /// Loads the structure that `load` begins with, and with it the values of later loads. `None` if there is none.
    pub(super) fn load_members(&mut self, load: &'f Instruction) -> Option<Vec<String>> {
        let name = load.result.as_deref()?;
        if let Some(vectors) = self.members.get(name) {
            return Some(vectors.clone());
        }
        let members = self.members_from(load)?;
        let first = members.first()?;
        let text =
            format!("load <{} x {}>, ptr %{}, align {}", members.len(), first.ty, first.base, first.align);
        let vectors = self.load_lanes(&text)?;
        for (member, vector) in members.iter().zip(vectors) {
            let name = member.instruction.result.clone()?;
            self.members.insert(name, vec![vector]);
        }
        self.members.get(name).cloned()
    }

    /// Stores the structure that `store` is a part of, if it is the last one. Returns whether it is a part of one; `None` if
    /// the structure has no form for vectors.
    pub(super) fn store_members(&mut self, store: &'f Instruction) -> Option<bool> {
        if !self.stores.iter().any(|(known, _)| std::ptr::eq(*known, store)) {
            let Some(members) = self.members_from(store) else { return Some(false) };
            let first = members.first()?;
            let ty = format!("<{} x {}>", members.len(), first.ty);
            let text = format!("store {ty} poison, ptr %{}, align {}", first.base, first.align);
            self.stores = members.iter().map(|member| (member.instruction, text.clone())).collect();
            self.stored = Vec::new();
        }
        let position = self.stores.iter().position(|(known, _)| std::ptr::eq(*known, store))?;
        let value = {
            let text = store.line.text();
            let parts = Parts::parse(&text)?;
            self.vector(parts.operands.first()?)?
        };
        self.stored.push((position, value));
        if self.stored.len() == self.stores.len() {
            let mut stored = std::mem::take(&mut self.stored);
            stored.sort();
            let (_, text) = std::mem::take(&mut self.stores).into_iter().next()?;
            let vectors: Vec<String> = stored.into_iter().map(|(_, vector)| vector).collect();
            self.store_lanes(&text, &vectors)?;
        }
        Some(true)
    }

    /// The size of the structure that `access` is a part of the access of.
    pub(super) fn structure_size(&self, access: &'f Instruction) -> Option<u64> {
        let block = self.plan.function.blocks.get(self.block)?;
        let is_access = |one: &&&Instruction| matches!(one.opcode, Opcode::Load | Opcode::Store);
        let accesses: Vec<&Instruction> = block.instructions.iter().filter(|one| is_access(&one)).collect();
        let position = accesses.iter().position(|one| std::ptr::eq(*one, access))?;
        for first in accesses.get(position.saturating_sub(MOST_MEMBERS - 1)..=position)? {
            let Some(members) = self.members_from(first) else { continue };
            if members.iter().any(|member| std::ptr::eq(member.instruction, access)) {
                let size = self.types.layout(&members.first()?.ty)?.size;
                return size.checked_mul(u64::try_from(members.len()).ok()?);
            }
        }
        None
    }

    /// The members of a structure that are accessed from `first` on, without another access in between, in their order.
    fn members_from(&self, first: &'f Instruction) -> Option<Vec<Member<'f>>> {
        let block = self.plan.function.blocks.get(self.block)?;
        let start = block.instructions.iter().position(|one| std::ptr::eq(one, first))?;
        let head = self.member(first)?;
        let mut members = Vec::new();
        for instruction in block.instructions.iter().skip(start) {
            match instruction.opcode {
                Opcode::Load | Opcode::Store if instruction.opcode == first.opcode => {
                    let member = self.member(instruction);
                    let Some(member) = member.filter(|one| one.base == head.base && one.ty == head.ty) else {
                        break;
                    };
                    members.push(member);
                    if members.len() == MOST_MEMBERS {
                        break;
                    }
                }
                Opcode::Other | Opcode::DebugRecord if !is_ordered(instruction) => {}
                _ => break,
            }
        }
        let size = self.types.layout(&head.ty)?.size;
        let count = [MOST_MEMBERS, MOST_MEMBERS / 2].into_iter().find(|count| {
            let Some(members) = members.get(..*count) else { return false };
            let mut offsets: Vec<u64> = members.iter().map(|member| member.offset).collect();
            offsets.sort_unstable();
            offsets.iter().zip(0u64..).all(|(offset, number)| *offset == number.saturating_mul(size))
        })?;
        members.truncate(count);
        members.sort_by_key(|member| member.offset);
        let whole = size.checked_mul(u64::try_from(count).ok()?)?;
        let align = members.first()?.align;
        let Shape::Affine { stride, .. } = self.shape_here(head.base) else { return None };
        let is_whole = align >= whole && u64::try_from(stride) == Ok(whole);
        is_whole.then_some(members)
    }

    fn member(&self, access: &'f Instruction) -> Option<Member<'f>> {
        let text = access.line.text();
        if text.contains(" volatile ") || text.contains(" atomic ") {
            return None;
        }
        let parts = Parts::parse(&text)?;
        let ty = match access.opcode {
            Opcode::Load => parts.element?,
            _ => parts.operands.first()?.ty,
        };
        let size = self.types.layout(ty)?.size;
        let is_number = ["i32", "i64", "float", "double"].contains(&ty) && [4, 8].contains(&size);
        let pointer = parts.operands.last()?.name().filter(|_| is_number)?;
        let (pointer, definition) = self.plan.values.definitions.get_key_value(pointer)?;
        let line = definition.instruction.line.text();
        let address =
            Parts::parse(&line).filter(|parts| parts.word == "getelementptr" && parts.element == Some("i8"));
        let base_and_offset = address.and_then(|address| {
            let [base, offset] = address.operands.as_slice() else { return None };
            let (base, _) = self.plan.values.definitions.get_key_value(base.name()?)?;
            Some((*base, offset.value.parse::<u64>().ok()?))
        });
        let (base, offset) = base_and_offset.unwrap_or((*pointer, 0));
        Some(Member { instruction: access, ty: ty.to_string(), base, offset, align: parts.align })
    }
}
