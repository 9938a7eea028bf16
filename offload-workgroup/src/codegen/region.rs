//! One piece as text: what a single work-item does between two waits.

mod kept;

pub(super) use self::kept::stored;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::edges::Edges;
use super::exclusive;
use super::function::{Block, End, Instruction, Kind};
use super::mathematics;
use super::plan::{Holder, Piece, Plan};
use super::state::{self, State};
use super::text::{Line, Names, without_metadata};

/// The text of a piece's blocks and what stands before them.
#[derive(Debug, Default)]
pub(super) struct PieceText {
    /// Before the loops: what is equal for all work-items.
    pub(super) head: String,
    /// At the start of each work-item.
    pub(super) start: String,
    pub(super) body: String,
    pub(super) exits: Vec<Exit>,
    /// Where all ways out of it meet.
    pub(super) end: String,
    /// Whether the functions that tell a work-item its position can be called.
    pub(super) asks_position: bool,
}

/// A way out of a piece.
#[derive(Debug)]
pub(super) struct Exit {
    /// The block, as the text has it.
    pub(super) block: String,
    /// The piece that is next; 0 for the end.
    pub(super) next: usize,
}

/// Numbers of metadata nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nodes {
    /// `!{}`
    pub(super) empty: u64,
    /// The accesses of memory that work-items make independently.
    pub(super) accesses: u64,
}

/// Where the text of a piece stands; that of pieces that neighbours go through side by side stands in several places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) piece: usize,
    /// What names end with, after `.p`.
    pub(super) mark: usize,
    /// What goes through the piece: neighbours, or the group.
    pub(super) chunk: Option<Chunk>,
}

/// Neighbours in the first dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    /// What names end with, after `.c`.
    pub(super) mark: usize,
    pub(super) lanes: u64,
}

/// Writes one piece.
struct Writer<'p, 'f> {
    plan: &'p Plan<'f>,
    /// The mark of the place.
    number: usize,
    chunk: Option<Chunk>,
    piece: &'p Piece<'f>,
    nodes: Nodes,
    /// What the rows that it is for do not meet.
    edges: Option<&'p Edges<'f>>,
    /// All that the instructions of the piece mention.
    used: BTreeSet<&'f str>,
    /// Computed before the piece's own instructions.
    first: BTreeSet<&'f str>,
    /// Made before the piece and again in it: which one holds is known at run time.
    remade: BTreeSet<&'f str>,
    /// Made in the piece and kept for neighbours.
    settled: BTreeSet<&'f str>,
    /// Loads of remade values, for the instruction that is written.
    loaded: BTreeMap<String, String>,
    loads: usize,
    text: PieceText,
}

/// The text of a piece of `plan`, which may be for rows that meet none of `edges`.
pub(super) fn piece_text<'f>(
    plan: &Plan<'f>,
    place: Place,
    nodes: Nodes,
    edges: Option<&Edges<'f>>,
) -> PieceText {
    let Some(piece) = plan.pieces.get(place.piece) else { return PieceText::default() };
    let used = used(plan, piece);
    let recomputed = |name: &&str| plan.facts.recomputed.contains_key(*name);
    let wanted = piece.live.intersection(&used).copied();
    let remade = wanted.clone().filter(|name| !recomputed(name) && piece.made.contains(name)).collect();
    // Also those that the piece itself would load under a condition: nobody takes them out of the loops then.
    let wanted = wanted.chain(plan.facts.arguments.intersection(&used).copied());
    let settled = plan.slots.iter().filter(|slot| slot.holder == Holder::Lanes).map(|slot| slot.name);
    let settled = settled.filter(|name| piece.made.contains(name) && plan.outlives(piece, name));
    let mut writer = Writer {
        plan,
        number: place.mark,
        chunk: place.chunk,
        piece,
        nodes,
        edges,
        first: wanted.filter(|name| recomputed(name)).collect(),
        used,
        remade,
        settled: settled.collect(),
        loaded: BTreeMap::new(),
        loads: 0,
        // The address of a position can be computed in one piece, and loaded from in another.
        text: PieceText {
            asks_position: plan.function.instructions().any(state::mentions_local_id),
            ..PieceText::default()
        },
    };
    writer.head_and_start();
    writer.body();
    writer.settle();
    writer.text
}

/// What is mentioned in the piece, but for debuggers.
fn used<'f>(plan: &Plan<'f>, piece: &Piece<'f>) -> BTreeSet<&'f str> {
    let mut used = BTreeSet::new();
    for block in blocks(plan, piece) {
        for instruction in block.instructions.iter().filter(|instruction| !instruction.is_note()) {
            used.extend(instruction.operands());
            used.extend(instruction.incoming.iter().flat_map(|incoming| incoming.value.values()));
        }
        if let End::Jump(line) = &block.end {
            used.extend(line.values());
        }
    }
    used
}

fn blocks<'f>(plan: &Plan<'f>, piece: &Piece<'f>) -> impl Iterator<Item = &'f Block> {
    let function = plan.function;
    piece.blocks.iter().filter_map(move |number| function.blocks.get(*number))
}

impl Names for Writer<'_, '_> {
    fn value(&self, name: &str) -> String {
        if name == self.plan.function.parameter {
            return "%offload.args".to_string();
        }
        if let Some(loaded) = self.loaded.get(name) {
            return loaded.clone();
        }
        let memory = &self.plan.memory;
        match memory.variables.contains(name) && !memory.kept.contains(name) {
            true => format!("%{name}"),
            false => format!("%{name}.p{}", self.number),
        }
    }

    fn label(&self, name: &str) -> String {
        format!("{name}.p{}", self.number)
    }
}

impl<'f> Writer<'_, 'f> {
    /// What the piece needs of those before it.
    fn head_and_start(&mut self) {
        let (plan, piece) = (self.plan, self.piece);
        let mut again = Vec::new();
        for name in self.first.clone() {
            self.needed(name, &mut again);
        }
        self.first.extend(again.iter().copied());
        for name in &plan.memory.kept {
            self.address(name);
        }
        for name in again {
            self.recompute(name);
        }
        let kept = piece.live.intersection(&self.used).copied();
        for name in kept.filter(|name| !self.first.contains(name)).collect::<Vec<_>>() {
            self.fetch(name);
        }
        self.unsettle();
        let number = self.number;
        for name in &piece.made {
            let Some(ty) = plan.once.get(name) else { continue };
            let _ = writeln!(
                self.text.head,
                "  %{name}.p{number}.now = load {ty}, ptr %offload.once.{name}\n  store {ty} %{name}.p{number}.now, ptr %offload.next.{name}"
            );
        }
    }

    /// Adds to `order` what `name` is computed from, and then itself.
    fn needed(&self, name: &'f str, order: &mut Vec<&'f str>) {
        if name == self.plan.function.parameter || order.contains(&name) {
            return;
        }
        let Some(definition) = self.plan.facts.definitions.get(name) else { return };
        for operand in definition.instruction.operands() {
            self.needed(operand, order);
        }
        order.push(name);
    }

    /// Where a work-item's own variable lies in the frame.
    fn address(&mut self, name: &str) {
        let shown = self.plan.is_declared(name);
        let needed = shown || self.used.contains(name) || self.first.contains(name);
        let (Some(slot), true) = (self.plan.slot(name), needed) else { return };
        let (start, size, n) = (&mut self.text.start, self.plan.stride(slot), self.number);
        let _ = writeln!(
            start,
            "  %{name}.p{n} = getelementptr inbounds [{size} x i8], ptr %offload.slot.{name}, i64 %offload.i.p{n}"
        );
        if shown {
            let _ = writeln!(start, "  store ptr %{name}.p{n}, ptr %offload.shown.{name}");
        }
    }

    /// Writes the instruction that makes `name` again.
    fn recompute(&mut self, name: &str) {
        let Some(definition) = self.plan.facts.definitions.get(name).copied() else { return };
        if definition.instruction.kind == Kind::Alloca {
            return;
        }
        let text = self.instruction(name, definition.instruction);
        let uniform = self.plan.facts.uniform.contains(name);
        let to = if uniform { &mut self.text.head } else { &mut self.text.start };
        let _ = writeln!(to, "  {text}");
    }

    fn body(&mut self) {
        let plan = self.plan;
        for number in &self.piece.blocks {
            let Some(block) = plan.function.blocks.get(*number) else { continue };
            let _ = writeln!(self.text.body, "{}:", self.label(&block.name));
            let phis = block.instructions.iter().filter(|one| one.kind == Kind::Phi);
            let made: Vec<&str> = phis.clone().filter_map(|phi| phi.result.as_deref()).collect();
            for phi in phis {
                self.phi(phi);
            }
            for name in made {
                self.keep(name);
            }
            for instruction in block.instructions.iter().filter(|one| one.kind != Kind::Phi) {
                self.write_instruction(instruction);
            }
            self.end(*number, block);
        }
    }

    fn write_instruction(&mut self, instruction: &'f Instruction) {
        let name = instruction.result.as_deref().unwrap_or_default();
        match instruction.kind {
            Kind::Alloca | Kind::Lifetime(_) => return,
            Kind::Debug => return self.note(instruction),
            _ if self.first.contains(name) => return,
            _ => {}
        }
        self.load_remade(instruction.operands());
        let asks = |line: &Line| !line.contains(" @llvm.") && !line.contains(mathematics::PREFIX);
        let calls = instruction.kind == Kind::Call && asks(&instruction.line);
        self.text.asks_position |= calls || state::mentions_local_id(instruction);
        let mut text = self.instruction(name, instruction);
        self.loaded.clear();
        if self.is_independent(instruction) {
            let _ = write!(text, ", !llvm.access.group !{}", self.nodes.accesses);
        }
        match instruction.kind {
            Kind::Exclusive => self.lines(&exclusive::plain(&text)),
            _ => self.lines(&[text]),
        }
        self.keep(name);
    }

    fn lines(&mut self, lines: &[String]) {
        for line in lines {
            let _ = writeln!(self.text.body, "  {line}");
        }
    }

    /// Whether work-items can do `instruction` in any order, and it can be told so.
    fn is_independent(&self, instruction: &Instruction) -> bool {
        let plain = |word: &str| !instruction.line.contains(&format!("{word} volatile"));
        let access = match instruction.kind {
            Kind::Load => plain("load") && !instruction.line.contains("load atomic"),
            Kind::Store => plain("store") && !instruction.line.contains("store atomic"),
            _ => false,
        };
        access && !instruction.line.contains("!llvm.access.group") && !self.plan.memory.shares(instruction)
    }

    /// The text of an instruction that is no phi.
    fn instruction(&self, name: &str, instruction: &Instruction) -> String {
        if let Some(state) = state::read(instruction) {
            let from = match state {
                State::LocalId { dimension } => {
                    format!("%offload.{}.p{}", state::axis(dimension), self.number)
                }
                State::Group { field, dimension } => format!("%offload.{}.{dimension}", field.name),
            };
            return format!("{} = add i64 {from}, 0", self.value(name));
        }
        if let Some(text) = self.edges.and_then(|edges| edges.replacement(name, self)) {
            return format!("%{name}.p{} = {text}", self.number);
        }
        let mut text = instruction.line.with(self);
        // What does not overlap in one call can overlap in another, and the calls of all work-items are in one
        // function now.
        for metadata in ["alias.scope", "noalias", "invariant.load"] {
            text = without_metadata(&text, metadata);
        }
        // Of all loads, those of arguments alone can be repeated: nothing writes there while a group runs.
        if instruction.kind == Kind::Load && self.plan.facts.recomputed.contains_key(name) {
            let _ = write!(text, ", !invariant.load !{}", self.nodes.empty);
        }
        match name {
            "" => text,
            _ => format!("%{name}.p{} = {text}", self.number),
        }
    }

    /// What a debugger is told, where it still holds. Variables in memory are declared once for all pieces.
    fn note(&mut self, instruction: &Instruction) {
        let known = |name: &str| {
            let here =
                self.piece.made.contains(name) || self.piece.live.contains(name) && self.used.contains(name);
            here && !self.remade.contains(name)
        };
        if !instruction.is_declaration() && instruction.operands().all(known) {
            let _ = writeln!(self.text.body, "    {}", instruction.line.with(self));
        }
    }

    fn end(&mut self, number: usize, block: &'f Block) {
        let own = self.label(&block.name);
        let next = match &block.end {
            End::Jump(line) => {
                self.load_remade(line.values());
                self.load_for_phis(number, block);
                let text = line.with(self);
                self.loaded.clear();
                let _ = writeln!(self.text.body, "  {text}");
                return;
            }
            End::Return => 0,
            End::Wait { .. } => {
                let after = number.saturating_add(1);
                self.plan.pieces.iter().position(|piece| piece.start == after).unwrap_or_default()
            }
        };
        let _ = writeln!(self.text.body, "  br label %offload.end.p{}", self.number);
        self.text.exits.push(Exit { block: own, next });
    }
}
