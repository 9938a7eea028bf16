//! Stores under a condition that no CPU can guess are done always: where the condition does not hold, they go to memory of
//! no use.
//!
//! A search does so: of each neighbour of a node it looks up whether it was visited. A wrong guess takes some twenty
//! cycles, in which a CPU does many such stores.
//!
//! LLVM keeps such branches, for it may not invent stores, and makes vectors of them for CPUs with AVX-512 at best.

use std::collections::BTreeMap;

use super::facts;
use super::flow::{Flow, Loop};
use super::function::{Block, End, Function, Instruction, Kind, operands};
use super::text::{Line, Part};
use super::validity::Validity;
use crate::ir::types::{Types, first_type};

/// The memory of no use.
const SPARE: &str = "offload.spare";
const SPARE_SIZE: u64 = 16;
/// More stores, or computations for them, take longer than a wrong guess now and then.
const MOST_STORES: usize = 4;
const MOST_INSTRUCTIONS: usize = 12;

/// Takes the branches around such stores out of the innermost loops of `function`, if no work-item waits in it.
pub(super) fn always(function: &mut Function, types: &Types<'_>) {
    if function.blocks.iter().any(|block| matches!(block.end, End::Wait { .. })) {
        return;
    }
    let found = passed_over(function, types);
    if found.is_empty() {
        return;
    }
    for one in found {
        one.join(function);
    }
    let Some(entry) = function.blocks.first_mut() else { return };
    let spare = [Part::Text("call void asm sideeffect \"\", \"r\"(ptr ".into()), Part::Value(SPARE.into())];
    // LLVM makes a branch again of a store to a variable of which it knows all uses.
    let used = spare.into_iter().chain([Part::Text(") nounwind memory(none)".into())]);
    let alloca = format!("alloca [{SPARE_SIZE} x i8], align {SPARE_SIZE}");
    let alloca = instruction(Some(SPARE), Line::of(vec![Part::Text(alloca)]), Kind::Alloca);
    entry.instructions.splice(0..0, [alloca, instruction(None, Line::of(used.collect()), Kind::Call)]);
}

/// A block of stores that a branch may pass over.
#[derive(Debug)]
struct PassedOver {
    /// The name of the block that ends with the branch. Numbers of blocks change with each one that is removed.
    branch: String,
    /// The name of the block of stores.
    stores: String,
    /// Where both ways meet.
    meeting: String,
    condition: String,
    /// What the condition is where the stores are done.
    holds: bool,
}

fn passed_over(function: &Function, types: &Types<'_>) -> Vec<PassedOver> {
    let flow = Flow::new(function, Validity::Assumed);
    let loops = flow.loops();
    let is_innermost =
        |found: &&Loop| loops.iter().filter(|other| found.blocks.contains(&other.header)).count() == 1;
    let mut passed = Vec::new();
    for found in loops.iter().filter(is_innermost) {
        let blocks = found.blocks.iter().filter_map(|number| function.blocks.get(*number));
        let results = blocks.flat_map(|block| &block.instructions);
        let made: BTreeMap<&str, &Instruction> =
            results.filter_map(|one| Some((one.result.as_deref()?, one))).collect();
        for branch in found.blocks.iter().copied() {
            let one = PassedOver::of(function, &flow, branch);
            passed.extend(one.filter(|one| {
                is_a_guess(&one.condition, &made)
                    && function.block(&one.stores).is_some_and(|block| only_stores(block, types))
            }));
        }
    }
    passed
}

impl PassedOver {
    /// What the branch at the end of block `branch` passes over.
    fn of(function: &Function, flow: &Flow, branch: usize) -> Option<PassedOver> {
        let End::Jump(line) = &function.blocks.get(branch)?.end else { return None };
        let mut values = line.values();
        let (condition, None) = (values.next()?.to_string(), values.next()) else { return None };
        let [yes, no] = flow.successors(branch) else { return None };
        let passes = |stores: usize, meeting: usize| {
            let ways = (0..function.blocks.len()).flat_map(|block| flow.successors(block));
            stores != meeting
                && flow.successors(stores) == [meeting]
                && ways.filter(|next| **next == stores).count() == 1
        };
        let (stores, meeting, holds) = match (passes(*yes, *no), passes(*no, *yes)) {
            (true, _) => (*yes, *no, true),
            (false, true) => (*no, *yes, false),
            (false, false) => return None,
        };
        let (of_stores, meeting) = (function.blocks.get(stores)?, function.blocks.get(meeting)?);
        let before = &function.blocks.get(branch)?.name;
        let is_equal = |phi: &Instruction| {
            let from = |name: &str| phi.incoming.iter().find(|one| one.from == name).map(|one| &one.value);
            from(&of_stores.name) == from(before)
        };
        let mut phis = meeting.instructions.iter().filter(|one| one.kind == Kind::Phi);
        phis.all(is_equal).then(|| PassedOver {
            branch: before.clone(),
            stores: of_stores.name.clone(),
            meeting: meeting.name.clone(),
            condition,
            holds,
        })
    }

    /// Moves the stores before the branch, which goes.
    fn join(self, function: &mut Function) {
        let Some(stores) = function.number(&self.stores) else { return };
        let Block { name, instructions, .. } = function.blocks.remove(stores);
        for block in function.blocks.iter_mut().filter(|block| block.name == self.meeting) {
            block.instructions.iter_mut().for_each(|phi| phi.incoming.retain(|one| one.from != name));
        }
        let branch = function.blocks.iter_mut().find(|block| block.name == self.branch);
        let Some(block) = branch else { return };
        let ends = vec![
            Part::Text("br label ".into()),
            Part::Label(self.meeting.clone()),
            Part::Text(String::new()),
        ];
        block.end = End::Jump(Line::of(ends));
        for (number, mut one) in instructions.into_iter().filter(|one| one.kind != Kind::Debug).enumerate() {
            if one.kind == Kind::Store
                && let Some(address) = one.line.values().last()
            {
                let place = format!("offload.place.{name}.{number}");
                let select = self.select(address);
                block.instructions.push(instruction(Some(&place), select, Kind::Other));
                one.line.rename_last(place);
            }
            block.instructions.push(one);
        }
    }

    /// `address` where the stores are done.
    fn select(&self, address: &str) -> Line {
        let (yes, no) = if self.holds { (address, SPARE) } else { (SPARE, address) };
        let text = |text: &str| Part::Text(text.to_string());
        let value = |name: &str| Part::Value(name.to_string());
        Line::of(vec![
            text("select i1 "),
            value(&self.condition),
            text(", ptr "),
            value(yes),
            text(", ptr "),
            value(no),
            text(", !unpredictable !{}"),
        ])
    }
}

/// Whether `condition` compares what is read where something read in the same round of the loop says: neighbours of it are
/// anywhere, and so no CPU learns what comes.
fn is_a_guess(condition: &str, made: &BTreeMap<&str, &Instruction>) -> bool {
    let Some(compare) = made.get(condition).filter(|one| is_word(one, &["icmp", "fcmp"])) else {
        return false;
    };
    let mut loads = compare.operands().filter_map(|operand| made.get(operand));
    loads.any(|load| load.kind == Kind::Load && leads_to_load(load, made))
}

/// Whether the address that `load` reads is computed from what another one has read.
fn leads_to_load<'f>(load: &'f Instruction, made: &BTreeMap<&'f str, &'f Instruction>) -> bool {
    let mut open: Vec<&str> = load.operands().collect();
    // No instruction but a phi is computed from itself.
    while let Some(one) = open.pop().and_then(|name| made.get(name)) {
        match one.kind {
            Kind::Load => return true,
            Kind::Other => open.extend(one.operands()),
            _ => {}
        }
    }
    false
}

/// Whether the block stores little, and does nothing else that matters where the condition does not hold.
fn only_stores(block: &Block, types: &Types<'_>) -> bool {
    let instructions = block.instructions.iter().filter(|one| one.kind != Kind::Debug);
    let stores = instructions.clone().filter(|one| one.kind == Kind::Store).count();
    (1..=MOST_STORES).contains(&stores)
        && instructions.clone().count() <= MOST_INSTRUCTIONS
        && instructions.into_iter().all(|one| match one.kind {
            Kind::Store => fits(one, types),
            Kind::Other => is_cheap(one),
            _ => false,
        })
}

/// Whether a store may go to [`SPARE`].
fn fits(store: &Instruction, types: &Types<'_>) -> bool {
    let text = store.line.plain();
    let parts = operands(&text);
    let [value, address, ..] = &*parts else { return false };
    let layout = first_type(value).and_then(|typed| types.layout(typed.ty));
    let is_plain = !is_word_in(&text, &["volatile", "atomic"]);
    let is_named = store.line.values().last().is_some_and(|name| *address == format!("ptr %{name}"));
    is_plain
        && is_named
        && layout.is_some_and(|layout| layout.size <= SPARE_SIZE && layout.align <= SPARE_SIZE)
}

/// Whether an instruction only computes, and quickly.
fn is_cheap(instruction: &Instruction) -> bool {
    const WORDS: [&str; 16] = [
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
    is_word(instruction, &WORDS) && !facts::divides(instruction) && !instruction.line.contains("<")
}

fn is_word(instruction: &Instruction, words: &[&str]) -> bool {
    let text = instruction.line.plain();
    text.split(' ').next().is_some_and(|word| words.contains(&word))
}

fn is_word_in(text: &str, words: &[&str]) -> bool {
    text.split(' ').any(|word| words.contains(&word))
}

fn instruction(result: Option<&str>, line: Line, kind: Kind) -> Instruction {
    Instruction { result: result.map(str::to_string), line, incoming: Vec::new(), kind }
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

    fn done(text: &str) -> Function {
        let (lines, types): (Vec<&str>, _) = (text.lines().collect(), Types::of(""));
        let mut function = Function::parse(&lines, &types).unwrap();
        always(&mut function, &types);
        function
    }

    fn lines(block: &Block) -> Vec<String> {
        let result =
            |one: &Instruction| one.result.as_ref().map(|name| format!("%{name} = ")).unwrap_or_default();
        block.instructions.iter().map(|one| format!("{}{}", result(one), one.line.plain())).collect()
    }

    #[test]
    fn stores_that_data_decides_are_always_done() {
        let function = done(SEARCH);
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
        assert_eq!(function.successors(1), [2]);
    }

    #[test]
    fn stores_of_the_other_way_go_to_the_spare_memory_where_the_condition_holds() {
        let other = SEARCH.replace("label %11, label %13\n11", "label %13, label %11\n11");
        let text = lines(&done(&other).blocks[1]).join("\n");
        assert!(text.contains("select i1 %v10, ptr %offload.spare, ptr %v12, !unpredictable !{}"), "{text}");
    }

    #[test]
    fn other_branches_stay() {
        let stays = |from: &str, to: &str| {
            let text = SEARCH.replace(from, to);
            assert_ne!(text, SEARCH);
            assert!(done(&text).blocks.iter().any(|block| block.name == "v11"), "{to}");
        };
        // A condition that follows a pattern, or is known before the loop.
        stays("%8 = getelementptr i32, ptr %1, i64 %7", "%8 = getelementptr i32, ptr %1, i64 %4");
        stays("br i1 %10", "br i1 %c");
        // More than stores, or larger ones.
        stays("  %12 = ", "  %20 = load i32, ptr %1\n  %12 = ");
        stays("  %12 = ", "  call void @f()\n  %12 = ");
        stays("  %12 = ", "  %20 = udiv i32 5, %6\n  %12 = ");
        stays("store i32 5", "store volatile i32 5");
        stays("store i32 5", "store <8 x i32> zeroinitializer");
        stays("ptr %12, align", "ptr @g, align");
        // What comes out of them is used.
        stays("13:\n", "13:\n  %20 = phi i32 [ 0, %3 ], [ 1, %11 ]\n");
        // Work-items wait for each other.
        stays("  ret void", "  call void @__offload_wait()\n  br label %21\n21:\n  ret void");
    }

    #[test]
    fn outside_of_loops_branches_stay() {
        let once = SEARCH.replace("label %16, label %3", "label %16, label %16");
        assert_eq!(done(&once).blocks.len(), 5);
    }
}
