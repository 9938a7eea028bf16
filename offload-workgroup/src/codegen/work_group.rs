//! The function that runs a work-group: for each piece a loop over the work-items of the group.

mod chunks;
mod copy;
mod inside;
mod onward;
mod region;
mod ways;

use std::collections::BTreeMap;
use std::fmt::Write;

use offload_format::section::RUN_PREFIX;

use self::region::Region;
use self::ways::{GROUP, Ways};
use super::function::Kind;
use super::piece::{Nodes, PieceText, Place, piece_text};
use super::plan::{Holder, Order, Plan};
use super::state::{GROUP_FIELDS, axis};
use super::text::{Line, Names};
use super::validity::Validity;

/// Where `frame` lies in `struct offload_group`.
const FRAME: u64 = 144;
/// What is known of a kernel beside its code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) kernel: &'a str,
    pub(super) required_work_group: Option<[u32; 3]>,
    /// Number of the attribute group of the function.
    pub(super) attributes: u64,
    /// The first number for a metadata node.
    pub(super) first_node: u64,
    /// The lines of source locations, by node.
    pub(super) lines: &'a BTreeMap<String, u32>,
    /// The size of the CPU's vectors.
    pub(super) vector_bits: u32,
}

/// A function and its metadata.
#[derive(Debug)]
pub(super) struct RunText {
    pub(super) function: String,
    pub(super) metadata: String,
    pub(super) next_node: u64,
}

/// The text of the function that runs `run.kernel`, which `plan` has cut.
pub(super) fn run_function(plan: &Plan<'_>, run: &Run<'_>) -> RunText {
    let mut writer = Writer { plan, run, body: String::new(), metadata: String::new(), node: run.first_node };
    let empty = writer.new_node();
    let _ = writeln!(writer.metadata, "!{empty} = !{{}}");
    writer.prologue(empty);
    for number in (0..plan.pieces.len()).filter(|number| !plan.is_of_lanes(*number)) {
        if let Some(region) = Region::of(plan, number) {
            writer.chunks(&region, empty);
            continue;
        }
        let accesses = writer.accesses();
        let place = Place { piece: number, mark: number, chunk: None };
        let text = piece_text(plan, place, Nodes { empty, accesses }, None);
        writer.piece(place, &text, Nodes { empty, accesses });
    }
    let debug = plan.function.debug.as_deref().map(|node| format!(" !dbg {node}")).unwrap_or_default();
    let function = format!(
        "@__offload_frame_{kernel} = constant i64 {frame}, align 8\n\
         define i32 @{RUN_PREFIX}{kernel}(ptr noundef %offload.group, ptr noundef %offload.args, \
         ptr noundef %offload.first, ptr noundef %offload.last) #{attributes}{debug} {{\n{body}\
         offload.leave:\n  call void @__offload_end()\n  %offload.result = load i32, ptr %offload.status\n  \
         ret i32 %offload.result\n}}\n",
        kernel = run.kernel,
        frame = plan.frame,
        attributes = run.attributes,
        body = writer.body,
    );
    RunText { function, metadata: writer.metadata, next_node: writer.node }
}

struct Writer<'w, 'p> {
    plan: &'w Plan<'p>,
    run: &'w Run<'w>,
    body: String,
    metadata: String,
    node: u64,
}

impl Writer<'_, '_> {
    fn new_node(&mut self) -> u64 {
        let node = self.node;
        self.node = node.saturating_add(1);
        node
    }

    /// A new group of accesses of memory.
    fn accesses(&mut self) -> u64 {
        let accesses = self.new_node();
        let _ = writeln!(self.metadata, "!{accesses} = distinct !{{}}");
        accesses
    }

    fn prologue(&mut self, empty: u64) {
        self.body.push_str("offload.entry:\n");
        for name in ["status", "least", "most", "lane.least", "lane.most"] {
            let _ = writeln!(self.body, "  %offload.{name} = alloca i32");
        }
        self.variables();
        self.body.push_str(
            "  store i32 0, ptr %offload.status\n  call void @__offload_begin(ptr %offload.group)\n",
        );
        for field in GROUP_FIELDS {
            for dimension in 0..field.dimensions {
                let offset = field.offset.saturating_add(dimension.saturating_mul(8));
                let name = format!("%offload.{}.{dimension}", field.name);
                let known = self.required(dimension).filter(|_| field.name == "local_size");
                self.number(&name, known, &format!("ptr %offload.group, i64 {offset}"), empty);
            }
        }
        for dimension in 0..3u64 {
            let (required, offset) = (self.required(dimension), dimension.saturating_mul(8));
            let first = format!("%offload.first.{dimension}");
            self.number(&first, required.map(|_| 0), &format!("ptr %offload.first, i64 {offset}"), empty);
            let last = format!("%offload.last.{dimension}");
            self.number(&last, required, &format!("ptr %offload.last, i64 {offset}"), empty);
        }
        self.frame();
        self.body.push_str("  br label %offload.begin.p0\n");
    }

    fn required(&self, dimension: u64) -> Option<u64> {
        let required = self.run.required_work_group?;
        required.get(usize::try_from(dimension).ok()?).map(|size| u64::from(*size))
    }

    /// Writes a number of the group that is known, or is read.
    fn number(&mut self, name: &str, known: Option<u64>, place: &str, empty: u64) {
        let _ = match known {
            Some(value) => writeln!(self.body, "  {name} = add i64 {value}, 0"),
            None => writeln!(
                self.body,
                "  {name}.at = getelementptr inbounds i8, {place}\n  {name} = load i64, ptr {name}.at, align 8, !invariant.load !{empty}"
            ),
        };
    }

    /// Private variables that no wait separates, places for what is kept once, and where debuggers find variables.
    fn variables(&mut self) {
        let plan = self.plan;
        for instruction in plan.function.instructions().filter(|one| one.kind == Kind::Alloca) {
            let Some(name) = instruction.result.as_deref() else { continue };
            let _ = match plan.memory.kept.contains(name) {
                true if plan.is_declared(name) => {
                    writeln!(self.body, "  %offload.shown.{name} = alloca ptr")
                }
                true => Ok(()),
                false => writeln!(self.body, "  %{name} = {}", instruction.line.plain()),
            };
        }
        for (name, ty) in &plan.once {
            let _ = writeln!(
                self.body,
                "  %offload.once.{name} = alloca {ty}\n  %offload.next.{name} = alloca {ty}"
            );
        }
        let values = plan.once.keys().copied().chain(plan.slots.iter().map(|slot| slot.name));
        for name in values {
            if let Some(ty) = plan.value_type(name) {
                let _ = writeln!(self.body, "  %offload.cell.{name} = alloca {ty}");
            }
        }
        self.lanes();
        let notes = plan.function.instructions().filter(|instruction| instruction.is_declaration());
        for note in notes {
            if let Some(text) = declaration(plan, &note.line) {
                let _ = writeln!(self.body, "    {text}");
            }
        }
    }

    /// The arrays of the frame.
    fn frame(&mut self) {
        if self.plan.slots.iter().all(|slot| slot.holder != Holder::Frame) {
            return;
        }
        let frame = match self.plan.frame_alignment {
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
            "  %offload.frame.at = getelementptr inbounds i8, ptr %offload.group, i64 {FRAME}\n  \
             {frame}\n  \
             %offload.plane = mul nuw i64 %offload.local_size.0, %offload.local_size.1\n  \
             %offload.count = mul nuw i64 %offload.plane, %offload.local_size.2"
        );
        for slot in self.plan.slots.iter().filter(|slot| slot.holder == Holder::Frame) {
            let (name, offset) = (slot.name, slot.offset);
            let times = match self.plan.order {
                Order::ByValue => "%offload.count",
                Order::ByWorkItem => "1",
            };
            let _ = writeln!(
                self.body,
                "  %offload.offset.{name} = mul nuw i64 {offset}, {times}\n  \
                 %offload.slot.{name} = getelementptr inbounds i8, ptr %offload.frame, i64 %offload.offset.{name}"
            );
        }
    }

    /// The loops of piece `n`, and what comes after them.
    fn piece(&mut self, place: Place, text: &PieceText, nodes: Nodes) {
        let n = place.piece;
        let inside = self.inside(n, nodes.empty);
        let _ = write!(self.body, "offload.begin.p{n}:\n{}", text.head);
        if let Some(inside) = &inside {
            self.body.push_str(&inside.text.head);
        }
        let next = self.plan.pieces.get(n).map(|piece| piece.next.clone()).unwrap_or_default();
        self.expect(&next, GROUP);
        self.open_rows(n);
        match &inside {
            Some(inside) => self.row_inside(n, inside),
            None => {
                let _ = writeln!(self.body, "  br label %offload.loop.x.p{n}");
            }
        }
        self.open_loop(n, 0, &format!("offload.loop.y.p{n}"));
        let _ =
            writeln!(self.body, "  %offload.i.p{n} = add nuw nsw i64 %offload.before.p{n}, %offload.x.p{n}");
        self.work_item(place, text, "");
        let _ = writeln!(self.body, "offload.end.p{n}:");
        self.item_end(n, &text.exits, GROUP);
        let parallel = self.parallel(nodes.accesses);
        for dimension in 0..3 {
            self.close_loop(n, dimension, &parallel);
        }
        self.keep_once(n, n);
        self.onward(n, &Ways::of_group(&next), GROUP);
    }

    /// The loops over the third and the second dimension.
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

    /// The property of a loop over work-items whose accesses, which are in this group, are independent of each other's.
    fn parallel(&mut self, accesses: u64) -> String {
        if self.plan.validity == Validity::Checked {
            return String::new();
        }
        let parallel = self.new_node();
        let _ = writeln!(self.metadata, "!{parallel} = !{{!\"llvm.loop.parallel_accesses\", !{accesses}}}");
        format!(", !{parallel}")
    }

    /// A node for a loop with these properties.
    fn loop_node(&mut self, properties: &str) -> u64 {
        let node = self.new_node();
        let _ = writeln!(self.metadata, "!{node} = distinct !{{!{node}{properties}}}");
        node
    }

    fn open_loop(&mut self, n: usize, dimension: u64, from: &str) {
        let (axis, last) = (axis(dimension), last_block(n, dimension));
        let _ = writeln!(
            self.body,
            "offload.loop.{axis}.p{n}:\n  %offload.{axis}.p{n} = phi i64 [ %offload.first.{dimension}, %{from} ], \
             [ %offload.{axis}.next.p{n}, %{last} ]"
        );
    }

    fn close_loop(&mut self, n: usize, dimension: u64, properties: &str) {
        let (node, axis) = (self.loop_node(properties), axis(dimension));
        let _ = writeln!(
            self.body,
            "  %offload.{axis}.next.p{n} = add nuw nsw i64 %offload.{axis}.p{n}, 1\n  \
             %offload.{axis}.again.p{n} = icmp ult i64 %offload.{axis}.next.p{n}, %offload.last.{dimension}\n  \
             br i1 %offload.{axis}.again.p{n}, label %offload.loop.{axis}.p{n}, label %offload.done.{axis}.p{n}, \
             !llvm.loop !{node}\noffload.done.{axis}.p{n}:"
        );
    }

    /// What a work-item does, if it has not waited elsewhere.
    fn work_item(&mut self, Place { piece, mark: n, .. }: Place, text: &PieceText, due: &str) {
        if text.asks_position {
            let _ = writeln!(
                self.body,
                "  call void @__offload_item(i64 %offload.x.p{n}, i64 %offload.y.p{n}, i64 %offload.z.p{n})"
            );
        }
        let start = self.plan.pieces.get(piece).and_then(|piece| self.plan.function.blocks.get(piece.start));
        let start = start.map(|block| block.name.as_str()).unwrap_or_default();
        let _ = write!(self.body, "{}{due}  br label %{start}.p{n}\n{}", text.start, text.body);
    }
}

/// The block in which a loop over a dimension ends.
fn last_block(n: usize, dimension: u64) -> String {
    match dimension {
        0 => format!("offload.end.p{n}"),
        1 => format!("offload.done.x.p{n}"),
        _ => format!("offload.done.y.p{n}"),
    }
}

/// The line that tells a debugger where a variable of the source lies, for the whole function.
fn declaration(plan: &Plan<'_>, line: &Line) -> Option<String> {
    let name = line.values().next()?;
    if !plan.memory.variables.contains(name) {
        return None;
    }
    let text = line.with(&Shown { plan });
    if !plan.memory.kept.contains(name) {
        return Some(text);
    }
    // The variable that is declared holds the address.
    let (before, expression) = text.split_once("!DIExpression(")?;
    let separator = if expression.starts_with(')') { "" } else { ", " };
    Some(format!("{before}!DIExpression(DW_OP_deref{separator}{expression}"))
}

/// Names of variables, or of those that hold their address.
struct Shown<'s, 'p> {
    plan: &'s Plan<'p>,
}

impl Names for Shown<'_, '_> {
    fn value(&self, name: &str) -> String {
        match self.plan.memory.kept.contains(name) {
            true => format!("%offload.shown.{name}"),
            false => format!("%{name}"),
        }
    }

    fn label(&self, name: &str) -> String {
        name.to_string()
    }
}
