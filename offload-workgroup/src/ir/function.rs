//! A work-item function as blocks of instructions, split at every barrier.

use std::collections::{BTreeMap, HashMap};

use crate::ir::line::{Line, local_name};
use crate::ir::vocabulary::{unknown_in_instruction, unknown_word};
use crate::ir::{Parameters, Symbol, Types, global_symbol, list, parameters};
use crate::{BARRIER, BLOCK_BARRIER, LANES_BARRIER, WARP_BARRIER};

/// A function with one parameter.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) parameter: String,
    pub(crate) blocks: Vec<Block>,
    /// The number of its attribute group.
    pub(crate) attributes: Option<String>,
    /// `!12`, of a function with debug information.
    pub(crate) debug: Option<String>,
    /// Whether loops have implicit barriers, so as to be interchanged with the work-item loop.
    pub(crate) has_interchanged_loops: bool,
    pub(crate) scheduling: Scheduling,
}

/// The order in which the work-items of a group execute parallel regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheduling {
    /// All execute the same region, as OpenCL C requires.
    Lockstep,
    /// Each has a region of its own that is next: CUDA's independent thread scheduling, and sub-groups of OpenCL C.
    Independent,
}

/// A basic block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) name: String,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) terminator: Terminator,
}

/// The end of a block.
#[derive(Debug)]
pub(crate) enum Terminator {
    /// A branch, a switch, or `unreachable`.
    Branch(Line),
    Return,
    /// A barrier of the source, or an implicit one. The successor is the next block of the list.
    Barrier {
        scope: BarrierScope,
        /// The source location, if it is known as a node `!12`.
        location: Option<String>,
    },
}

/// The work-items that wait for each other at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierScope {
    /// The work-group.
    Group,
    /// A warp of neighbours.
    Warp,
    /// The lanes of a warp that come to it together.
    Lanes,
    /// A chunk of neighbours in the first dimension, which execute a loop in lockstep.
    Chunk(Iterations),
}

/// The iterations of a loop that a chunk executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Iterations {
    /// All work-items of the chunk have the same trip count. Also of the barrier behind a loop.
    Uniform,
    /// A work-item that has left repeats the last iteration until all have left.
    Repeated,
    /// A work-item that has left, or bypasses the loop, is masked until all have left.
    Scheduled,
}

/// An instruction, or a debug record.
#[derive(Debug)]
pub(crate) struct Instruction {
    pub(crate) result: Option<String>,
    /// The text behind the `=`.
    pub(crate) line: Line,
    /// The operands of a phi.
    pub(crate) incoming: Vec<Incoming>,
    pub(crate) opcode: Opcode,
}

/// The opcodes that passes distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opcode {
    Phi,
    Alloca,
    Load,
    Store,
    Call,
    /// An atomic operation on local memory, which no other thread accesses.
    LocalAtomic,
    /// A lifetime marker of a variable.
    Lifetime(Lifetime),
    /// A debug record or intrinsic.
    DebugRecord,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    Start,
    End,
}

/// An operand of a phi.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) value: Line,
    pub(crate) from: String,
}

/// The construct for which a function is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    why: String,
    /// The node of the instruction's location.
    location: Option<String>,
}

impl ParseError {
    /// The reason, with the line of the source, of which `lines` has the number by its node.
    pub(crate) fn with_line(&self, lines: &BTreeMap<String, u32>) -> String {
        match self.location.as_ref().and_then(|location| lines.get(location)) {
            Some(line) => format!("line {line}: {}", self.why),
            None => self.why.clone(),
        }
    }
}

impl From<String> for ParseError {
    fn from(why: String) -> ParseError {
        ParseError { why, location: None }
    }
}

impl From<&str> for ParseError {
    fn from(why: &str) -> ParseError {
        why.to_string().into()
    }
}

impl Function {
    /// Parses the lines of a definition without the closing brace. The error names the construct that is refused.
    pub(crate) fn parse(lines: &[&str], types: &Types<'_>) -> Result<Function, ParseError> {
        let Some((head, body)) = lines.split_first() else { return Err("it is empty".into()) };
        if let Some(unknown) = unknown_word(head) {
            return Err(format!("it has {unknown}, in `{}`", head.trim()).into());
        }
        let rest = global_symbol(head).ok_or("it has no name")?.rest;
        let Parameters { list, rest: tail } = parameters(rest).ok_or("its parameters are not understood")?;
        let [parameter] = list.as_slice() else { return Err("it has not one parameter".into()) };
        let mut function = Function {
            parameter: local_name(parameter.name()),
            blocks: Vec::new(),
            attributes: number_after(tail, " #"),
            debug: location(tail),
            has_interchanged_loops: false,
            scheduling: Scheduling::Lockstep,
        };
        let entry = if parameter.name().parse::<u32>().is_ok() { "1" } else { "0" };
        let mut open =
            OpenBlock { name: local_name(entry), instructions: Vec::new(), follows_barrier: false };
        let mut lines = body.iter();
        while let Some(line) = lines.next() {
            if let Some(name) = label(line) {
                open.start(name)?;
                continue;
            }
            let mut text = line.trim().to_string();
            if text.is_empty() || text.starts_with(';') {
                continue;
            }
            if text.starts_with("switch ") && text.ends_with('[') {
                // The closing line may have metadata.
                while !text.contains(" ]") {
                    let Some(line) = lines.next() else {
                        return Err("it has a switch without an end".into());
                    };
                    text.push(' ');
                    text.push_str(line.trim());
                }
            }
            let (_, instruction) = split_result(&text);
            if let Some(unknown) = unknown_in_instruction(instruction) {
                let why = format!("it has {unknown}, in `{text}`");
                return Err(ParseError { why, location: location(&text) });
            }
            let pushed = function.push_line(&text, &mut open, types);
            pushed.map_err(|why| ParseError { why, location: location(&text) })?;
        }
        let last_parts = function.last_parts();
        function.retarget_phis(&last_parts);
        Ok(function)
    }

    /// Adds one line that is no label.
    fn push_line(&mut self, text: &str, open: &mut OpenBlock, types: &Types<'_>) -> Result<(), String> {
        let terminator = if let Some(BarrierCall { scope, scheduling }) = barrier_call(text) {
            if scheduling == Scheduling::Independent {
                self.scheduling = scheduling;
            }
            Terminator::Barrier { scope, location: location(text) }
        } else if text == "ret void" || text.starts_with("ret void,") {
            Terminator::Return
        } else if ["br ", "switch ", "unreachable"].iter().any(|word| text.starts_with(word)) {
            Terminator::Branch(Line::parse(text, types))
        } else if ["invoke ", "indirectbr ", "callbr ", "ret "].iter().any(|word| text.starts_with(word)) {
            return Err(format!("it has `{text}`"));
        } else {
            open.instructions.push(Instruction::parse(text, types)?);
            return Ok(());
        };
        open.follows_barrier = matches!(terminator, Terminator::Barrier { .. });
        let after = format!("{}.w{}", open.name, self.blocks.len());
        let name = std::mem::replace(&mut open.name, after);
        self.blocks.push(Block { name, instructions: std::mem::take(&mut open.instructions), terminator });
        Ok(())
    }

    /// Splits blocks, by their number, behind their phis with an implicit barrier.
    pub(crate) fn insert_barriers_after_phis(&mut self, barriers: &BTreeMap<usize, BarrierScope>) {
        if barriers.is_empty() {
            return;
        }
        let mut last_parts: HashMap<String, String> = HashMap::new();
        let mut blocks = Vec::with_capacity(self.blocks.len().saturating_add(barriers.len()));
        for (number, mut block) in std::mem::take(&mut self.blocks).into_iter().enumerate() {
            let Some(scope) = barriers.get(&number) else {
                blocks.push(block);
                continue;
            };
            let rest = block.split_behind_phis(format!("{}.r{number}", block.name), *scope);
            last_parts.insert(block.name.clone(), rest.name.clone());
            blocks.extend([block, rest]);
        }
        self.blocks = blocks;
        self.retarget_phis(&last_parts);
    }

    /// The last parts of blocks that were split at barriers, by the name of the first.
    fn last_parts(&self) -> HashMap<String, String> {
        let mut last_parts: HashMap<String, String> = HashMap::new();
        let mut first = None;
        for pair in self.blocks.windows(2) {
            let [block, next] = pair else { continue };
            if !matches!(block.terminator, Terminator::Barrier { .. }) {
                first = None;
                continue;
            }
            let first = first.get_or_insert(&block.name);
            last_parts.insert(first.to_string(), next.name.clone());
        }
        last_parts
    }

    /// Replaces blocks in phis that were split: control comes from their last parts.
    fn retarget_phis(&mut self, last_parts: &HashMap<String, String>) {
        if last_parts.is_empty() {
            return;
        }
        for incoming in self.incoming_mut() {
            if let Some(last) = last_parts.get(&incoming.from) {
                incoming.from.clone_from(last);
            }
        }
    }

    fn incoming_mut(&mut self) -> impl Iterator<Item = &mut Incoming> {
        let instructions = self.blocks.iter_mut().flat_map(|block| &mut block.instructions);
        instructions.flat_map(|instruction| &mut instruction.incoming)
    }

    pub(crate) fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.blocks.iter().flat_map(|block| &block.instructions)
    }

    /// For each block the numbers of those that it may go on to.
    pub(crate) fn all_successors(&self) -> Vec<Vec<usize>> {
        let numbers = self.block_numbers();
        let mut all = Vec::with_capacity(self.blocks.len());
        for (number, block) in self.blocks.iter().enumerate() {
            all.push(match &block.terminator {
                Terminator::Barrier { .. } => vec![number.saturating_add(1)],
                Terminator::Branch(line) => {
                    line.labels().filter_map(|label| numbers.get(label).copied()).collect()
                }
                Terminator::Return => Vec::new(),
            });
        }
        all
    }

    /// Whether a block ends with a barrier of this scope.
    pub(crate) fn has_barrier_of(&self, scope: BarrierScope) -> bool {
        let mut terminators = self.blocks.iter().map(|block| &block.terminator);
        terminators
            .any(|terminator| matches!(terminator, Terminator::Barrier { scope: one, .. } if *one == scope))
    }

    /// Whether a block may go on to itself or to one before it: every cycle has such a block.
    pub(crate) fn has_backward_branch(&self) -> bool {
        let mut blocks = self.all_successors().into_iter().enumerate();
        blocks.any(|(number, successors)| successors.iter().any(|successor| *successor <= number))
    }

    /// The numbers of the blocks, by name.
    pub(crate) fn block_numbers(&self) -> HashMap<&str, usize> {
        let mut numbers = HashMap::with_capacity(self.blocks.len());
        numbers.extend(self.blocks.iter().enumerate().map(|(number, block)| (block.name.as_str(), number)));
        numbers
    }
}

impl Block {
    /// Ends the block behind its phis with a barrier, and returns the rest.
    fn split_behind_phis(&mut self, name: String, scope: BarrierScope) -> Block {
        let phis = self
            .instructions
            .iter()
            .take_while(|instruction| matches!(instruction.opcode, Opcode::Phi | Opcode::DebugRecord))
            .count();
        let barrier = Terminator::Barrier { scope, location: None };
        Block {
            name,
            instructions: self.instructions.split_off(phis),
            terminator: std::mem::replace(&mut self.terminator, barrier),
        }
    }
}

/// A block without a terminator yet.
struct OpenBlock {
    name: String,
    instructions: Vec<Instruction>,
    /// Whether it is the rest of a block that was split at a barrier.
    follows_barrier: bool,
}

impl OpenBlock {
    /// Begins the block of a label.
    fn start(&mut self, name: String) -> Result<(), String> {
        if self.follows_barrier || !self.instructions.is_empty() {
            return Err(format!("its block `{}` has no end", self.name));
        }
        self.name = name;
        Ok(())
    }
}

impl Instruction {
    fn parse(text: &str, types: &Types<'_>) -> Result<Instruction, String> {
        let (result, text) = split_result(text);
        let result = result.map(|name| local_name(name.trim_matches('"')));
        let text = text.strip_prefix("tail ").unwrap_or(text);
        let opcode = opcode(text);
        if opcode != Opcode::Phi {
            let line = Line::parse(text, types);
            return Ok(Instruction { result, line, incoming: Vec::new(), opcode });
        }
        let (head, incoming) = parse_phi(text, types).ok_or_else(|| format!("it has `{text}`"))?;
        Ok(Instruction { result, line: Line::parse(head, types), incoming, opcode })
    }

    /// The operands, but for those of a phi, which are used at the ends of its predecessors.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &str> {
        self.line.values()
    }

    /// The operand of a phi for the predecessor `block`.
    pub(crate) fn operand_from(&self, block: &str) -> Option<&Line> {
        self.incoming.iter().find(|incoming| incoming.from == block).map(|incoming| &incoming.value)
    }

    /// Whether the instruction declares a variable of the source for debuggers.
    pub(crate) fn is_debug_declaration(&self) -> bool {
        self.line.contains("#dbg_declare(") || self.line.contains("@llvm.dbg.declare(")
    }

    /// Whether the instruction is a debug record or a lifetime marker, whose operands are no uses.
    pub(crate) fn is_marker(&self) -> bool {
        matches!(self.opcode, Opcode::DebugRecord | Opcode::Lifetime(_))
    }
}

/// The name before the `=` without its sigil, and the instruction.
fn split_result(text: &str) -> (Option<&str>, &str) {
    match text.strip_prefix('%').and_then(|rest| rest.split_once(" = ")) {
        Some((name, rest)) => (Some(name), rest),
        None => (None, text),
    }
}

/// The text before the operands of a phi, and the operands.
fn parse_phi<'t>(text: &'t str, types: &Types<'_>) -> Option<(&'t str, Vec<Incoming>)> {
    let (head, operands) = text.split_once("[ ")?;
    let operands = operands.rsplit_once(" ]")?.0;
    let mut incoming = Vec::new();
    for operand in operands.split(" ], [ ") {
        let (value, from) = operand.rsplit_once(", %")?;
        let from = local_name(from.trim_matches('"'));
        incoming.push(Incoming { value: Line::parse(value, types), from });
    }
    Some((head.trim_end(), incoming))
}

fn opcode(text: &str) -> Opcode {
    if text.starts_with("#dbg_") || text.contains("@llvm.dbg.") {
        return Opcode::DebugRecord;
    }
    let word = text.split(' ').next().unwrap_or_default();
    match word {
        "phi" => Opcode::Phi,
        "alloca" => Opcode::Alloca,
        "load" => Opcode::Load,
        "store" => Opcode::Store,
        "call" if text.contains("@llvm.lifetime.start") => Opcode::Lifetime(Lifetime::Start),
        "call" if text.contains("@llvm.lifetime.end") => Opcode::Lifetime(Lifetime::End),
        "call" => Opcode::Call,
        _ => Opcode::Other,
    }
}

/// A call of a barrier.
struct BarrierCall {
    scope: BarrierScope,
    /// That of kernels with the barrier.
    scheduling: Scheduling,
}

/// The barrier that an instruction calls, if it calls one.
fn barrier_call(text: &str) -> Option<BarrierCall> {
    let Symbol { name, rest } = global_symbol(text)?;
    let (scope, scheduling) = match name {
        BARRIER => (BarrierScope::Group, Scheduling::Lockstep),
        BLOCK_BARRIER => (BarrierScope::Group, Scheduling::Independent),
        WARP_BARRIER => (BarrierScope::Warp, Scheduling::Independent),
        LANES_BARRIER => (BarrierScope::Lanes, Scheduling::Independent),
        _ => return None,
    };
    let is_call = rest.starts_with('(') && text.split(' ').any(|word| word == "call");
    is_call.then_some(BarrierCall { scope, scheduling })
}

/// The name in a line `7:      ; preds = %2`.
fn label(line: &str) -> Option<String> {
    if line.starts_with([' ', '\t']) {
        return None;
    }
    // Blocks without predecessors have another comment.
    let line = line.split_once(" ;").map_or(line, |(name, _)| name).trim_end();
    let name = line.strip_suffix(':')?;
    Some(local_name(name.trim_matches('"')))
}

/// The node of the location or subprogram in `text`.
fn location(text: &str) -> Option<String> {
    number_after(text, "!dbg !").map(|number| format!("!{number}"))
}

/// The number behind `mark`.
fn number_after(text: &str, mark: &str) -> Option<String> {
    let rest = text.split_once(mark)?.1;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end).filter(|number| !number.is_empty()).map(str::to_string)
}

/// The operands of an instruction, without its opcode and flags: `i32 %x`, `ptr %p`.
pub(crate) fn operands(text: &str) -> Vec<&str> {
    list(text.split_once(' ').map_or("", |(_, rest)| rest))
}
