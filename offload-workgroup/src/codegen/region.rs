//! The text of a parallel region: the blocks that one work-item executes between two barriers.

mod context;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;

pub(crate) use self::context::memory_type;

use crate::analysis::work_item_state::{StateLoad, axis, state_load, uses_local_id_address};
use crate::codegen::plan::{ParallelRegion, Plan, Storage};
use crate::codegen::versioning::RowVersion;
use crate::ir::function::{Block, Instruction, Opcode, Terminator};
use crate::ir::line::{Line, NameMap, without_metadata};
use crate::transforms::local_atomics;
use crate::transforms::vector_math::MATH_PREFIX;

/// The blocks of a region, and the text around them.
#[derive(Debug, Default)]
pub(crate) struct RegionText {
    /// Uniform values, before the work-item loops.
    pub(crate) head: String,
    /// Values of the work-item, before the first block.
    pub(crate) start: String,
    pub(crate) body: String,
    pub(crate) exits: Vec<Exit>,
    /// Stores behind the merge of all exits.
    pub(crate) end: String,
    /// Whether functions that read the local id from memory may be called.
    pub(crate) needs_local_id: bool,
    /// Values that are computed before the first block, operands first.
    pub(crate) rematerialized: Vec<String>,
}

/// An exit of a region.
#[derive(Debug)]
pub(crate) struct Exit {
    /// The block, as the text names it.
    pub(crate) block: String,
    /// The region that is next; 0 for the end.
    pub(crate) successor: usize,
}

/// Numbers of metadata nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nodes {
    /// `!{}`
    pub(crate) empty: u64,
    /// The access group of accesses that are independent between work-items.
    pub(crate) accesses: u64,
}

/// A copy of a region: one for the group, or one for each kind of chunk, or one for a version of its loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionCopy {
    pub(crate) region: usize,
    /// The suffix of names, behind `.p`.
    pub(crate) suffix: usize,
    /// The chunk that executes it; `None` for the group.
    pub(crate) chunk: Option<Chunk>,
    /// Whether it is for all lanes of a warp, in work-groups whose rows are divided into warps.
    pub(crate) is_warp: bool,
}

/// Neighbours in the first dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    /// The suffix of names, behind `.c`.
    pub(crate) suffix: usize,
    pub(crate) lanes: u64,
}

/// Writes one copy of a region.
struct RegionWriter<'p, 'f> {
    plan: &'p Plan<'f>,
    /// The suffix of the copy.
    number: usize,
    chunk: Option<Chunk>,
    is_warp: bool,
    region: &'p ParallelRegion<'f>,
    nodes: Nodes,
    /// The version of the loop that the copy is for, if it is one.
    version: Option<&'p RowVersion<'f>>,
    /// All values that instructions of the region use.
    used: BTreeSet<&'f str>,
    /// Values that are rematerialised before the first block.
    rematerialized: BTreeSet<&'f str>,
    /// Values that are live-in and defined again: which definition reaches a use is known at run time.
    redefined: BTreeSet<&'f str>,
    /// Values that the region defines and stores for its chunk.
    chunk_values: BTreeSet<&'f str>,
    /// Loads of redefined values, for the instruction that is written.
    loaded: BTreeMap<String, String>,
    loads: usize,
    text: RegionText,
}

/// The text of a copy of a region of `plan`, which may be for a version of its loop.
pub(crate) fn write_region<'f>(
    plan: &Plan<'f>,
    copy: RegionCopy,
    nodes: Nodes,
    version: Option<&RowVersion<'f>>,
) -> RegionText {
    let Some(region) = plan.regions.get(copy.region) else { return RegionText::default() };
    let used = used_values(plan, region);
    let mut rematerialized = BTreeSet::new();
    let mut redefined = BTreeSet::new();
    for name in region.live_in.intersection(&used) {
        if plan.values.rematerialized.contains_key(name) {
            rematerialized.insert(*name);
        } else if region.defined.contains(name) {
            redefined.insert(*name);
        }
    }
    // Also those that the region would load under a condition, from where LLVM does not hoist them.
    let arguments = plan.values.arguments.intersection(&used);
    rematerialized.extend(arguments.filter(|name| plan.values.rematerialized.contains_key(*name)));
    let mut chunk_values = BTreeSet::new();
    for slot in region.defined.iter().filter_map(|name| plan.slot(name)) {
        if slot.storage == Storage::Chunk && plan.is_live_out(region, slot.name) {
            chunk_values.insert(slot.name);
        }
    }
    let mut writer = RegionWriter {
        plan,
        number: copy.suffix,
        chunk: copy.chunk,
        is_warp: copy.is_warp,
        region,
        nodes,
        version,
        used,
        rematerialized,
        redefined,
        chunk_values,
        loaded: BTreeMap::new(),
        loads: 0,
        // The address of the local id can be computed in one region, and loaded from in another.
        text: RegionText { needs_local_id: plan.uses_local_id_address, ..RegionText::default() },
    };
    writer.write_head_and_start();
    writer.write_body();
    writer.store_cells();
    writer.text
}

/// The values that a region uses, except in debug records and lifetime markers.
pub(crate) fn used_values<'f>(plan: &Plan<'f>, region: &ParallelRegion<'f>) -> BTreeSet<&'f str> {
    let mut used = BTreeSet::new();
    for block in region.blocks.iter().filter_map(|number| plan.function.blocks.get(*number)) {
        for instruction in block.instructions.iter().filter(|instruction| !instruction.is_marker()) {
            used.extend(instruction.operands());
            used.extend(instruction.incoming.iter().flat_map(|incoming| incoming.value.values()));
        }
        if let Terminator::Branch(line) = &block.terminator {
            used.extend(line.values());
        }
    }
    used
}

impl NameMap for RegionWriter<'_, '_> {
    fn value(&self, name: &str) -> String {
        if name == self.plan.function.parameter {
            return "%offload.args".to_string();
        }
        if let Some(loaded) = self.loaded.get(name) {
            return loaded.clone();
        }
        let memory = &self.plan.memory;
        if memory.variables.contains(name) && !memory.live_across_barrier.contains(name) {
            format!("%{name}")
        } else {
            format!("%{name}.p{}", self.number)
        }
    }

    fn label(&self, name: &str) -> String {
        format!("{name}.p{}", self.number)
    }
}

impl<'f> RegionWriter<'_, 'f> {
    /// Writes the definitions of live-in values.
    fn write_head_and_start(&mut self) {
        let plan = self.plan;
        let region = self.region;
        let mut order = Vec::new();
        let mut collected = HashSet::new();
        for name in self.rematerialized.clone() {
            self.collect_operands(name, &mut collected, &mut order);
        }
        self.rematerialized.extend(order.iter().copied());
        self.text.rematerialized = order.iter().map(|name| name.to_string()).collect();
        for name in &plan.memory.live_across_barrier {
            self.write_variable_address(name);
        }
        for name in order {
            self.rematerialize(name);
        }
        let live_in: Vec<&str> = region.live_in.intersection(&self.used).copied().collect();
        for name in live_in {
            if !self.rematerialized.contains(name) {
                self.load_live_in(name);
            }
        }
        self.load_cells();
        let number = self.number;
        for name in &region.defined {
            let Some(ty) = plan.group_values.get(name) else { continue };
            let _ = writeln!(
                self.text.head,
                "  %{name}.p{number}.now = load {ty}, ptr %offload.once.{name}\n  store {ty} %{name}.p{number}.now, ptr %offload.next.{name}"
            );
        }
    }

    /// Adds to `order` the operands of `name`, recursively, and then `name`.
    fn collect_operands(&self, name: &'f str, collected: &mut HashSet<&'f str>, order: &mut Vec<&'f str>) {
        if name == self.plan.function.parameter || !collected.insert(name) {
            return;
        }
        let Some(definition) = self.plan.values.definitions.get(name) else { return };
        for operand in definition.instruction.operands() {
            self.collect_operands(operand, collected, order);
        }
        order.push(name);
    }

    /// Writes the address of a private variable in the context.
    fn write_variable_address(&mut self, name: &str) {
        let is_declared = self.plan.is_declared(name);
        let is_used = self.used.contains(name) || self.rematerialized.contains(name);
        if !is_declared && !is_used {
            return;
        }
        let Some(slot) = self.plan.slot(name) else { return };
        let size = self.plan.stride(slot);
        let number = self.number;
        let _ = writeln!(
            self.text.start,
            "  %{name}.p{number} = getelementptr inbounds [{size} x i8], ptr %offload.slot.{name}, i64 %offload.i.p{number}"
        );
        if is_declared {
            let _ = writeln!(self.text.start, "  store ptr %{name}.p{number}, ptr %offload.shown.{name}");
        }
    }

    /// Writes the instruction that defines `name` again.
    fn rematerialize(&mut self, name: &str) {
        let Some(definition) = self.plan.values.definitions.get(name).copied() else { return };
        if definition.instruction.opcode == Opcode::Alloca {
            return;
        }
        let text = self.instruction_text(name, definition.instruction);
        let is_uniform = self.plan.values.uniform.contains(name);
        let out = if is_uniform { &mut self.text.head } else { &mut self.text.start };
        let _ = writeln!(out, "  {text}");
    }

    fn write_body(&mut self) {
        let plan = self.plan;
        for number in &self.region.blocks {
            let Some(block) = plan.function.blocks.get(*number) else { continue };
            let _ = writeln!(self.text.body, "{}:", self.label(&block.name));
            for phi in block.instructions.iter().filter(|one| one.opcode == Opcode::Phi) {
                self.write_phi(phi);
            }
            for phi in block.instructions.iter().filter(|one| one.opcode == Opcode::Phi) {
                self.store_live_out(phi.result.as_deref().unwrap_or_default());
            }
            for instruction in block.instructions.iter().filter(|one| one.opcode != Opcode::Phi) {
                self.write_instruction(instruction);
            }
            self.write_terminator(*number, block);
        }
    }

    fn write_instruction(&mut self, instruction: &'f Instruction) {
        let name = instruction.result.as_deref().unwrap_or_default();
        match instruction.opcode {
            Opcode::Alloca | Opcode::Lifetime(_) => return,
            Opcode::DebugRecord => return self.write_debug_record(instruction),
            _ if self.rematerialized.contains(name) => return,
            _ => {}
        }
        self.load_redefined(instruction.operands());
        let may_call_reader = instruction.opcode == Opcode::Call && may_read_local_id(&instruction.line);
        self.text.needs_local_id |= may_call_reader || uses_local_id_address(instruction);
        let mut text = self.instruction_text(name, instruction);
        self.loaded.clear();
        if self.is_independent(instruction) {
            let _ = write!(text, ", !llvm.access.group !{}", self.nodes.accesses);
        }
        let lines = match instruction.opcode {
            Opcode::LocalAtomic => local_atomics::expand(&text),
            _ => vec![text],
        };
        for line in lines {
            let _ = writeln!(self.text.body, "  {line}");
        }
        self.store_live_out(name);
    }

    /// Whether `instruction` is an access that is independent between work-items, and can have an access group.
    fn is_independent(&self, instruction: &Instruction) -> bool {
        let word = match instruction.opcode {
            Opcode::Load => "load",
            Opcode::Store => "store",
            _ => return false,
        };
        let line = &instruction.line;
        !line.contains(&format!("{word} volatile"))
            && !line.contains(&format!("{word} atomic"))
            && !line.contains("!llvm.access.group")
            && !self.plan.memory.may_access_reused(instruction)
    }

    /// The text of an instruction other than a phi.
    fn instruction_text(&self, name: &str, instruction: &Instruction) -> String {
        if let Some(state) = state_load(instruction) {
            let register = match state {
                StateLoad::LocalId { dimension } => format!("%offload.{}.p{}", axis(dimension), self.number),
                StateLoad::Group { field, dimension: 0 } if self.is_warp && field.name == "local_size" => {
                    "%offload.width.of.warps".to_string()
                }
                StateLoad::Group { field, dimension } => format!("%offload.{}.{dimension}", field.name),
            };
            return format!("{} = add i64 {register}, 0", self.value(name));
        }
        if let Some(text) = self.version.and_then(|version| version.replacement(name, self)) {
            return format!("%{name}.p{} = {text}", self.number);
        }
        let mut text = instruction.line.render(self);
        // Accesses that do not alias in one inlined call may alias in another, and the calls of all work-items are in one
        // function now.
        for metadata in ["alias.scope", "noalias", "invariant.load"] {
            text = without_metadata(&text, metadata);
        }
        // Of all loads, only those of arguments are rematerialised: nothing writes there while a group runs.
        if instruction.opcode == Opcode::Load && self.plan.values.rematerialized.contains_key(name) {
            let _ = write!(text, ", !invariant.load !{}", self.nodes.empty);
        }
        if name.is_empty() { text } else { format!("%{name}.p{} = {text}", self.number) }
    }

    /// Writes a debug record whose operands are available. Variables in memory are declared once for all regions.
    fn write_debug_record(&mut self, record: &Instruction) {
        if !record.is_debug_declaration() && record.operands().all(|name| self.is_available(name)) {
            let _ = writeln!(self.text.body, "    {}", record.line.render(self));
        }
    }

    fn is_available(&self, name: &str) -> bool {
        let is_loaded = self.region.live_in.contains(name) && self.used.contains(name);
        (self.region.defined.contains(name) || is_loaded) && !self.redefined.contains(name)
    }

    fn write_terminator(&mut self, number: usize, block: &'f Block) {
        let label = self.label(&block.name);
        let successor = match &block.terminator {
            Terminator::Branch(line) => {
                self.load_redefined(line.values());
                self.load_for_phis(number, block);
                let text = line.render(self);
                self.loaded.clear();
                let _ = writeln!(self.text.body, "  {text}");
                return;
            }
            Terminator::Return => 0,
            Terminator::Barrier { .. } => {
                self.plan.region_starting_at(number.saturating_add(1)).unwrap_or_default()
            }
        };
        let _ = writeln!(self.text.body, "  br label %offload.end.p{}", self.number);
        self.text.exits.push(Exit { block: label, successor });
    }
}

/// Whether a call may reach a function that reads the local id.
fn may_read_local_id(line: &Line) -> bool {
    !line.contains(" @llvm.") && !line.contains(MATH_PREFIX)
}
