//! How a work-item's function is cut: its pieces, and where what outlives a wait is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::conflicts::{Conflicts, Interleaving};
use super::facts::Facts;
use super::flow::Flow;
use super::function::{End, Function, Kind, Rounds, Wait};
use super::liveness;
use super::memory::PrivateMemory;
use super::validity::Validity;
use crate::ir::types::{Layout, Types, after_word};

/// What programs align frames to, in bytes.
const FRAME_ALIGNMENT: u64 = 128;

/// A cut function.
#[derive(Debug)]
pub(super) struct Plan<'f> {
    pub(super) function: &'f Function,
    pub(super) facts: Facts<'f>,
    pub(super) memory: PrivateMemory<'f>,
    pub(super) pieces: Vec<Piece<'f>>,
    /// Kept for each work-item, in the order of the frame.
    pub(super) slots: Vec<Slot<'f>>,
    /// Kept once for all work-items, with their types.
    pub(super) once: BTreeMap<&'f str, String>,
    /// Bytes of the frame for each work-item.
    pub(super) frame: u64,
    /// What the frame has to be aligned to, where that is more than programs align frames to.
    pub(super) frame_alignment: Option<u64>,
    pub(super) order: Order,
    pub(super) interleaving: Interleaving,
    pub(super) validity: Validity,
}

/// What a work-item does from one wait to the next.
#[derive(Debug)]
pub(super) struct Piece<'f> {
    pub(super) start: usize,
    /// What it begins after; the first one begins with the group.
    pub(super) wait: Wait,
    pub(super) blocks: BTreeSet<usize>,
    /// The pieces that can be next, by number; 0 stands for the end.
    pub(super) next: BTreeSet<usize>,
    /// Made before this piece and used in it or after it.
    pub(super) live: BTreeSet<&'f str>,
    /// Made in it.
    pub(super) made: BTreeSet<&'f str>,
}

/// A place for each work-item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot<'f> {
    pub(super) name: &'f str,
    pub(super) holder: Holder,
    /// Of a value; a variable is memory already.
    pub(super) ty: Option<String>,
    pub(super) layout: Layout,
    /// In bytes, among the values of one work-item.
    pub(super) offset: u64,
}

/// Where a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// In the frame, which has room for all work-items of a group.
    Frame,
    /// In a variable for a few neighbours, which the code generator has in registers.
    Lanes,
}

/// How the frame is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// An array for each value, for loops that become vectors over work-items.
    ByValue,
    /// All values of a work-item together. A kernel with vectors of its own, and without loops that were cut, has loops
    /// that do not become vectors over work-items, and then neighbours in one work-item can.
    ByWorkItem,
}

impl<'f> Plan<'f> {
    /// The error names what cannot be kept.
    pub(super) fn new(
        function: &'f Function,
        types: &Types<'_>,
        local_arrays: &BTreeSet<&str>,
        validity: Validity,
    ) -> Result<Plan<'f>, String> {
        let flow = Flow::new(function, validity);
        let facts = Facts::of(function, &flow);
        let memory = PrivateMemory::of(function, &flow);
        let pieces = pieces(function, &flow);
        let conflicts = Conflicts { function, flow: &flow, facts: &facts, types, local_arrays };
        let interleaving = conflicts.interleaving();
        let mut plan = Plan {
            function,
            facts,
            memory,
            pieces,
            slots: Vec::new(),
            once: BTreeMap::new(),
            frame: 0,
            frame_alignment: None,
            order: Order::ByValue,
            interleaving,
            validity,
        };
        plan.find_kept(types)?;
        plan.lay_out()?;
        plan.order = plan.best_order();
        Ok(plan)
    }

    fn find_kept(&mut self, types: &Types<'_>) -> Result<(), String> {
        let live: BTreeSet<&str> = self.pieces.iter().flat_map(|piece| piece.live.iter().copied()).collect();
        let unsized_value = |name: &str| format!("the value %{name} has no size that is known");
        for name in live {
            if self.facts.recomputed.contains_key(name) {
                continue;
            }
            let definition = self.facts.definitions.get(name).ok_or_else(|| unsized_value(name))?;
            let ty = types.result(&definition.instruction.line.plain()).ok_or_else(|| unsized_value(name))?;
            if self.facts.uniform.contains(name) {
                self.once.insert(name, ty);
                continue;
            }
            let layout = types.layout(&ty).ok_or_else(|| unsized_value(name))?;
            let holder = self.holder(name);
            self.slots.push(Slot { name, holder, ty: Some(ty), layout, offset: 0 });
        }
        for name in &self.memory.kept {
            let definition = self.facts.definitions.get(name).ok_or_else(|| unsized_value(name))?;
            let text = definition.instruction.line.plain();
            let layout = after_word(&text).and_then(|alloca| types.alloca(alloca));
            let layout = layout.ok_or_else(|| unsized_value(name))?;
            self.slots.push(Slot { name, holder: Holder::Frame, ty: None, layout, offset: 0 });
        }
        Ok(())
    }

    /// What is used among neighbours alone is kept for them alone.
    fn holder(&self, name: &str) -> Holder {
        let mut of_group = self.pieces.iter().filter(|piece| piece.wait == Wait::Group);
        if of_group.any(|piece| piece.live.contains(name)) { Holder::Frame } else { Holder::Lanes }
    }

    /// The most aligned first: then every array starts aligned, whatever the number of work-items.
    fn lay_out(&mut self) -> Result<(), String> {
        let results = self.function.instructions().filter_map(|one| one.result.as_deref());
        let made: BTreeMap<&str, usize> = results.zip(0..).collect();
        self.slots.sort_by_key(|slot| (std::cmp::Reverse(slot.layout.align), made.get(slot.name).copied()));
        let mut offset = 0u64;
        for slot in self.slots.iter_mut().filter(|slot| slot.holder == Holder::Frame) {
            slot.offset = offset;
            let size = slot.layout.size.checked_next_multiple_of(slot.layout.align);
            slot.layout.size = size.ok_or("a private array is too large")?;
            offset = offset.checked_add(slot.layout.size).ok_or("private arrays are too large")?;
        }
        let first = self.slots.iter().find(|slot| slot.holder == Holder::Frame);
        let align = first.map_or(1, |slot| slot.layout.align);
        self.frame = offset.checked_next_multiple_of(align).ok_or("private arrays are too large")?;
        if align > FRAME_ALIGNMENT {
            self.frame_alignment = Some(align);
            self.frame = self.frame.checked_add(align).ok_or("private arrays are too large")?;
        }
        Ok(())
    }

    fn best_order(&self) -> Order {
        /// Fewer values are no vector worth having.
        const MANY: usize = 8;
        let mut instructions = self.function.instructions().filter(|instruction| !instruction.is_note());
        if self.function.has_cut_loops || self.slots.len() <= MANY {
            return Order::ByValue;
        }
        match instructions.any(|instruction| instruction.line.contains("<")) {
            true => Order::ByWorkItem,
            false => Order::ByValue,
        }
    }

    /// Bytes from the place of one work-item to that of the next.
    pub(super) fn stride(&self, slot: &Slot<'_>) -> u64 {
        match self.order {
            Order::ByValue => slot.layout.size,
            Order::ByWorkItem => self.frame,
        }
    }

    /// The places of values, by name.
    pub(super) fn slot(&self, name: &str) -> Option<&Slot<'f>> {
        self.slots.iter().find(|slot| slot.name == name)
    }

    /// The type of a value that is kept.
    pub(super) fn value_type(&self, name: &str) -> Option<String> {
        self.once.get(name).cloned().or_else(|| self.slot(name)?.ty.clone())
    }

    /// Whether a debugger is told that a variable of the source lies at `name`.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        let mut notes = self.function.instructions().filter(|instruction| instruction.is_declaration());
        notes.any(|note| note.operands().next() == Some(name))
    }

    /// Whether `name`, which `piece` makes, is used after a wait that comes next.
    pub(super) fn outlives(&self, piece: &Piece<'f>, name: &str) -> bool {
        let next = piece.next.iter().filter(|next| **next != 0);
        let mut next = next.filter_map(|next| self.pieces.get(*next));
        next.any(|piece| piece.live.contains(name))
    }

    /// The pieces that neighbours go through side by side after piece `number` has begun, until the group is together again.
    pub(super) fn side_by_side(&self, number: usize) -> BTreeSet<usize> {
        let (mut open, mut found) = (vec![number], BTreeSet::new());
        while let Some(piece) = open.pop().and_then(|number| self.pieces.get(number)) {
            let next = piece.next.iter().copied().filter(|next| *next != 0);
            let lanes = next.filter(|next| self.is_of_lanes(*next));
            open.extend(lanes.filter(|next| found.insert(*next)));
        }
        found
    }

    /// Whether piece `number` begins where neighbours wait for each other.
    pub(super) fn is_of_lanes(&self, number: usize) -> bool {
        self.pieces.get(number).is_some_and(|piece| matches!(piece.wait, Wait::Lanes(_)))
    }

    /// How often neighbours go round the loop that piece `number` is a round of.
    pub(super) fn rounds(&self, number: usize) -> Rounds {
        match self.pieces.get(number).map(|piece| piece.wait) {
            Some(Wait::Lanes(rounds)) => rounds,
            _ => Rounds::Equal,
        }
    }

    /// The source location of the wait before piece `number`.
    pub(super) fn location(&self, number: usize) -> Option<&'f str> {
        let mut waits = self.function.blocks.iter().filter_map(|block| match &block.end {
            End::Wait { location, .. } => Some(location.as_deref()),
            _ => None,
        });
        waits.nth(number.checked_sub(1)?)?
    }
}

/// The first piece starts at the entry, and one after each wait, in their order.
fn pieces<'f>(function: &'f Function, flow: &Flow) -> Vec<Piece<'f>> {
    let live = liveness::live_in(function, flow);
    let wait = |number: usize| match function.blocks.get(number).map(|block| &block.end) {
        Some(End::Wait { wait, .. }) => Some(*wait),
        _ => None,
    };
    let waits: Vec<usize> = (0..function.blocks.len()).filter(|number| wait(*number).is_some()).collect();
    let behind = waits.iter().filter_map(|number| Some((number.saturating_add(1), wait(*number)?)));
    let mut pieces = Vec::new();
    for (start, wait) in std::iter::once((0, Wait::Group)).chain(behind) {
        let blocks = flow.until_wait(start);
        let (mut next, mut made) = (BTreeSet::new(), BTreeSet::new());
        for block in &blocks {
            let Some(instructions) = function.blocks.get(*block) else { continue };
            match instructions.end {
                End::Wait { .. } => next.extend(waits.iter().position(|wait| wait == block).map(|at| at + 1)),
                End::Return => next.extend([0]),
                End::Jump(_) => {}
            }
            let results = instructions.instructions.iter().filter(|one| one.kind != Kind::Alloca);
            made.extend(results.filter_map(|instruction| instruction.result.as_deref()));
        }
        let live = live.get(start).cloned().unwrap_or_default();
        pieces.push(Piece { start, wait, blocks, next, live, made });
    }
    pieces
}
