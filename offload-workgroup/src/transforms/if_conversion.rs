//! If-conversion of unpredictable stores: where the condition does not hold, they go to a scratch slot.
//!
//! Graph searches have such stores: for each neighbour of a node they look up whether it was visited. A mispredicted branch
//! costs some twenty cycles, in which a CPU executes many stores. LLVM keeps such branches, for it may not invent stores,
//! and uses masked vectors for CPUs with AVX-512 at best.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::control_flow::ControlFlowGraph;
use crate::analysis::values::{has_opcode, has_variable_divisor};
use crate::ir::function::{Block, Function, Instruction, Opcode, Terminator, operands};
use crate::ir::line::{Line, Token};
use crate::ir::{Types, first_type};
use crate::options::Validity;

/// The name of the scratch slot.
const SCRATCH_SLOT: &str = "offload.spare";
/// Its size and alignment in bytes.
const SCRATCH_SIZE: u64 = 16;
/// More stores, or computations for them, cost more than an occasional misprediction.
const MAX_STORES: usize = 4;
const MAX_INSTRUCTIONS: usize = 12;

/// If-converts unpredictable stores in the innermost loops of `function`, unless it has a barrier.
pub(crate) fn convert_unpredictable_stores(function: &mut Function, types: &Types<'_>) {
    if function.blocks.iter().any(|block| matches!(block.terminator, Terminator::Barrier { .. })) {
        return;
    }
    let then_blocks = unpredictable_then_blocks(function, types);
    if then_blocks.is_empty() {
        return;
    }
    convert(function, then_blocks);
    let Some(entry) = function.blocks.first_mut() else { return };
    let alloca =
        Line::from_tokens(vec![text(&format!("alloca [{SCRATCH_SIZE} x i8], align {SCRATCH_SIZE}"))]);
    // The address escapes: LLVM turns a store to a variable whose uses it all knows into a branch again.
    let escape = Line::from_tokens(vec![
        text("call void asm sideeffect \"\", \"r\"(ptr "),
        value(SCRATCH_SLOT),
        text(") nounwind memory(none)"),
    ]);
    let slot =
        [instruction(Some(SCRATCH_SLOT), alloca, Opcode::Alloca), instruction(None, escape, Opcode::Call)];
    entry.instructions.splice(0..0, slot);
}

/// A block of stores that is executed under a condition.
#[derive(Debug)]
struct ThenBlock {
    /// The block that ends with the branch.
    branch: usize,
    /// The block with the stores.
    stores: usize,
    merge: usize,
    condition: String,
    /// The value of the condition for which the stores are executed.
    polarity: bool,
}

/// Converts all of `then_blocks`, and removes their blocks: until then the numbers of others stay.
fn convert(function: &mut Function, then_blocks: Vec<ThenBlock>) {
    let mut removed = BTreeSet::new();
    for then_block in then_blocks {
        removed.insert(then_block.stores);
        then_block.convert(function);
    }
    let mut number = 0;
    function.blocks.retain(|_| {
        number += 1;
        !removed.contains(&(number - 1))
    });
}

fn unpredictable_then_blocks(function: &Function, types: &Types<'_>) -> Vec<ThenBlock> {
    let cfg = ControlFlowGraph::new(function, Validity::Assumed);
    let loops = cfg.loops();
    let mut headers = BTreeSet::new();
    headers.extend(loops.iter().map(|one| one.header));
    let mut then_blocks = Vec::new();
    for candidate in &loops {
        let nested = candidate.blocks.iter().filter(|block| headers.contains(block)).count();
        if nested != 1 {
            continue;
        }
        let blocks = candidate.blocks.iter().filter_map(|number| function.blocks.get(*number));
        let mut definitions: BTreeMap<&str, &Instruction> = BTreeMap::new();
        for instruction in blocks.flat_map(|block| &block.instructions) {
            definitions.extend(instruction.result.as_deref().map(|name| (name, instruction)));
        }
        for branch in candidate.blocks.iter().copied() {
            let Some(then_block) = ThenBlock::find(function, &cfg, branch) else { continue };
            let stores = function.blocks.get(then_block.stores);
            if is_unpredictable(&then_block.condition, &definitions)
                && stores.is_some_and(|stores| is_convertible(stores, types))
            {
                then_blocks.push(then_block);
            }
        }
    }
    then_blocks
}

impl ThenBlock {
    /// The then-block of the branch at the end of block `branch`.
    fn find(function: &Function, cfg: &ControlFlowGraph, branch: usize) -> Option<ThenBlock> {
        let branch_block = function.blocks.get(branch)?;
        let Terminator::Branch(line) = &branch_block.terminator else { return None };
        let mut values = line.values();
        let condition = values.next()?.to_string();
        if values.next().is_some() {
            return None;
        }
        let [if_true, if_false] = cfg.successors(branch) else { return None };
        let (stores, merge, polarity) = if is_then_block(cfg, *if_true, *if_false) {
            (*if_true, *if_false, true)
        } else if is_then_block(cfg, *if_false, *if_true) {
            (*if_false, *if_true, false)
        } else {
            return None;
        };
        let stores_block = function.blocks.get(stores)?;
        let merge_block = function.blocks.get(merge)?;
        let mut phis = merge_block.instructions.iter().filter(|one| one.opcode == Opcode::Phi);
        let has_equal_operands =
            phis.all(|phi| phi.operand_from(&stores_block.name) == phi.operand_from(&branch_block.name));
        has_equal_operands.then_some(ThenBlock { branch, stores, merge, condition, polarity })
    }

    /// Moves the stores before the branch, which becomes unconditional. Their block stays behind, without instructions.
    fn convert(self, function: &mut Function) {
        let Some(stores) = function.blocks.get_mut(self.stores) else { return };
        let name = stores.name.clone();
        let instructions = std::mem::take(&mut stores.instructions);
        let Some(merge) = function.blocks.get_mut(self.merge) else { return };
        for phi in &mut merge.instructions {
            phi.incoming.retain(|incoming| incoming.from != name);
        }
        let merge = merge.name.clone();
        let Some(block) = function.blocks.get_mut(self.branch) else { return };
        block.terminator =
            Terminator::Branch(Line::from_tokens(vec![text("br label "), Token::Label(merge), text("")]));
        let instructions = instructions.into_iter().filter(|one| one.opcode != Opcode::DebugRecord);
        for (number, mut converted) in instructions.enumerate() {
            if converted.opcode == Opcode::Store
                && let Some(address) = converted.line.values().last()
            {
                let selected = format!("offload.place.{name}.{number}");
                let select = self.select(address);
                block.instructions.push(instruction(Some(&selected), select, Opcode::Other));
                converted.line.rename_last(selected);
            }
            block.instructions.push(converted);
        }
    }

    /// The selection between `address` and the scratch slot.
    fn select(&self, address: &str) -> Line {
        let (if_true, if_false) =
            if self.polarity { (address, SCRATCH_SLOT) } else { (SCRATCH_SLOT, address) };
        Line::from_tokens(vec![
            text("select i1 "),
            value(&self.condition),
            text(", ptr "),
            value(if_true),
            text(", ptr "),
            value(if_false),
            text(", !unpredictable !{}"),
        ])
    }
}

/// Whether block `stores` has one predecessor, and `merge` as its only successor.
fn is_then_block(cfg: &ControlFlowGraph, stores: usize, merge: usize) -> bool {
    stores != merge && cfg.successors(stores) == [merge] && cfg.predecessors(stores).len() == 1
}

/// Whether `condition` compares a value whose address depends on another load of the same iteration, so that branch
/// predictors see no pattern.
fn is_unpredictable(condition: &str, definitions: &BTreeMap<&str, &Instruction>) -> bool {
    let compare = definitions.get(condition).filter(|one| has_opcode(one, &["icmp", "fcmp"]));
    let Some(compare) = compare else { return false };
    let mut operands = compare.operands().filter_map(|operand| definitions.get(operand));
    operands.any(|operand| operand.opcode == Opcode::Load && depends_on_load(operand, definitions))
}

/// Whether the address of `load` is computed from the result of another one.
fn depends_on_load<'f>(load: &'f Instruction, definitions: &BTreeMap<&'f str, &'f Instruction>) -> bool {
    let mut open: Vec<&str> = load.operands().collect();
    // Only a phi can be computed from itself.
    while let Some(instruction) = open.pop().and_then(|name| definitions.get(name)) {
        match instruction.opcode {
            Opcode::Load => return true,
            Opcode::Other => open.extend(instruction.operands()),
            _ => {}
        }
    }
    false
}

/// Whether the block has a few stores, and otherwise only cheap instructions without side effects.
fn is_convertible(block: &Block, types: &Types<'_>) -> bool {
    let instructions = block.instructions.iter().filter(|one| one.opcode != Opcode::DebugRecord);
    let stores = instructions.clone().filter(|one| one.opcode == Opcode::Store).count();
    (1..=MAX_STORES).contains(&stores)
        && instructions.clone().count() <= MAX_INSTRUCTIONS
        && instructions.into_iter().all(|one| match one.opcode {
            Opcode::Store => fits_scratch_slot(one, types),
            Opcode::Other => is_cheap(one),
            _ => false,
        })
}

/// Whether a store may go to the scratch slot.
fn fits_scratch_slot(store: &Instruction, types: &Types<'_>) -> bool {
    let text = store.line.text();
    let parts = operands(&text);
    let [value, address, ..] = &*parts else { return false };
    let layout = first_type(value).and_then(|typed| types.layout(typed.ty));
    let is_plain = !text.split(' ').any(|word| word == "volatile" || word == "atomic");
    let is_named = store.line.values().last().is_some_and(|name| *address == format!("ptr %{name}"));
    is_plain
        && is_named
        && layout.is_some_and(|layout| layout.size <= SCRATCH_SIZE && layout.align <= SCRATCH_SIZE)
}

/// Whether an instruction is a cheap computation without side effects.
fn is_cheap(instruction: &Instruction) -> bool {
    const OPCODES: [&str; 16] = [
        "getelementptr",
        "zext",
        "sext",
        "trunc",
        "add",
        "sub",
        "mul",
        "shl",
        "lshr",
        "ashr",
        "and",
        "or",
        "xor",
        "icmp",
        "select",
        "bitcast",
    ];
    has_opcode(instruction, &OPCODES) && !has_variable_divisor(instruction) && !instruction.line.contains("<")
}

fn text(text: &str) -> Token {
    Token::Text(text.to_string())
}

fn value(name: &str) -> Token {
    Token::Value(name.to_string())
}

fn instruction(result: Option<&str>, line: Line, opcode: Opcode) -> Instruction {
    Instruction { result: result.map(str::to_string), line, incoming: Vec::new(), opcode }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each number of a list, the entry that it names is set if it is zero.
    const SEARCH: &str = "\
define void @f(ptr %args) {
  %1 = load ptr, ptr %args
  %2 = load ptr, ptr %1
  br label %3
3:
  %4 = phi i64 [ 0, %0 ], [ %14, %13 ]
  %5 = getelementptr i32, ptr %2, i64 %4
  %6 = load i32, ptr %5, align 4
  %7 = zext i32 %6 to i64
  %8 = getelementptr i32, ptr %1, i64 %7
  %9 = load i32, ptr %8, align 4
  %10 = icmp eq i32 %9, 0
  br i1 %10, label %11, label %13
11:
  %12 = getelementptr i32, ptr %2, i64 %7
  store i32 5, ptr %12, align 4, !tbaa !3
  store i32 %6, ptr %8, align 4
  br label %13
13:
  %14 = add i64 %4, 1
  %15 = icmp eq i64 %14, 8
  br i1 %15, label %16, label %3
16:
  ret void";

    fn converted(text: &str) -> Function {
        let lines: Vec<&str> = text.lines().collect();
        let types = Types::new("");
        let mut function = Function::parse(&lines, &types).unwrap();
        convert_unpredictable_stores(&mut function, &types);
        function
    }

    fn lines(block: &Block) -> Vec<String> {
        let mut lines = Vec::new();
        for instruction in &block.instructions {
            let result = instruction.result.as_ref().map(|name| format!("%{name} = ")).unwrap_or_default();
            lines.push(format!("{result}{}", instruction.line.text()));
        }
        lines
    }

    #[test]
    fn unpredictable_stores_are_unconditional() {
        let function = converted(SEARCH);
        let names: Vec<&str> = function.blocks.iter().map(|block| block.name.as_str()).collect();
        assert_eq!(names, ["v0", "v3", "v13", "v16"]);
        let entry = lines(&function.blocks[0]);
        assert_eq!(entry[0], "%offload.spare = alloca [16 x i8], align 16");
        assert_eq!(
            entry[1],
            "call void asm sideeffect \"\", \"r\"(ptr %offload.spare) nounwind memory(none)"
        );
        assert_eq!(
            lines(&function.blocks[1])[7..],
            [
                "%v12 = getelementptr i32, ptr %v2, i64 %v7",
                "%offload.place.v11.1 = select i1 %v10, ptr %v12, ptr %offload.spare, !unpredictable !{}",
                "store i32 5, ptr %offload.place.v11.1, align 4, !tbaa !3",
                "%offload.place.v11.2 = select i1 %v10, ptr %v8, ptr %offload.spare, !unpredictable !{}",
                "store i32 %v6, ptr %offload.place.v11.2, align 4",
            ]
        );
        assert_eq!(function.all_successors()[1], [2]);
    }

    #[test]
    fn stores_of_an_else_block_use_the_scratch_slot_where_the_condition_holds() {
        let other = SEARCH.replace("label %11, label %13\n11", "label %13, label %11\n11");
        let text = lines(&converted(&other).blocks[1]).join("\n");
        assert!(text.contains("select i1 %v10, ptr %offload.spare, ptr %v12, !unpredictable !{}"), "{text}");
    }

    #[test]
    fn other_branches_stay() {
        for (from, to) in [
            // A condition that follows a pattern, or is known before the loop.
            ("%8 = getelementptr i32, ptr %1, i64 %7", "%8 = getelementptr i32, ptr %1, i64 %4"),
            ("br i1 %10", "br i1 %c"),
            // More than stores, or larger ones.
            ("  %12 = ", "  %20 = load i32, ptr %1\n  %12 = "),
            ("  %12 = ", "  call void @f()\n  %12 = "),
            ("  %12 = ", "  %20 = udiv i32 5, %6\n  %12 = "),
            ("store i32 5", "store volatile i32 5"),
            ("store i32 5", "store <8 x i32> zeroinitializer"),
            ("ptr %12, align", "ptr @g, align"),
            // What comes out of them is used.
            ("13:\n", "13:\n  %20 = phi i32 [ 0, %3 ], [ 1, %11 ]\n"),
            // Work-items wait for each other.
            ("  ret void", "  call void @__offload_wait()\n  br label %21\n21:\n  ret void"),
        ] {
            let text = SEARCH.replace(from, to);
            assert_ne!(text, SEARCH);
            assert!(converted(&text).blocks.iter().any(|block| block.name == "v11"), "{to}");
        }
    }

    #[test]
    fn outside_of_loops_branches_stay() {
        let once = SEARCH.replace("label %16, label %3", "label %16, label %16");
        assert_eq!(converted(&once).blocks.len(), 5);
    }
}
