//! A function of LLVM IR as blocks of instructions, cut at every wait.

use super::text::{Line, local_name};
use crate::ir::types::{Types, list};
use crate::ir::{global_name, params};

/// What a work-item calls to wait for the others of its group.
pub(super) const WAIT: &str = "@__offload_wait(";

/// A function with one parameter.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) parameter: String,
    pub(super) blocks: Vec<Block>,
    /// Number of its attribute group.
    pub(super) attributes: Option<String>,
    /// `!12`, of a function with debug information.
    pub(super) debug: Option<String>,
    /// Whether rounds of its loops are cut, so as to become vectors over work-items.
    pub(super) has_cut_loops: bool,
}

/// Instructions with one entry and one end.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) name: String,
    pub(super) instructions: Vec<Instruction>,
    pub(super) end: End,
}

/// How a block ends.
#[derive(Debug)]
pub(super) enum End {
    /// A branch, a switch, or `unreachable`.
    Jump(Line),
    Return,
    /// A call of [`WAIT`], or a cut; the work-item goes on in the next block of the list.
    Wait {
        wait: Wait,
        /// The source line, if it is known as a node `!12`.
        location: Option<String>,
    },
}

/// Who waits for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// All work-items of a group, and all of them come.
    Group,
    /// A few neighbours, which go through a loop side by side.
    Lanes(Rounds),
}

/// How often neighbours go round a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounds {
    /// All equally often. Also what comes behind a loop.
    Equal,
    /// Each until it is done.
    Own,
    /// The same, and some do not come to the loop.
    Some,
}

/// An instruction, or a record for debuggers.
#[derive(Debug)]
pub(super) struct Instruction {
    pub(super) result: Option<String>,
    /// After the `=`.
    pub(super) line: Line,
    /// Of a phi: what comes from where.
    pub(super) incoming: Vec<Incoming>,
    pub(super) kind: Kind,
}

/// What matters of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Phi,
    Alloca,
    Load,
    Store,
    Call,
    /// An atomic operation on memory that no other thread has.
    Exclusive,
    /// The start or the end of a variable's lifetime.
    Lifetime(Lifetime),
    /// What only a debugger reads.
    Debug,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lifetime {
    Start,
    End,
}

/// An operand of a phi.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) value: Line,
    pub(super) from: String,
}

impl Function {
    /// From the lines of a definition, without the closing brace. The error says what is not understood.
    pub(super) fn parse(lines: &[&str], types: &Types<'_>) -> Result<Function, String> {
        let Some((head, body)) = lines.split_first() else { return Err("it is empty".into()) };
        let (_, rest) = global_name(head).ok_or("it has no name")?;
        let (params, tail) = params(rest).ok_or("its parameters are not understood")?;
        let [param] = params.as_slice() else { return Err("it has not one parameter".into()) };
        let mut function = Function {
            parameter: local_name(param.name()),
            blocks: Vec::new(),
            attributes: word_after(tail, " #"),
            debug: word_after(tail, "!dbg !").map(|number| format!("!{number}")),
            has_cut_loops: false,
        };
        let entry = if param.name().parse::<u32>().is_ok() { "1" } else { "0" };
        let mut open = Open { name: local_name(entry), instructions: Vec::new(), goes_on: false };
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
            function.take(&text, &mut open, types)?;
        }
        function.rename_waiting();
        Ok(function)
    }

    /// Takes one line that is no label.
    fn take(&mut self, text: &str, open: &mut Open, types: &Types<'_>) -> Result<(), String> {
        let end = if is_wait(text) {
            let location = word_after(text, "!dbg !").map(|number| format!("!{number}"));
            End::Wait { wait: Wait::Group, location }
        } else if text == "ret void" || text.starts_with("ret void,") {
            End::Return
        } else if ["br ", "switch ", "unreachable"].iter().any(|word| text.starts_with(word)) {
            End::Jump(Line::parse(text, types))
        } else if ["invoke ", "indirectbr ", "callbr ", "ret "].iter().any(|word| text.starts_with(word)) {
            return Err(format!("it has `{text}`"));
        } else {
            open.instructions.push(Instruction::parse(text, types)?);
            return Ok(());
        };
        open.goes_on = matches!(end, End::Wait { .. });
        let after = format!("{}.w{}", open.name, self.blocks.len());
        let name = std::mem::replace(&mut open.name, after);
        self.blocks.push(Block { name, instructions: std::mem::take(&mut open.instructions), end });
        Ok(())
    }

    /// Cuts block `number` after its phis with a wait that the source does not have.
    pub(super) fn wait_after_phis(&mut self, number: usize, wait: Wait) {
        let name = format!("{}.r{number}", self.blocks.get(number).map_or("", |block| &block.name));
        let Some(block) = self.blocks.get_mut(number) else { return };
        self.has_cut_loops = true;
        let is_phi =
            |instruction: &Instruction| instruction.kind == Kind::Phi || instruction.kind == Kind::Debug;
        let phis = block.instructions.iter().take_while(|instruction| is_phi(instruction)).count();
        let rest = Block {
            name: name.clone(),
            instructions: block.instructions.split_off(phis),
            end: std::mem::replace(&mut block.end, End::Wait { wait, location: None }),
        };
        let first = block.name.clone();
        self.blocks.insert(number.saturating_add(1), rest);
        let phis = self.blocks.iter_mut().flat_map(|block| &mut block.instructions);
        for incoming in phis.flat_map(|instruction| &mut instruction.incoming) {
            if incoming.from == first {
                incoming.from.clone_from(&name);
            }
        }
    }

    /// Phis name the block that was cut; what comes to them is its last part.
    fn rename_waiting(&mut self) {
        let mut renamed: Vec<(String, String)> = Vec::new();
        for pair in self.blocks.windows(2) {
            if let [block, next] = pair
                && matches!(block.end, End::Wait { .. })
            {
                match renamed.iter_mut().find(|(_, last)| *last == block.name) {
                    Some((_, last)) => last.clone_from(&next.name),
                    None => renamed.push((block.name.clone(), next.name.clone())),
                }
            }
        }
        let phis = self.blocks.iter_mut().flat_map(|block| &mut block.instructions);
        for incoming in phis.flat_map(|instruction| &mut instruction.incoming) {
            if let Some((_, last)) = renamed.iter().find(|(first, _)| *first == incoming.from) {
                incoming.from.clone_from(last);
            }
        }
    }

    /// All instructions.
    pub(super) fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.blocks.iter().flat_map(|block| &block.instructions)
    }

    /// The blocks that `block`, the one with this number, goes on to, by number.
    pub(super) fn successors(&self, number: usize) -> Vec<usize> {
        match self.blocks.get(number).map(|block| &block.end) {
            Some(End::Wait { .. }) => vec![number.saturating_add(1)],
            Some(End::Jump(line)) => line.labels().filter_map(|label| self.number(label)).collect(),
            _ => Vec::new(),
        }
    }

    /// The number of the block `name`.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.blocks.iter().position(|block| block.name == name)
    }

    /// The block `name`.
    pub(super) fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }
}

/// A block that has no end yet.
struct Open {
    name: String,
    instructions: Vec<Instruction>,
    /// Whether it is the rest of a block that was cut.
    goes_on: bool,
}

impl Open {
    /// A label is read.
    fn start(&mut self, name: String) -> Result<(), String> {
        if self.goes_on || !self.instructions.is_empty() {
            return Err(format!("its block `{}` has no end", self.name));
        }
        self.name = name;
        Ok(())
    }
}

impl Instruction {
    fn parse(text: &str, types: &Types<'_>) -> Result<Instruction, String> {
        let named = text.strip_prefix('%').and_then(|rest| rest.split_once(" = "));
        let (result, text) = match named {
            Some((name, rest)) => (Some(local_name(name.trim_matches('"'))), rest),
            None => (None, text),
        };
        let text = text.strip_prefix("tail ").unwrap_or(text);
        let kind = kind(text);
        if kind != Kind::Phi {
            let line = Line::parse(text, types);
            return Ok(Instruction { result, line, incoming: Vec::new(), kind });
        }
        let unknown = || format!("it has `{text}`");
        let (head, operands) = text.split_once("[ ").ok_or_else(unknown)?;
        let operands = operands.rsplit_once(" ]").ok_or_else(unknown)?.0;
        let mut incoming = Vec::new();
        for operand in operands.split(" ], [ ") {
            let (value, from) = operand.rsplit_once(", %").ok_or_else(unknown)?;
            let from = local_name(from.trim_matches('"'));
            incoming.push(Incoming { value: Line::parse(value, types), from });
        }
        Ok(Instruction { result, line: Line::parse(head.trim_end(), types), incoming, kind })
    }

    /// The values that it computes with; those of a phi are used where they come from.
    pub(super) fn operands(&self) -> impl Iterator<Item = &str> {
        self.line.values()
    }

    /// Whether a debugger is told where a variable lies.
    pub(super) fn is_declaration(&self) -> bool {
        self.line.contains("#dbg_declare(") || self.line.contains("@llvm.dbg.declare(")
    }

    /// What a debugger or the code generator is told, and nothing is computed with.
    pub(super) fn is_note(&self) -> bool {
        matches!(self.kind, Kind::Debug | Kind::Lifetime(_))
    }
}

fn kind(text: &str) -> Kind {
    if text.starts_with("#dbg_") || text.contains("@llvm.dbg.") {
        return Kind::Debug;
    }
    let word = text.split(' ').next().unwrap_or_default();
    match word {
        "phi" => Kind::Phi,
        "alloca" => Kind::Alloca,
        "load" => Kind::Load,
        "store" => Kind::Store,
        "call" if text.contains("@llvm.lifetime.start") => Kind::Lifetime(Lifetime::Start),
        "call" if text.contains("@llvm.lifetime.end") => Kind::Lifetime(Lifetime::End),
        "call" => Kind::Call,
        _ => Kind::Other,
    }
}

fn is_wait(text: &str) -> bool {
    text.contains(WAIT) && text.split(' ').any(|word| word == "call")
}

/// The name in a line `7:      ; preds = %2`.
fn label(line: &str) -> Option<String> {
    if line.starts_with([' ', '\t']) {
        return None;
    }
    // Blocks that nobody goes to have another comment.
    let line = line.split_once(" ;").map_or(line, |(name, _)| name).trim_end();
    let name = line.strip_suffix(':')?;
    Some(local_name(name.trim_matches('"')))
}

/// The number after `mark`.
fn word_after(text: &str, mark: &str) -> Option<String> {
    let rest = text.split_once(mark)?.1;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end).filter(|number| !number.is_empty()).map(str::to_string)
}

/// The operands of an instruction, without its word and flags: `i32 %x`, `ptr %p`.
pub(super) fn operands(text: &str) -> Vec<&str> {
    list(text.split_once(' ').map_or("", |(_, rest)| rest))
}
