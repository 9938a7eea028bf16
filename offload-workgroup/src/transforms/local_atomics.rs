//! Atomic operations on local memory, expanded to a load, a computation and a store.
//!
//! One thread runs all work-items of a group, and has local memory of its own. x86 locks the cache line for an atomic
//! operation, which costs some twenty cycles without contention, too.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::function::{Function, Instruction, Opcode};
use crate::ir::{first_type, global_name, list};
use crate::kernel::{ArgumentKind, Kernel};

/// The local memory of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalMemory<'a> {
    /// `__local` arrays, by the names of their variables.
    pub(crate) arrays: &'a BTreeSet<&'a str>,
    /// The kernel, if its arguments are known.
    pub(crate) kernel: Option<&'a Kernel>,
}

/// The memory that a pointer is derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provenance {
    /// The argument array, with an offset in bytes.
    ArgumentArray(usize),
    /// The cell of the argument with this number.
    ArgumentCell(usize),
    LocalMemory,
}

/// Marks the atomic operations of `function` that plain ones can replace as [`Opcode::LocalAtomic`].
pub(crate) fn mark(function: &mut Function, memory: &LocalMemory<'_>) {
    if !function.instructions().any(is_atomic_operation) {
        return;
    }
    let provenance = provenance_of_values(function, memory);
    for instruction in function.blocks.iter_mut().flat_map(|block| &mut block.instructions) {
        if !is_atomic_operation(instruction) {
            continue;
        }
        let text = instruction.line.text();
        let Some(operation) = AtomicOperation::parse(&text) else { continue };
        if operation.has_expansion() && is_local(operation.address, &provenance, memory) {
            instruction.opcode = Opcode::LocalAtomic;
        }
    }
}

fn is_atomic_operation(instruction: &Instruction) -> bool {
    matches!(instruction.line.opcode(), "atomicrmw" | "cmpxchg")
}

/// The expansion of the marked instruction `text`, `%name = atomicrmw ...`; `text` itself if it is another instruction.
pub(crate) fn expand(text: &str) -> Vec<String> {
    let parsed = text.split_once(" = ").and_then(|(name, text)| Some((name, AtomicOperation::parse(text)?)));
    let expansion = parsed.and_then(|(name, operation)| operation.expand(name));
    expansion.unwrap_or_else(|| vec![text.to_string()])
}

/// An atomic read-modify-write operation.
#[derive(Clone, Copy, Debug)]
struct AtomicOperation<'t> {
    /// `add`, or `cmpxchg`.
    word: &'t str,
    /// `ptr %p`
    address: &'t str,
    ty: &'t str,
    value: &'t str,
    /// The new value of a `cmpxchg`.
    new: Option<&'t str>,
    /// `align 4`, and metadata.
    rest: &'t str,
}

impl<'t> AtomicOperation<'t> {
    fn parse(text: &'t str) -> Option<AtomicOperation<'t>> {
        let (instruction, rest) = text.split_once(' ')?;
        let rest = rest.strip_prefix("weak ").unwrap_or(rest);
        let rest = rest.strip_prefix("volatile ").unwrap_or(rest);
        let (word, operands) = match instruction {
            "atomicrmw" => rest.split_once(' ')?,
            "cmpxchg" => (instruction, rest),
            _ => return None,
        };
        let parts = list(operands);
        let address = *parts.first()?;
        let value = first_type(parts.get(1)?)?;
        let new = match word {
            "cmpxchg" => Some(plain_operand(first_type(parts.get(2)?)?.rest)?),
            _ => None,
        };
        let rest = operands.find(", align ").and_then(|at| operands.get(at..)).unwrap_or_default();
        Some(AtomicOperation { word, address, ty: value.ty, value: plain_operand(value.rest)?, new, rest })
    }

    fn has_expansion(&self) -> bool {
        self.word == "cmpxchg" || self.computation("").is_some()
    }

    /// The instructions that compute `NAME.new` from `NAME.old` and the value.
    fn computation(&self, name: &str) -> Option<Vec<String>> {
        let AtomicOperation { word, ty, value, .. } = self;
        let predicate = match *word {
            "add" | "sub" | "and" | "or" | "xor" | "fadd" | "fsub" => {
                return Some(vec![format!("{name}.new = {word} {ty} {name}.old, {value}")]);
            }
            "xchg" => return Some(Vec::new()),
            "min" => "slt",
            "max" => "sgt",
            "umin" => "ult",
            "umax" => "ugt",
            _ => return None,
        };
        Some(vec![
            format!("{name}.is = icmp {predicate} {ty} {name}.old, {value}"),
            format!("{name}.new = select i1 {name}.is, {ty} {name}.old, {ty} {value}"),
        ])
    }

    fn expand(&self, name: &str) -> Option<Vec<String>> {
        let AtomicOperation { word, address, ty, value, new, rest } = self;
        let mut lines = vec![format!("{name}.old = load {ty}, {address}{rest}")];
        match (*word, new) {
            ("cmpxchg", Some(new)) => {
                lines.push(format!("{name}.is = icmp eq {ty} {name}.old, {value}"));
                lines.push(format!("{name}.new = select i1 {name}.is, {ty} {new}, {ty} {name}.old"));
                lines.push(format!("store {ty} {name}.new, {address}{rest}"));
                lines.push(format!("{name}.pair = insertvalue {{ {ty}, i1 }} poison, {ty} {name}.old, 0"));
                lines.push(format!("{name} = insertvalue {{ {ty}, i1 }} {name}.pair, i1 {name}.is, 1"));
                return Some(lines);
            }
            ("xchg", _) => lines.push(format!("store {ty} {value}, {address}{rest}")),
            _ => {
                lines.extend(self.computation(name)?);
                lines.push(format!("store {ty} {name}.new, {address}{rest}"));
            }
        }
        // A copy of the value under the name of the instruction.
        lines.push(format!("{name} = freeze {ty} {name}.old"));
        Some(lines)
    }
}

/// A value that is a name or a number, at the start of `text`; `None` for a constant expression.
fn plain_operand(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let word = text.split(' ').next()?;
    let is_expression = text.strip_prefix(word).is_some_and(|rest| rest.starts_with(" ("));
    if is_expression {
        return None;
    }
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "%._-+$".contains(c));
    (!word.is_empty() && is_plain).then_some(word)
}

/// The provenance of pointers into the argument array and into local memory, by iteration to a fixed point.
fn provenance_of_values(function: &Function, memory: &LocalMemory<'_>) -> BTreeMap<String, Provenance> {
    let mut known = BTreeMap::from([(function.parameter.clone(), Provenance::ArgumentArray(0))]);
    let mut changed = true;
    while changed {
        changed = false;
        for instruction in function.instructions() {
            let Some(name) = instruction.result.as_ref().filter(|name| !known.contains_key(*name)) else {
                continue;
            };
            if let Some(provenance) = provenance(instruction, &known, memory) {
                known.insert(name.clone(), provenance);
                changed = true;
            }
        }
    }
    known
}

fn provenance(
    instruction: &Instruction,
    known: &BTreeMap<String, Provenance>,
    memory: &LocalMemory<'_>,
) -> Option<Provenance> {
    let text = instruction.line.text();
    let (word, operands) = text.split_once(' ')?;
    let operands = list(operands);
    let address = *operands.get(1)?;
    let base = address.strip_prefix("ptr %").and_then(|name| known.get(name)).copied();
    match (word, base) {
        ("getelementptr", Some(Provenance::ArgumentArray(bytes))) => {
            let element = if operands.first()?.ends_with("ptr") { size_of::<u64>() } else { 1 };
            let index: usize = operands.get(2)?.strip_prefix("i64 ")?.parse().ok()?;
            Some(Provenance::ArgumentArray(index.checked_mul(element)?.checked_add(bytes)?))
        }
        ("getelementptr", _) => is_local(address, known, memory).then_some(Provenance::LocalMemory),
        ("load", Some(Provenance::ArgumentArray(bytes))) => {
            Some(Provenance::ArgumentCell(bytes / size_of::<u64>()))
        }
        ("load", Some(Provenance::ArgumentCell(number))) => {
            let kind = memory.kernel?.arguments.get(number)?.kind;
            (kind == ArgumentKind::Local).then_some(Provenance::LocalMemory)
        }
        _ => None,
    }
}

/// Whether `ptr %p`, or `ptr @array`, points into local memory.
fn is_local(address: &str, known: &BTreeMap<String, Provenance>, memory: &LocalMemory<'_>) -> bool {
    match address.strip_prefix("ptr %") {
        Some(name) => known.get(name) == Some(&Provenance::LocalMemory),
        None => global_name(address).is_some_and(|name| memory.arrays.contains(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Types;
    use crate::kernel::Argument;

    fn marked(body: &str) -> Vec<bool> {
        let arguments =
            [ArgumentKind::Global, ArgumentKind::Local].map(|kind| Argument::new("a", kind)).to_vec();
        let kernel = Kernel::new("k").with_arguments(arguments);
        let text = format!("define void @f(ptr %0) {{\n{body}\n  ret void");
        let lines: Vec<&str> = text.lines().collect();
        let mut function = Function::parse(&lines, &Types::new("")).unwrap();
        let arrays = BTreeSet::from(["k.count"]);
        mark(&mut function, &LocalMemory { arrays: &arrays, kernel: Some(&kernel) });
        let mut marked = Vec::new();
        for instruction in function.instructions() {
            if instruction.line.contains("atomicrmw ") || instruction.line.contains("cmpxchg ") {
                marked.push(instruction.opcode == Opcode::LocalAtomic);
            }
        }
        marked
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
            expand("%3.p1 = atomicrmw volatile add ptr %2.p1, i32 1 seq_cst, align 4, !dbg !5"),
            [
                "%3.p1.old = load i32, ptr %2.p1, align 4, !dbg !5",
                "%3.p1.new = add i32 %3.p1.old, 1",
                "store i32 %3.p1.new, ptr %2.p1, align 4, !dbg !5",
                "%3.p1 = freeze i32 %3.p1.old",
            ]
        );
        assert_eq!(
            expand("%3 = atomicrmw umax ptr @a, i64 %x monotonic, align 8")[1..3],
            ["%3.is = icmp ugt i64 %3.old, %x", "%3.new = select i1 %3.is, i64 %3.old, i64 %x"]
        );
        assert_eq!(
            expand("%3 = cmpxchg weak ptr %p, i32 %c, i32 -1 acq_rel monotonic, align 4"),
            [
                "%3.old = load i32, ptr %p, align 4",
                "%3.is = icmp eq i32 %3.old, %c",
                "%3.new = select i1 %3.is, i32 -1, i32 %3.old",
                "store i32 %3.new, ptr %p, align 4",
                "%3.pair = insertvalue { i32, i1 } poison, i32 %3.old, 0",
                "%3 = insertvalue { i32, i1 } %3.pair, i1 %3.is, 1",
            ]
        );
        assert_eq!(expand("%3 = add i32 1, 2"), ["%3 = add i32 1, 2"]);
    }
}
