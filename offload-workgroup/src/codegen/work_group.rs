//! The work-group function: a work-item loop for each parallel region.

mod chunk_copy;
mod chunk_loop;
mod chunk_region;
mod dispatch;
mod independent;
mod row_version;
mod short_row;
mod successors;
mod vector_loop;
mod warp_version;

pub(crate) use self::dispatch::merge_text;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use self::chunk_region::ChunkRegion;
use self::successors::{GROUP_SCOPE, Successors};
use crate::WORK_GROUP_PREFIX;
use crate::analysis::strides::Strides;
use crate::analysis::work_item_state::{GROUP_FIELDS, SUB_GROUP_SIZE, axis};
use crate::codegen::plan::{ContextLayout, Plan, Storage};
use crate::codegen::region::{Nodes, RegionCopy, RegionText, write_region};
use crate::codegen::vector_region::VectorRegion;
use crate::ir::Types;
use crate::ir::function::{Opcode, Scheduling};
use crate::ir::line::{Line, NameMap};
use crate::options::Validity;

/// The offset of `frame`, the context, in `struct offload_group`.
const CONTEXT_OFFSET: u64 = 144;

/// The parameters of a work-group function.
const PARAMETERS: &str = "ptr noundef %offload.group, ptr noundef %offload.args, ptr noundef %offload.first, ptr noundef %offload.last";

/// A kernel, as far as its work-group function depends on it beside the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkGroupContext<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) required_work_group: Option<[u32; 3]>,
    /// The size that most work-groups have.
    pub(crate) usual_work_group: Option<[u32; 3]>,
    /// Whether there are versions of the function, and of regions for warps.
    pub(crate) has_versions: bool,
    /// The work-items of a warp.
    pub(crate) warp_size: u32,
    /// Whether functions that are not inlined may load the size of sub-groups.
    pub(crate) has_sub_groups: bool,
    /// The attribute group of the function.
    pub(crate) attributes: u64,
    /// The first free number of a metadata node.
    pub(crate) first_node: u64,
    /// The lines of source locations, by node.
    pub(crate) lines: &'a BTreeMap<String, u32>,
    /// Bits of the CPU's vectors.
    pub(crate) vector_bits: u32,
    /// Whether regions with divergent loops are vectorised.
    pub(crate) has_vector_regions: bool,
    pub(crate) types: &'a Types<'a>,
}

/// A work-group function and its metadata.
#[derive(Debug)]
pub(crate) struct WorkGroupText {
    pub(crate) function: String,
    pub(crate) metadata: String,
    pub(crate) next_node: u64,
    /// Whether a region is vectorised.
    pub(crate) has_vector_regions: bool,
    /// Whether one uses vectors of 512 bits.
    pub(crate) has_wide_regions: bool,
}

/// The text of the work-group function of a kernel that `plan` divides into regions.
pub(crate) fn write_work_group_function(plan: &Plan<'_>, context: &WorkGroupContext<'_>) -> WorkGroupText {
    let kernel = context.kernel;
    let frame =
        format!("@__offload_frame_{kernel} = constant i64 {size}, align 8\n", size = plan.frame_size());
    let Some(size) = usual_work_group(plan, context) else {
        let mut text = write_version(plan, context, &format!("i32 @{WORK_GROUP_PREFIX}{kernel}"));
        text.function.insert_str(0, &frame);
        return text;
    };
    let sized = WorkGroupContext { required_work_group: Some(size), ..*context };
    let mut text = write_version(plan, &sized, &format!("internal i32 @__offload_usual_{kernel}"));
    let other = WorkGroupContext { first_node: text.next_node, ..*context };
    let other = write_version(plan, &other, &format!("internal i32 @__offload_other_{kernel}"));
    text.function = format!("{frame}{}{}{}", text.function, other.function, choice(context, size));
    text.metadata.push_str(&other.metadata);
    text.next_node = other.next_node;
    text
}

/// The size of work-groups that there is a version for.
fn usual_work_group(plan: &Plan<'_>, context: &WorkGroupContext<'_>) -> Option<[u32; 3]> {
    /// More instructions are compiled faster than they run.
    const MAX_INSTRUCTIONS: usize = 2000;
    let is_useful = context.required_work_group.is_none()
        && context.has_versions
        && plan.validity == Validity::Assumed
        // Two functions cannot share what debuggers know of one.
        && plan.function.debug.is_none()
        && plan.function.instructions().count() <= MAX_INSTRUCTIONS;
    context.usual_work_group.filter(|_| is_useful)
}

/// A version of the function.
fn write_version(plan: &Plan<'_>, context: &WorkGroupContext<'_>, result_and_name: &str) -> WorkGroupText {
    let mut writer = FunctionWriter {
        plan,
        context,
        body: String::new(),
        metadata: String::new(),
        node: context.first_node,
        vector_regions: BTreeMap::new(),
        has_vector_regions: false,
        has_wide_regions: false,
        strides: OnceCell::new(),
    };
    let empty = writer.new_node();
    let _ = writeln!(writer.metadata, "!{empty} = !{{}}");
    match plan.function.scheduling {
        Scheduling::Lockstep => writer.write_regions(empty),
        Scheduling::Independent => writer.write_independent_regions(empty),
    }
    let debug = plan.function.debug.as_deref().map(|node| format!(" !dbg {node}")).unwrap_or_default();
    let function = format!(
        "define {result_and_name}({PARAMETERS}) #{attributes}{debug} {{\n{body}\
         offload.leave:\n  call void @__offload_end()\n  %offload.result = load i32, ptr %offload.status\n  \
         ret i32 %offload.result\n}}\n",
        attributes = context.attributes,
        body = writer.body,
    );
    WorkGroupText {
        function,
        metadata: writer.metadata,
        next_node: writer.node,
        has_vector_regions: writer.has_vector_regions,
        has_wide_regions: writer.has_wide_regions,
    }
}

/// The function that calls the version for work-groups of the usual `size`, or the other.
fn choice(context: &WorkGroupContext<'_>, size: [u32; 3]) -> String {
    let WorkGroupContext { kernel, attributes, .. } = context;
    let mut checks = String::new();
    let mut all = "true".to_string();
    for (dimension, size) in size.iter().enumerate() {
        let numbers = [("group", 48, *size), ("first", 0, 0), ("last", 0, *size)];
        for (parameter, start, expected) in numbers {
            let name = format!("%offload.{parameter}.{dimension}");
            let offset = dimension.saturating_mul(8).saturating_add(start);
            let _ = write!(
                checks,
                "  {name}.at = getelementptr inbounds i8, ptr %offload.{parameter}, i64 {offset}\n  \
                 {name} = load i64, ptr {name}.at, align 8\n  \
                 {name}.is = icmp eq i64 {name}, {expected}\n  \
                 {name}.all = and i1 {all}, {name}.is\n"
            );
            all = format!("{name}.all");
        }
    }
    format!(
        "define i32 @{WORK_GROUP_PREFIX}{kernel}({PARAMETERS}) #{attributes} {{\n{checks}  \
         br i1 {all}, label %offload.usual, label %offload.other\n\
         offload.usual:\n  %offload.usual.result = tail call i32 @__offload_usual_{kernel}({PARAMETERS})\n  \
         ret i32 %offload.usual.result\n\
         offload.other:\n  %offload.other.result = tail call i32 @__offload_other_{kernel}({PARAMETERS})\n  \
         ret i32 %offload.other.result\n}}\n"
    )
}

struct FunctionWriter<'w, 'p> {
    plan: &'w Plan<'p>,
    context: &'w WorkGroupContext<'w>,
    body: String,
    metadata: String,
    node: u64,
    /// The vectorised regions, by number.
    vector_regions: BTreeMap<usize, VectorRegion>,
    has_vector_regions: bool,
    has_wide_regions: bool,
    strides: OnceCell<Strides<'w>>,
}

impl FunctionWriter<'_, '_> {
    /// Writes the regions for work-items that execute the same one.
    fn write_regions(&mut self, empty: u64) {
        let plan = self.plan;
        self.find_vector_regions(empty);
        self.write_prologue(empty);
        self.body.push_str("  br label %offload.begin.p0\n");
        for number in (0..plan.regions.len()).filter(|number| !plan.begins_in_chunk(*number)) {
            if let Some(chunk_region) = ChunkRegion::starting_at(plan, number) {
                self.write_chunk_loops(&chunk_region, empty);
                continue;
            }
            let accesses = self.new_access_group();
            let copy = RegionCopy { region: number, suffix: number, chunk: None, is_warp: false };
            let text = write_region(plan, copy, Nodes { empty, accesses }, None);
            self.write_work_item_loops(copy, &text, Nodes { empty, accesses });
        }
    }

    fn new_node(&mut self) -> u64 {
        let node = self.node;
        self.node = node.saturating_add(1);
        node
    }

    fn new_access_group(&mut self) -> u64 {
        let accesses = self.new_node();
        let _ = writeln!(self.metadata, "!{accesses} = distinct !{{}}");
        accesses
    }

    fn write_prologue(&mut self, empty: u64) {
        self.body.push_str("offload.entry:\n");
        for name in ["status", "least", "most", "lane.least", "lane.most"] {
            let _ = writeln!(self.body, "  %offload.{name} = alloca i32");
        }
        self.write_allocas();
        self.body.push_str(
            "  store i32 0, ptr %offload.status\n  call void @__offload_begin(ptr %offload.group)\n",
        );
        if self.context.has_sub_groups {
            let size = self.context.warp_size;
            let _ = writeln!(self.body, "  store i64 {size}, ptr @{SUB_GROUP_SIZE}, align 8");
        }
        for field in GROUP_FIELDS {
            for dimension in 0..field.dimensions {
                let offset = field.offset.saturating_add(dimension.saturating_mul(8));
                let name = format!("%offload.{}.{dimension}", field.name);
                let is_required = ["local_size", "enqueued_local_size"].contains(&field.name);
                let constant = self.required_size(dimension).filter(|_| is_required);
                self.write_group_number(&name, constant, &format!("ptr %offload.group, i64 {offset}"), empty);
            }
        }
        for dimension in 0..3u64 {
            let size = self.required_size(dimension);
            let offset = dimension.saturating_mul(8);
            let first = format!("%offload.first.{dimension}");
            let address = format!("ptr %offload.first, i64 {offset}");
            self.write_group_number(&first, size.map(|_| 0), &address, empty);
            let last = format!("%offload.last.{dimension}");
            let address = format!("ptr %offload.last, i64 {offset}");
            self.write_group_number(&last, size, &address, empty);
        }
        self.write_context_arrays();
    }

    /// The size that the kernel requires of its work-groups.
    fn required_size(&self, dimension: u64) -> Option<u64> {
        let required = self.context.required_work_group?;
        required.get(usize::try_from(dimension).ok()?).map(|size| u64::from(*size))
    }

    /// Writes a number of the group, as a constant or as a load.
    fn write_group_number(&mut self, name: &str, constant: Option<u64>, address: &str, empty: u64) {
        let _ = match constant {
            Some(value) => writeln!(self.body, "  {name} = add i64 {value}, 0"),
            None => writeln!(
                self.body,
                "  {name}.at = getelementptr inbounds i8, {address}\n  {name} = load i64, ptr {name}.at, align 8, !invariant.load !{empty}"
            ),
        };
    }

    /// Writes the allocas of private variables that all work-items reuse, of uniform values, of cells and of chunks, and the
    /// debug declarations of all variables.
    fn write_allocas(&mut self) {
        let plan = self.plan;
        for instruction in plan.function.instructions().filter(|one| one.opcode == Opcode::Alloca) {
            let Some(name) = instruction.result.as_deref() else { continue };
            if !plan.memory.live_across_barrier.contains(name) {
                let _ = writeln!(self.body, "  %{name} = {}", instruction.line.text());
            } else if plan.is_declared(name) {
                let _ = writeln!(self.body, "  %offload.shown.{name} = alloca ptr");
            }
        }
        for (name, ty) in &plan.group_values {
            let _ = writeln!(
                self.body,
                "  %offload.once.{name} = alloca {ty}\n  %offload.next.{name} = alloca {ty}"
            );
        }
        let values = plan.group_values.keys().copied().chain(plan.slots.iter().map(|slot| slot.name));
        for name in values {
            if let Some(ty) = plan.value_type(name) {
                let _ = writeln!(self.body, "  %offload.cell.{name} = alloca {ty}");
            }
        }
        self.write_chunk_allocas();
        for region in self.vector_regions.values() {
            self.body.push_str(&region.allocas);
        }
        let records = plan.function.instructions().filter(|instruction| instruction.is_debug_declaration());
        for record in records {
            if let Some(text) = debug_declaration(plan, &record.line) {
                let _ = writeln!(self.body, "    {text}");
            }
        }
    }

    /// Writes the addresses of the arrays of the context.
    fn write_context_arrays(&mut self) {
        let has_slots = self.plan.slots.iter().any(|slot| slot.storage == Storage::Context);
        if !has_slots && self.plan.function.scheduling == Scheduling::Lockstep {
            return;
        }
        let context = match self.plan.context_alignment {
            None => "%offload.frame = load ptr, ptr %offload.frame.at, align 8".to_string(),
            Some(alignment) => format!(
                "%offload.frame.start = load ptr, ptr %offload.frame.at, align 8\n  \
                 %offload.frame.number = ptrtoint ptr %offload.frame.start to i64\n  \
                 %offload.frame.negative = sub i64 0, %offload.frame.number\n  \
                 %offload.frame.gap = and i64 %offload.frame.negative, {}\n  \
                 %offload.frame = getelementptr inbounds i8, ptr %offload.frame.start, i64 %offload.frame.gap",
                alignment.saturating_sub(1)
            ),
        };
        let _ = writeln!(
            self.body,
            "  %offload.frame.at = getelementptr inbounds i8, ptr %offload.group, i64 {CONTEXT_OFFSET}\n  \
             {context}\n  \
             %offload.plane = mul nuw i64 %offload.local_size.0, %offload.local_size.1\n  \
             %offload.count = mul nuw i64 %offload.plane, %offload.local_size.2"
        );
        for slot in self.plan.slots.iter().filter(|slot| slot.storage == Storage::Context) {
            let name = slot.name;
            let offset = slot.offset;
            let factor = match self.plan.context_layout {
                ContextLayout::StructOfArrays => "%offload.count",
                ContextLayout::ArrayOfStructs => "1",
            };
            let _ = writeln!(
                self.body,
                "  %offload.offset.{name} = mul nuw i64 {offset}, {factor}\n  \
                 %offload.slot.{name} = getelementptr inbounds i8, ptr %offload.frame, i64 %offload.offset.{name}"
            );
        }
    }

    /// Writes the work-item loops of a region, and the branch to its successor.
    fn write_work_item_loops(&mut self, copy: RegionCopy, text: &RegionText, nodes: Nodes) {
        let n = copy.region;
        let vector_region = self.vector_regions.remove(&n);
        let version = if vector_region.is_none() { self.row_version(n, text, nodes.empty) } else { None };
        let _ = write!(self.body, "offload.begin.p{n}:\n{}", text.head);
        if let Some(version) = &version {
            self.body.push_str(&version.text.head);
        }
        let successors = self.plan.regions.get(n).map(|region| region.successors.clone()).unwrap_or_default();
        self.reset_successors(&successors, GROUP_SCOPE);
        self.open_rows(n);
        match (&vector_region, &version) {
            (Some(region), _) => self.write_vector_loop(n, region),
            (None, Some(version)) => self.write_row_version(n, version),
            (None, None) => {
                let _ = writeln!(self.body, "  br label %offload.loop.x.p{n}");
            }
        }
        match &vector_region {
            Some(_) => self.open_remainder(n),
            None => self.open_loop(n, 0, &format!("offload.loop.y.p{n}")),
        }
        let _ =
            writeln!(self.body, "  %offload.i.p{n} = add nuw nsw i64 %offload.before.p{n}, %offload.x.p{n}");
        self.write_work_item(copy, text, "");
        let _ = writeln!(self.body, "offload.end.p{n}:");
        self.record_successor(n, &text.exits, GROUP_SCOPE);
        let parallel = self.parallel_accesses(nodes.accesses);
        let unrolling = self.unrolling_property(n);
        self.close_loop(n, 0, &format!("{parallel}{unrolling}"));
        for dimension in 1..3 {
            self.close_loop(n, dimension, &parallel);
        }
        self.publish_group_values(n, n);
        self.branch_to_successor(n, &Successors::for_group(&successors), GROUP_SCOPE);
    }

    /// Opens the loops over the third and the second dimension.
    fn open_rows(&mut self, n: usize) {
        let _ = writeln!(self.body, "  br label %offload.loop.z.p{n}");
        self.open_loop(n, 2, &format!("offload.begin.p{n}"));
        let _ = writeln!(self.body, "  br label %offload.loop.y.p{n}");
        self.open_loop(n, 1, &format!("offload.loop.z.p{n}"));
        let _ = writeln!(
            self.body,
            "  %offload.rows.p{n} = mul nuw nsw i64 %offload.z.p{n}, %offload.local_size.1\n  \
             %offload.row.p{n} = add nuw nsw i64 %offload.rows.p{n}, %offload.y.p{n}\n  \
             %offload.before.p{n} = mul nuw nsw i64 %offload.row.p{n}, %offload.local_size.0"
        );
    }

    /// The property of a work-item loop whose accesses, which are in this group, are independent between work-items.
    fn parallel_accesses(&mut self, accesses: u64) -> String {
        if self.plan.validity == Validity::Checked {
            return String::new();
        }
        let parallel = self.new_node();
        let _ = writeln!(self.metadata, "!{parallel} = !{{!\"llvm.loop.parallel_accesses\", !{accesses}}}");
        format!(", !{parallel}")
    }

    /// A node for a loop with these properties.
    fn new_loop_node(&mut self, properties: &str) -> u64 {
        let node = self.new_node();
        let _ = writeln!(self.metadata, "!{node} = distinct !{{!{node}{properties}}}");
        node
    }

    fn open_loop(&mut self, n: usize, dimension: u64, predecessor: &str) {
        let axis = axis(dimension);
        let latch = latch(n, dimension);
        let _ = writeln!(
            self.body,
            "offload.loop.{axis}.p{n}:\n  %offload.{axis}.p{n} = phi i64 [ %offload.first.{dimension}, %{predecessor} ], \
             [ %offload.{axis}.next.p{n}, %{latch} ]"
        );
    }

    fn close_loop(&mut self, n: usize, dimension: u64, properties: &str) {
        let node = self.new_loop_node(properties);
        let axis = axis(dimension);
        let _ = writeln!(
            self.body,
            "  %offload.{axis}.next.p{n} = add nuw nsw i64 %offload.{axis}.p{n}, 1\n  \
             %offload.{axis}.again.p{n} = icmp ult i64 %offload.{axis}.next.p{n}, %offload.last.{dimension}\n  \
             br i1 %offload.{axis}.again.p{n}, label %offload.loop.{axis}.p{n}, label %offload.done.{axis}.p{n}, \
             !llvm.loop !{node}\noffload.done.{axis}.p{n}:"
        );
    }

    /// Writes the body of a work-item loop; `mask` is the text that skips work-items which are not due.
    fn write_work_item(&mut self, copy: RegionCopy, text: &RegionText, mask: &str) {
        let n = copy.suffix;
        if text.needs_local_id {
            let _ = writeln!(
                self.body,
                "  call void @__offload_item(i64 %offload.x.p{n}, i64 %offload.y.p{n}, i64 %offload.z.p{n})"
            );
        }
        let region = self.plan.regions.get(copy.region);
        let start = region.and_then(|region| self.plan.function.blocks.get(region.start));
        let start = start.map(|block| block.name.as_str()).unwrap_or_default();
        let _ = write!(self.body, "{}{mask}  br label %{start}.p{n}\n{}", text.start, text.body);
    }
}

/// The block in which the loop over a dimension ends.
fn latch(n: usize, dimension: u64) -> String {
    match dimension {
        0 => format!("offload.end.p{n}"),
        1 => format!("offload.done.x.p{n}"),
        _ => format!("offload.done.y.p{n}"),
    }
}

/// The debug declaration of a variable of the source for the whole function.
fn debug_declaration(plan: &Plan<'_>, line: &Line) -> Option<String> {
    let name = line.values().next()?;
    if !plan.memory.variables.contains(name) {
        return None;
    }
    let text = line.render(&DebugNames { plan });
    if !plan.memory.live_across_barrier.contains(name) {
        return Some(text);
    }
    // The declared variable holds the address.
    let (before, expression) = text.split_once("!DIExpression(")?;
    let separator = if expression.starts_with(')') { "" } else { ", " };
    Some(format!("{before}!DIExpression(DW_OP_deref{separator}{expression}"))
}

/// Names of variables, or of those that hold their addresses.
struct DebugNames<'s, 'p> {
    plan: &'s Plan<'p>,
}

impl NameMap for DebugNames<'_, '_> {
    fn value(&self, name: &str) -> String {
        if self.plan.memory.live_across_barrier.contains(name) {
            format!("%offload.shown.{name}")
        } else {
            format!("%{name}")
        }
    }

    fn label(&self, name: &str) -> String {
        name.to_string()
    }
}
