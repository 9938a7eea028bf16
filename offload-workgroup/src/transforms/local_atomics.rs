//! Atomic operations on local memory become plain ones: all work-items of a group run on one thread, one after the
//! other, and no other group has the same local memory.
//!
//! x86 locks the cache line for an atomic operation, which takes some twenty cycles even if nobody else wants it.

use std::collections::{BTreeMap, BTreeSet};

use offload_format::pack::ArgKind;

use super::function::{Function, Instruction, Kind};
use crate::ir::types::{first_type, list};
use crate::ir::{Kernel, global_name};

/// What is known of local memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalMemory<'a> {
    /// `__local` arrays, by the names of their variables.
    pub(super) arrays: &'a BTreeSet<&'a str>,
    /// The kernel, if its arguments are known.
    pub(super) kernel: Option<&'a Kernel>,
}

/// How a value is reached from the array of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// So many bytes into the array.
    Array(usize),
    /// Where the argument with this number lies.
    Cell(usize),
    /// Into local memory.
    Local,
}

/// Marks the atomic operations of `function` that plain ones can replace.
pub(super) fn mark(function: &mut Function, memory: &LocalMemory<'_>) {
    let reached = reached(function, memory);
    let found: Vec<bool> = function
        .instructions()
        .map(|instruction| {
            let text = instruction.line.plain();
            let Some(operation) = Operation::parse(&text) else { return false };
            operation.is_known() && is_local(operation.address, &reached, memory)
        })
        .collect();
    let instructions = function.blocks.iter_mut().flat_map(|block| &mut block.instructions);
    for (instruction, exclusive) in instructions.zip(found) {
        if exclusive {
            instruction.kind = Kind::Exclusive;
        }
    }
}

/// What does the same as the marked instruction `text`, `%name = atomicrmw ...`, for a thread that is alone; `text`
/// itself if it is no such instruction.
pub(super) fn plain(text: &str) -> Vec<String> {
    let parsed = text.split_once(" = ").and_then(|(name, text)| Some((name, Operation::parse(text)?)));
    parsed.and_then(|(name, operation)| operation.plain(name)).unwrap_or_else(|| vec![text.to_string()])
}

/// An atomic operation that reads and writes.
#[derive(Clone, Copy, Debug)]
struct Operation<'t> {
    /// `add`, or `cmpxchg`.
    word: &'t str,
    /// `ptr %p`
    address: &'t str,
    ty: &'t str,
    value: &'t str,
    /// What a `cmpxchg` writes.
    new: Option<&'t str>,
    /// `align 4`, and metadata.
    rest: &'t str,
}

impl<'t> Operation<'t> {
    fn parse(text: &'t str) -> Option<Operation<'t>> {
        let (instruction, rest) = text.split_once(' ')?;
        let rest = rest.strip_prefix("weak ").unwrap_or(rest);
        let rest = rest.strip_prefix("volatile ").unwrap_or(rest);
        let (word, operands) = match instruction {
            "atomicrmw" => rest.split_once(' ')?,
            "cmpxchg" => (instruction, rest),
            _ => return None,
        };
        let parts = list(operands);
        let (address, value) = (*parts.first()?, first_type(parts.get(1)?)?);
        let new = match word {
            "cmpxchg" => Some(name(first_type(parts.get(2)?)?.rest)?),
            _ => None,
        };
        let rest = operands.find(", align ").and_then(|at| operands.get(at..)).unwrap_or_default();
        Some(Operation { word, address, ty: value.ty, value: name(value.rest)?, new, rest })
    }

    fn is_known(&self) -> bool {
        self.word == "cmpxchg" || self.result("").is_some()
    }

    /// The instructions that make `NAME.new` of `NAME.old` and the value.
    fn result(&self, name: &str) -> Option<Vec<String>> {
        let Operation { ty, value, .. } = self;
        let least_or_most = |compare: &str| {
            vec![
                format!("{name}.is = icmp {compare} {ty} {name}.old, {value}"),
                format!("{name}.new = select i1 {name}.is, {ty} {name}.old, {ty} {value}"),
            ]
        };
        Some(match self.word {
            "add" | "sub" | "and" | "or" | "xor" | "fadd" | "fsub" => {
                vec![format!("{name}.new = {} {ty} {name}.old, {value}", self.word)]
            }
            "xchg" => Vec::new(),
            "min" => least_or_most("slt"),
            "max" => least_or_most("sgt"),
            "umin" => least_or_most("ult"),
            "umax" => least_or_most("ugt"),
            _ => return None,
        })
    }

    fn plain(&self, name: &str) -> Option<Vec<String>> {
        let Operation { word, address, ty, value, new, rest } = self;
        let mut lines = vec![format!("{name}.old = load {ty}, {address}{rest}")];
        let store = |value: &str| format!("store {ty} {value}, {address}{rest}");
        match (*word, new) {
            ("cmpxchg", Some(new)) => {
                lines.push(format!("{name}.is = icmp eq {ty} {name}.old, {value}"));
                lines.push(format!("{name}.new = select i1 {name}.is, {ty} {new}, {ty} {name}.old"));
                lines.push(store(&format!("{name}.new")));
                lines.push(format!("{name}.pair = insertvalue {{ {ty}, i1 }} poison, {ty} {name}.old, 0"));
                lines.push(format!("{name} = insertvalue {{ {ty}, i1 }} {name}.pair, i1 {name}.is, 1"));
                return Some(lines);
            }
            ("xchg", _) => lines.push(store(value)),
            _ => {
                lines.extend(self.result(name)?);
                lines.push(store(&format!("{name}.new")));
            }
        }
        // Another name of the same value.
        lines.push(format!("{name} = freeze {ty} {name}.old"));
        Some(lines)
    }
}

/// A value that is a name or a number, at the start of `text`: no constant expression.
fn name(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let word = text.split(' ').next()?;
    let is_expression = text.strip_prefix(word).is_some_and(|rest| rest.starts_with(" ("));
    if is_expression {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "%._-+$".contains(c);
    (!word.is_empty() && word.chars().all(plain)).then_some(word)
}

/// Follows the addresses of local memory, and what leads to them, until nothing changes.
fn reached(function: &Function, memory: &LocalMemory<'_>) -> BTreeMap<String, Reach> {
    let mut reached = BTreeMap::from([(function.parameter.clone(), Reach::Array(0))]);
    loop {
        let new: Vec<(String, Reach)> = function
            .instructions()
            .filter_map(|instruction| {
                let name = instruction.result.as_ref().filter(|name| !reached.contains_key(*name))?;
                Some((name.clone(), reach(instruction, &reached, memory)?))
            })
            .collect();
        if new.is_empty() {
            return reached;
        }
        reached.extend(new);
    }
}

fn reach(
    instruction: &Instruction,
    reached: &BTreeMap<String, Reach>,
    memory: &LocalMemory<'_>,
) -> Option<Reach> {
    let text = instruction.line.plain();
    let (word, operands) = text.split_once(' ')?;
    let operands = list(operands);
    let address = *operands.get(1)?;
    let from = address.strip_prefix("ptr %").and_then(|name| reached.get(name)).copied();
    match (word, from) {
        ("getelementptr", Some(Reach::Array(bytes))) => {
            let element = if operands.first()?.ends_with("ptr") { size_of::<u64>() } else { 1 };
            let index: usize = operands.get(2)?.strip_prefix("i64 ")?.parse().ok()?;
            Some(Reach::Array(index.checked_mul(element)?.checked_add(bytes)?))
        }
        ("getelementptr", _) => is_local(address, reached, memory).then_some(Reach::Local),
        ("load", Some(Reach::Array(bytes))) => Some(Reach::Cell(bytes / size_of::<u64>())),
        ("load", Some(Reach::Cell(number))) => {
            let kind = memory.kernel?.args.get(number)?.kind;
            (kind == ArgKind::Local).then_some(Reach::Local)
        }
        _ => None,
    }
}

/// Whether `ptr %p`, or `ptr @array`, points into local memory.
fn is_local(address: &str, reached: &BTreeMap<String, Reach>, memory: &LocalMemory<'_>) -> bool {
    match address.strip_prefix("ptr %") {
        Some(name) => reached.get(name) == Some(&Reach::Local),
        None => global_name(address).is_some_and(|(name, _)| memory.arrays.contains(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::KernelArg;
    use crate::ir::types::Types;

    fn marked(body: &str) -> Vec<bool> {
        let arg = |kind| KernelArg {
            name: "a".into(),
            type_name: "uint*".into(),
            base_type: "uint".into(),
            kind,
            size: None,
            element_size: None,
            is_const: false,
        };
        let args = vec![arg(ArgKind::Global), arg(ArgKind::Local)];
        let kernel = Kernel { name: "k".into(), args, required_work_group: None };
        let text = format!("define void @f(ptr %0) {{\n{body}\n  ret void");
        let lines: Vec<&str> = text.lines().collect();
        let mut function = Function::parse(&lines, &Types::of("")).unwrap();
        let arrays = BTreeSet::from(["k.count"]);
        mark(&mut function, &LocalMemory { arrays: &arrays, kernel: Some(&kernel) });
        let atomic = |instruction: &&Instruction| {
            instruction.line.contains("atomicrmw ") || instruction.line.contains("cmpxchg ")
        };
        function.instructions().filter(atomic).map(|one| one.kind == Kind::Exclusive).collect()
    }

    #[test]
    fn local_arrays_and_local_arguments_are_of_one_thread() {
        let body = "\
  %2 = getelementptr inbounds [64 x i32], ptr @k.count, i64 0, i64 5
  %3 = atomicrmw volatile add ptr %2, i32 1 syncscope(\"workgroup\") seq_cst, align 4
  %4 = atomicrmw add ptr @k.count, i32 1 monotonic, align 4
  %5 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %6 = load ptr, ptr %5, align 8
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds i32, ptr %7, i64 %3
  %9 = cmpxchg ptr %8, i32 0, i32 1 seq_cst seq_cst, align 4
  %10 = atomicrmw add ptr getelementptr inbounds (i8, ptr @k.count, i64 4), i32 1 monotonic, align 4";
        assert_eq!(marked(body), [true; 4]);
    }

    #[test]
    fn global_memory_and_unknown_addresses_stay_atomic() {
        let body = "\
  %2 = load ptr, ptr %0, align 8
  %3 = load ptr, ptr %2, align 8
  %4 = atomicrmw add ptr %3, i32 1 monotonic, align 4
  %5 = getelementptr inbounds [64 x i32], ptr @other, i64 0, i64 5
  %6 = atomicrmw add ptr %5, i32 1 monotonic, align 4
  %7 = select i1 %c, ptr @k.count, ptr %3
  %8 = atomicrmw add ptr %7, i32 1 monotonic, align 4
  %9 = getelementptr inbounds i8, ptr %0, i64 16
  %10 = load ptr, ptr %9, align 8
  %11 = load ptr, ptr %10, align 8
  %12 = cmpxchg ptr %11, i32 0, i32 1 seq_cst seq_cst, align 4";
        assert_eq!(marked(body), [false; 4]);
    }

    #[test]
    fn operations_without_a_plain_form_stay_atomic() {
        assert_eq!(marked("  %3 = atomicrmw uinc_wrap ptr @k.count, i32 1 monotonic, align 4"), [false]);
        assert_eq!(marked("  %3 = atomicrmw fmax ptr @k.count, float %2 monotonic, align 4"), [false]);
    }

    #[test]
    fn an_operation_reads_computes_and_writes() {
        assert_eq!(
            plain("%3.p1 = atomicrmw volatile add ptr %2.p1, i32 1 seq_cst, align 4, !dbg !5"),
            [
                "%3.p1.old = load i32, ptr %2.p1, align 4, !dbg !5",
                "%3.p1.new = add i32 %3.p1.old, 1",
                "store i32 %3.p1.new, ptr %2.p1, align 4, !dbg !5",
                "%3.p1 = freeze i32 %3.p1.old",
            ]
        );
        assert_eq!(
            plain("%3 = atomicrmw umax ptr @a, i64 %x monotonic, align 8")[1..3],
            ["%3.is = icmp ugt i64 %3.old, %x", "%3.new = select i1 %3.is, i64 %3.old, i64 %x"]
        );
        assert_eq!(
            plain("%3 = cmpxchg weak ptr %p, i32 %c, i32 -1 acq_rel monotonic, align 4"),
            [
                "%3.old = load i32, ptr %p, align 4",
                "%3.is = icmp eq i32 %3.old, %c",
                "%3.new = select i1 %3.is, i32 -1, i32 %3.old",
                "store i32 %3.new, ptr %p, align 4",
                "%3.pair = insertvalue { i32, i1 } poison, i32 %3.old, 0",
                "%3 = insertvalue { i32, i1 } %3.pair, i1 %3.is, 1",
            ]
        );
        assert_eq!(plain("%3 = add i32 1, 2"), ["%3 = add i32 1, 2"]);
    }
}
