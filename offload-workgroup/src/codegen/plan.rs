//! Division of a work-item function into parallel regions, and the layout of the context: the storage of values and
//! private variables that are live across a barrier.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::analysis::conflicts::{Conflicts, Interleaving};
use crate::analysis::control_flow::ControlFlowGraph;
use crate::analysis::liveness;
use crate::analysis::private_memory::PrivateMemory;
use crate::analysis::values::Values;
use crate::analysis::work_item_state::uses_local_id_address;
use crate::ir::function::{BarrierScope, Function, Iterations, Opcode, Scheduling, Terminator};
use crate::ir::{Layout, Types, after_word};
use crate::options::Validity;

/// The alignment of the context that callers provide, in bytes.
const CONTEXT_ALIGNMENT: u64 = 128;

/// A work-item function that is divided into parallel regions.
#[derive(Debug)]
pub(crate) struct Plan<'f> {
    pub(crate) function: &'f Function,
    pub(crate) values: Values<'f>,
    pub(crate) memory: PrivateMemory<'f>,
    pub(crate) regions: Vec<ParallelRegion<'f>>,
    pub(crate) cfg: ControlFlowGraph,
    /// The numbers of the blocks, by name.
    pub(crate) block_numbers: HashMap<&'f str, usize>,
    /// Slots of each work-item, in the order of the context.
    pub(crate) slots: Vec<ContextSlot<'f>>,
    /// The positions of the slots, by name.
    slot_positions: HashMap<&'f str, usize>,
    /// Uniform values that are live across a barrier, with their types: one variable for the group.
    pub(crate) group_values: BTreeMap<&'f str, String>,
    /// Bytes of the context for each work-item.
    pub(crate) context_size: u64,
    /// The alignment of the context, where that is more than callers provide.
    pub(crate) context_alignment: Option<u64>,
    pub(crate) context_layout: ContextLayout,
    pub(crate) interleaving: Interleaving,
    /// Whether the address of the local id is used otherwise than by loads that are known.
    pub(crate) uses_local_id_address: bool,
    /// Variables and values that debug information declares as variables of the source.
    declared: HashSet<&'f str>,
    /// The source location of the barrier before each region.
    locations: Vec<Option<&'f str>>,
    /// The position of each region in the order in which a warp executes those that are due.
    schedule: Vec<u32>,
    pub(crate) validity: Validity,
}

/// Flags in the code of a region that is due. Without one it is executed at once.
pub(crate) mod due {
    /// It begins with a barrier of the whole warp.
    pub(crate) const WARP: u32 = 1 << 30;
    /// It begins with a barrier of the block.
    pub(crate) const BLOCK: u32 = 2 << 30;
    /// The work-item has returned.
    pub(crate) const RETURNED: u32 = 3 << 30;
}

/// Bytes of a code that says which region is due.
const DUE_SIZE: u64 = 4;

/// The blocks that a work-item executes from one barrier to the next.
#[derive(Debug)]
pub(crate) struct ParallelRegion<'f> {
    pub(crate) start: usize,
    /// The scope of the barrier before it; the first region begins with the group.
    pub(crate) scope: BarrierScope,
    pub(crate) blocks: BTreeSet<usize>,
    /// The regions that can be next, by number; 0 stands for the end.
    pub(crate) successors: BTreeSet<usize>,
    /// Values that are live at its start.
    pub(crate) live_in: BTreeSet<&'f str>,
    /// Values that it defines.
    pub(crate) defined: BTreeSet<&'f str>,
}

/// The storage of a value or a variable for each work-item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextSlot<'f> {
    pub(crate) name: &'f str,
    pub(crate) storage: Storage,
    /// The type of a value; `None` for a private variable.
    pub(crate) ty: Option<String>,
    pub(crate) layout: Layout,
    /// The offset in bytes among the slots of one work-item.
    pub(crate) offset: u64,
}

/// The place of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// The context, which has room for all work-items of a group.
    Context,
    /// A variable for the work-items of a chunk, which the code generator keeps in registers.
    Chunk,
}

/// The order of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextLayout {
    /// An array for each slot, for work-item loops that are vectorised.
    StructOfArrays,
    /// The slots of a work-item side by side. In a kernel with vectors of its own, and without interchanged loops, work-item
    /// loops are not vectorised, and neighbouring slots of a work-item can become vectors.
    ArrayOfStructs,
}

impl<'f> Plan<'f> {
    /// Analyses `function`. The error names a value without a known size.
    pub(crate) fn new(
        function: &'f Function,
        types: &Types<'_>,
        local_arrays: &BTreeSet<&str>,
        validity: Validity,
    ) -> Result<Plan<'f>, String> {
        let cfg = ControlFlowGraph::new(function, validity);
        let values = Values::new(function, &cfg);
        let memory = PrivateMemory::new(function, &cfg);
        let regions = regions(function, &cfg);
        let schedule = match function.scheduling {
            Scheduling::Lockstep => Vec::new(),
            Scheduling::Independent => schedule(&regions, &cfg),
        };
        let conflicts = Conflicts { function, cfg: &cfg, values: &values, types, local_arrays };
        let interleaving = conflicts.interleaving();
        let declarations = function.instructions().filter(|instruction| instruction.is_debug_declaration());
        let mut declared = HashSet::new();
        declared.extend(declarations.filter_map(|declaration| declaration.operands().next()));
        let mut plan = Plan {
            function,
            values,
            memory,
            regions,
            cfg,
            block_numbers: function.block_numbers(),
            slots: Vec::new(),
            slot_positions: HashMap::new(),
            group_values: BTreeMap::new(),
            context_size: 0,
            context_alignment: None,
            context_layout: ContextLayout::StructOfArrays,
            interleaving,
            uses_local_id_address: function.instructions().any(uses_local_id_address),
            declared,
            locations: locations(function),
            schedule,
            validity,
        };
        plan.allocate_slots(types)?;
        plan.assign_offsets()?;
        let slots = plan.slots.iter().enumerate();
        plan.slot_positions.extend(slots.map(|(position, slot)| (slot.name, position)));
        plan.context_layout = plan.choose_layout();
        Ok(plan)
    }

    /// Bytes of the slots for each work-item before the array of due regions, which has a code for each.
    pub(crate) fn due_offset(&self) -> u64 {
        self.context_size.checked_next_multiple_of(DUE_SIZE).unwrap_or(u64::MAX)
    }

    /// Bytes that a launch provides for each work-item.
    pub(crate) fn frame_size(&self) -> u64 {
        match self.function.scheduling {
            Scheduling::Lockstep => self.context_size,
            Scheduling::Independent => self.due_offset().saturating_add(DUE_SIZE),
        }
    }

    fn allocate_slots(&mut self, types: &Types<'_>) -> Result<(), String> {
        let mut live: BTreeSet<&str> = BTreeSet::new();
        let mut live_in_group: HashSet<&str> = HashSet::new();
        for region in &self.regions {
            live.extend(&region.live_in);
            if region.scope == BarrierScope::Group {
                live_in_group.extend(&region.live_in);
            }
        }
        for name in live {
            if self.values.rematerialized.contains_key(name) {
                continue;
            }
            let definition = self.values.definitions.get(name).ok_or_else(|| unknown_size(name))?;
            let ty = types.result(&definition.instruction.line.text()).ok_or_else(|| unknown_size(name))?;
            // Work-items that are scheduled independently are not in the same iteration of a loop.
            if self.values.uniform.contains(name) && self.function.scheduling == Scheduling::Lockstep {
                self.group_values.insert(name, ty);
                continue;
            }
            let layout = types.layout(&ty).ok_or_else(|| unknown_size(name))?;
            // A value that is live only across barriers of a chunk is stored for that chunk.
            let is_of_chunk =
                self.function.scheduling == Scheduling::Lockstep && !live_in_group.contains(name);
            let storage = if is_of_chunk { Storage::Chunk } else { Storage::Context };
            self.slots.push(ContextSlot { name, storage, ty: Some(ty), layout, offset: 0 });
        }
        for name in &self.memory.live_across_barrier {
            let definition = self.values.definitions.get(name).ok_or_else(|| unknown_size(name))?;
            let text = definition.instruction.line.text();
            let layout = after_word(&text).and_then(|alloca| types.alloca(alloca));
            let layout = layout.ok_or_else(|| unknown_size(name))?;
            self.slots.push(ContextSlot { name, storage: Storage::Context, ty: None, layout, offset: 0 });
        }
        Ok(())
    }

    /// Assigns offsets by descending alignment: then every array starts aligned, whatever the number of work-items.
    fn assign_offsets(&mut self) -> Result<(), String> {
        let results = self.function.instructions().filter_map(|instruction| instruction.result.as_deref());
        let mut order: HashMap<&str, usize> = HashMap::new();
        order.extend(results.zip(0..));
        self.slots.sort_by_key(|slot| (std::cmp::Reverse(slot.layout.align), order.get(slot.name).copied()));
        let mut offset = 0u64;
        let mut alignment = None;
        for slot in self.slots.iter_mut().filter(|slot| slot.storage == Storage::Context) {
            slot.offset = offset;
            let size = slot.layout.size.checked_next_multiple_of(slot.layout.align);
            slot.layout.size = size.ok_or("a private array is too large")?;
            offset = offset.checked_add(slot.layout.size).ok_or("private arrays are too large")?;
            alignment = alignment.or(Some(slot.layout.align));
        }
        let alignment = alignment.unwrap_or(1);
        self.context_size =
            offset.checked_next_multiple_of(alignment).ok_or("private arrays are too large")?;
        if alignment > CONTEXT_ALIGNMENT {
            self.context_alignment = Some(alignment);
            self.context_size =
                self.context_size.checked_add(alignment).ok_or("private arrays are too large")?;
        }
        Ok(())
    }

    fn choose_layout(&self) -> ContextLayout {
        /// Slots up to which vectors of them do not pay off.
        const FEW_SLOTS: usize = 8;
        if self.function.has_interchanged_loops || self.slots.len() <= FEW_SLOTS {
            return ContextLayout::StructOfArrays;
        }
        let mut instructions = self.function.instructions().filter(|instruction| !instruction.is_marker());
        if instructions.any(|instruction| instruction.line.contains("<")) {
            ContextLayout::ArrayOfStructs
        } else {
            ContextLayout::StructOfArrays
        }
    }

    /// The distance in bytes between the slots of two neighbours.
    pub(crate) fn stride(&self, slot: &ContextSlot<'_>) -> u64 {
        match self.context_layout {
            ContextLayout::StructOfArrays => slot.layout.size,
            ContextLayout::ArrayOfStructs => self.context_size,
        }
    }

    /// The slot of a value or a variable.
    pub(crate) fn slot(&self, name: &str) -> Option<&ContextSlot<'f>> {
        self.slots.get(self.slot_position(name)?)
    }

    /// The position of the slot of a value or a variable among all.
    pub(crate) fn slot_position(&self, name: &str) -> Option<usize> {
        self.slot_positions.get(name).copied()
    }

    /// The type of a value that is live across a barrier.
    pub(crate) fn value_type(&self, name: &str) -> Option<String> {
        self.group_values.get(name).cloned().or_else(|| self.slot(name)?.ty.clone())
    }

    /// Whether debug information declares a variable of the source at `name`.
    pub(crate) fn is_declared(&self, name: &str) -> bool {
        self.declared.contains(name)
    }

    /// Whether `name`, which `region` defines, is live across a barrier at its end.
    pub(crate) fn is_live_out(&self, region: &ParallelRegion<'f>, name: &str) -> bool {
        let successors = region.successors.iter().filter(|successor| **successor != 0);
        let mut successors = successors.filter_map(|successor| self.regions.get(*successor));
        successors.any(|successor| successor.live_in.contains(name))
    }

    /// The regions that a chunk executes behind region `number` until the next barrier of the group.
    pub(crate) fn chunk_regions(&self, number: usize) -> BTreeSet<usize> {
        let mut open = vec![number];
        let mut found = BTreeSet::new();
        while let Some(region) = open.pop().and_then(|number| self.regions.get(number)) {
            for successor in region.successors.iter().copied().filter(|successor| *successor != 0) {
                if self.begins_in_chunk(successor) && found.insert(successor) {
                    open.push(successor);
                }
            }
        }
        found
    }

    /// Whether region `number` begins with a barrier of a chunk.
    pub(crate) fn begins_in_chunk(&self, number: usize) -> bool {
        self.regions.get(number).is_some_and(|region| matches!(region.scope, BarrierScope::Chunk(_)))
    }

    /// The iterations that a chunk executes of the loop whose body is region `number`.
    pub(crate) fn iterations(&self, number: usize) -> Iterations {
        match self.regions.get(number).map(|region| region.scope) {
            Some(BarrierScope::Chunk(iterations)) => iterations,
            _ => Iterations::Uniform,
        }
    }

    /// The number of the region that begins with block `start`.
    pub(crate) fn region_starting_at(&self, start: usize) -> Option<usize> {
        // Regions are in the order of their first blocks.
        self.regions.binary_search_by_key(&start, |region| region.start).ok()
    }

    /// The position of region `number` in the order in which a warp executes those that are due; 0 for the first.
    pub(crate) fn schedule_position(&self, number: usize) -> u32 {
        self.schedule.get(number).copied().unwrap_or(0)
    }

    /// The code of `successor`, 0 for the end.
    pub(crate) fn due_code(&self, successor: usize) -> u32 {
        let Some(region) = self.regions.get(successor).filter(|_| successor != 0) else {
            return due::RETURNED;
        };
        let flag = match region.scope {
            BarrierScope::Warp => due::WARP,
            BarrierScope::Lanes => 0,
            BarrierScope::Group | BarrierScope::Chunk(_) => due::BLOCK,
        };
        flag | self.schedule_position(successor)
    }

    /// The source location of the barrier before region `number`.
    pub(crate) fn location(&self, number: usize) -> Option<&'f str> {
        self.locations.get(number.checked_sub(1)?).copied().flatten()
    }
}

fn unknown_size(name: &str) -> String {
    format!("the value %{name} has no size that is known")
}

/// The position of each region in [`ControlFlowGraph::convergence_order`] of the barriers: a lane waits for those that may
/// still come to its barrier.
fn schedule(regions: &[ParallelRegion<'_>], cfg: &ControlFlowGraph) -> Vec<u32> {
    let mut schedule = vec![0; regions.len()];
    let mut position = 0u32;
    for block in cfg.convergence_order() {
        let behind = regions.binary_search_by_key(&block.saturating_add(1), |region| region.start);
        let ends_region = cfg.has_barrier(block);
        let Some(scheduled) = behind.ok().filter(|_| ends_region).and_then(|number| schedule.get_mut(number))
        else {
            continue;
        };
        position = position.saturating_add(1);
        *scheduled = position;
    }
    schedule
}

/// The source locations of the barriers, in their order.
fn locations(function: &Function) -> Vec<Option<&str>> {
    let mut locations = Vec::new();
    for block in &function.blocks {
        if let Terminator::Barrier { location, .. } = &block.terminator {
            locations.push(location.as_deref());
        }
    }
    locations
}

/// The parallel regions: the first starts at the entry, and one behind each barrier, in their order.
fn regions<'f>(function: &'f Function, cfg: &ControlFlowGraph) -> Vec<ParallelRegion<'f>> {
    // The region behind each block with a barrier.
    let mut behind = HashMap::new();
    let mut starts = vec![(0, BarrierScope::Group)];
    for (number, block) in function.blocks.iter().enumerate() {
        if let Terminator::Barrier { scope, .. } = block.terminator {
            behind.insert(number, starts.len());
            starts.push((number.saturating_add(1), scope));
        }
    }
    let start_blocks = starts.iter().map(|(start, _)| *start).collect();
    let mut live_in = liveness::live_in(function, cfg, &start_blocks);
    let mut regions = Vec::new();
    for (start, scope) in starts {
        let blocks = cfg.region_blocks(start);
        let mut successors = BTreeSet::new();
        let mut defined = BTreeSet::new();
        for number in &blocks {
            let Some(block) = function.blocks.get(*number) else { continue };
            match block.terminator {
                Terminator::Barrier { .. } => {
                    successors.extend(behind.get(number));
                }
                Terminator::Return => {
                    successors.insert(0);
                }
                Terminator::Branch(_) => {}
            }
            let instructions = block.instructions.iter().filter(|one| one.opcode != Opcode::Alloca);
            defined.extend(instructions.filter_map(|instruction| instruction.result.as_deref()));
        }
        let live_in = live_in.remove(&start).unwrap_or_default();
        regions.push(ParallelRegion { start, scope, blocks, successors, live_in, defined });
    }
    regions
}
