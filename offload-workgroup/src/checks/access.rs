//! The memory accesses of an instruction, from its text.

use super::sites::AccessKind;
use crate::ir::{Symbol, global_symbol};

/// A memory access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access<'a> {
    /// The operand, as a part of the line.
    pub(super) pointer: &'a str,
    /// The distance of the access from the pointer.
    pub(super) offset: Option<Offset<'a>>,
    pub(super) size: AccessSize,
    pub(super) kind: AccessKind,
    /// The alignment of the address; 0 if it is unknown.
    pub(super) align: u64,
}

/// A number of elements of a size in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offset<'a> {
    pub(super) index: &'a str,
    pub(super) element: u64,
}

/// The number of accessed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AccessSize {
    OfType(String),
    /// An operand.
    Bytes(String),
    /// An operand, and bytes of each element.
    Elements(String, u64),
}

/// The accesses of the instruction in `line`.
pub(super) fn accesses(line: &str) -> Vec<Access<'_>> {
    let text = line.trim_start();
    let text = match text.split_once(" = ") {
        Some((name, rest)) if name.starts_with('%') => rest,
        _ => text,
    };
    let (text, _) = without_flags(text);
    let (opcode, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (rest, is_atomic) = without_flags(rest);
    let mut found: Vec<Access<'_>> = match opcode {
        "load" => load(rest).into_iter().collect(),
        "store" => store(rest).into_iter().collect(),
        "atomicrmw" | "cmpxchg" => exchange(rest).into_iter().collect(),
        "call" => call(rest),
        _ => Vec::new(),
    };
    if is_atomic {
        let kind = if opcode == "store" { AccessKind::AtomicWrite } else { AccessKind::Atomic };
        for access in &mut found {
            access.kind = kind;
        }
    }
    found
}

/// Whether the first of `lines` loads a vector that the next ones store back with other elements: so clang compiles
/// `v.x = 1`, which reads nothing.
pub(super) fn starts_element_update(lines: &[&str]) -> bool {
    /// Instructions that the update may take.
    const MAX_INSTRUCTIONS: usize = 4;
    let Some((load, rest)) = lines.split_first() else { return false };
    let Some((result, instruction)) = load.trim_start().split_once(" = ") else { return false };
    let Some(read) = accesses(instruction).into_iter().next() else { return false };
    let is_vector = instruction.starts_with("load <") || instruction.starts_with("load volatile <");
    if !is_vector || read.kind != AccessKind::Read {
        return false;
    }
    let mut vector = result;
    for line in rest.iter().take(MAX_INSTRUCTIONS) {
        let text = line.trim_start();
        if let Some((result, replaced)) = text.split_once(" = ") {
            let is_replaced =
                ["insertelement ", "shufflevector "].iter().any(|word| replaced.starts_with(word));
            if is_replaced && mentions(replaced, vector) {
                vector = result;
            } else if !replaced.starts_with("shufflevector ") {
                return false;
            }
            continue;
        }
        let write = accesses(text).into_iter().next();
        let is_back = write.is_some_and(|write| write.pointer == read.pointer);
        return is_back && text.starts_with("store ") && vector != result && mentions(text, vector);
    }
    false
}

/// The written element, if the last of `lines` stores back a vector of which one element was replaced.
pub(super) fn ends_element_update<'a>(lines: &[&'a str]) -> Option<Access<'a>> {
    let [.., load, insertion, store] = lines else { return None };
    let whole = accesses(store).into_iter().next()?;
    let read = accesses(load).into_iter().next()?;
    if whole.kind != AccessKind::Write || read.kind != AccessKind::Read || whole.pointer != read.pointer {
        return None;
    }
    let (vector, _) = load.trim_start().split_once(" = ")?;
    let (result, operation) = insertion.trim_start().split_once(" = ")?;
    let operands = operation.strip_prefix("insertelement <")?;
    let (count, typed) = operands.split_once(" x ")?;
    // A vector of three elements is loaded as one of four, whose last has no name.
    if count == "3" {
        return None;
    }
    let (element, rest) = typed.split_once("> ")?;
    if !mentions(rest, vector) || !mentions(store, result) {
        return None;
    }
    let (_, index) = rest.split(", !").next()?.rsplit_once(' ')?;
    let size = access_size(element);
    let element = element_size(element)?;
    Some(Access { offset: Some(Offset { index, element }), size, align: element, ..whole })
}

/// Size in bytes of a scalar type.
fn element_size(ty: &str) -> Option<u64> {
    match ty {
        "i8" => Some(1),
        "i16" | "half" => Some(2),
        "i32" | "float" => Some(4),
        "i64" | "double" => Some(8),
        _ => None,
    }
}

/// Whether `text` has the value `name`.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let behind = text.get(at.saturating_add(name.len())..).unwrap_or_default();
        !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || "._$-".contains(c))
    })
}

/// `text` without leading flags, and whether one of them was `atomic`.
fn without_flags(text: &str) -> (&str, bool) {
    let mut rest = text;
    let mut is_atomic = false;
    for word in ["tail ", "musttail ", "notail ", "atomic ", "weak ", "volatile "] {
        if let Some(behind) = rest.strip_prefix(word) {
            is_atomic |= word == "atomic ";
            rest = behind;
        }
    }
    (rest, is_atomic)
}

fn load(rest: &str) -> Option<Access<'_>> {
    let (ty, rest) = rest.split_once(", ptr ")?;
    Some(Access {
        pointer: operand(rest)?,
        offset: None,
        size: access_size(ty),
        kind: AccessKind::Read,
        align: align(rest),
    })
}

fn store(rest: &str) -> Option<Access<'_>> {
    let ty = leading_type(rest);
    let value = rest.get(ty.len()..)?.trim_start();
    // The value may be an expression with commas.
    let pointer = value.get(value_end(value)..)?.strip_prefix(", ptr ")?;
    let size = access_size(ty);
    Some(Access {
        pointer: operand(pointer)?,
        offset: None,
        size,
        kind: AccessKind::Write,
        align: align(pointer),
    })
}

/// `add ptr %p, i32 %v seq_cst`, `ptr %p, i32 %a, i32 %b seq_cst seq_cst`
fn exchange(rest: &str) -> Option<Access<'_>> {
    let (_, rest) = rest.split_once("ptr ")?;
    let pointer = operand(rest)?;
    let values = rest.get(pointer.len()..)?.strip_prefix(", ")?;
    let size = access_size(leading_type(values));
    Some(Access { pointer, offset: None, size, kind: AccessKind::Atomic, align: align(values) })
}

fn call(rest: &str) -> Vec<Access<'_>> {
    let result = rest.split('@').next().unwrap_or_default();
    let Some(Symbol { name, rest }) = global_symbol(rest) else { return Vec::new() };
    let call = Call { name, arguments: arguments(rest) };
    let operands: Vec<&str> = call.arguments.iter().map(|argument| last_operand(argument)).collect();
    let is_copy = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
    let accesses = match operands.as_slice() {
        [_, _, size, ..] if is_copy => {
            let size = AccessSize::Bytes((*size).to_string());
            vec![call.access(1, size.clone(), AccessKind::Copy), call.access(0, size, AccessKind::Write)]
        }
        [_, _, size, ..] if name.starts_with("llvm.memset.") => {
            vec![call.access(0, AccessSize::Bytes((*size).to_string()), AccessKind::Write)]
        }
        [_, ..] if is_atomic_function(name) => vec![atomic_access(&call)],
        [_, _, count, ..] if name.contains("async_work_group_") => {
            let size = AccessSize::Elements((*count).to_string(), element_behind(name).unwrap_or(0));
            let read = call.access(1, size.clone(), AccessKind::GroupRead);
            let write = call.access(0, size, AccessKind::GroupWrite);
            // Of a strided copy, only the local side is contiguous.
            if !name.contains("_strided_") {
                vec![read, write]
            } else if is_local_first(name) {
                vec![write]
            } else {
                vec![read]
            }
        }
        [.., _] if has_output_parameter(name) => {
            let last = operands.len().saturating_sub(1);
            vec![call.access(last, access_size(result_type(result)), AccessKind::Write)]
        }
        [.., index, pointer] if is_pointer(pointer) => vec![vector_access(name, index, pointer)],
        _ => Vec::new(),
    };
    accesses.into_iter().flatten().collect()
}

/// A call of a function by its name.
struct Call<'a> {
    name: &'a str,
    arguments: Vec<&'a str>,
}

impl<'a> Call<'a> {
    /// An access through the argument `number`, if that is a pointer.
    fn access(&self, number: usize, size: AccessSize, kind: AccessKind) -> Option<Access<'a>> {
        let argument = *self.arguments.get(number)?;
        let pointer = last_operand(argument);
        // The name of `fmod` of two floats, `_ZL4fmodff`, has that of `modf` in it.
        if !is_pointer(pointer) || !argument.trim_start().starts_with("ptr") {
            return None;
        }
        let align = argument.split_once("align ").map_or(0, |(_, rest)| leading_number(rest));
        Some(Access { pointer, offset: None, size, kind, align })
    }
}

/// Whether `name` is that of an atomic function of OpenCL C, `_Z14_cl_atomic_addPU8CLglobalVii` for instance: members of
/// C++'s classes may be called `atomic`, too.
fn is_atomic_function(name: &str) -> bool {
    let Some(mangled) = name.strip_prefix("_Z") else { return false };
    let identifier = mangled.trim_start_matches(|c: char| c.is_ascii_digit());
    let identifier = identifier.strip_prefix("_cl_").unwrap_or(identifier);
    let has_qualified_pointer = identifier.contains("CL") || identifier.contains("_Atomic");
    identifier.starts_with("atomic_") && has_qualified_pointer && !identifier.contains("fence")
}

/// The access of an atomic function of OpenCL C.
fn atomic_access<'a>(call: &Call<'a>) -> Option<Access<'a>> {
    const LONG_TYPES: [&str; 6] = ["Vl", "Vm", "Vd", "Atomicl", "Atomicm", "Atomicd"];
    const WRITES: [&str; 3] = ["atomic_store", "atomic_init", "atomic_flag_clear"];
    let ty = if LONG_TYPES.iter().any(|ty| call.name.contains(ty)) { "i64" } else { "i32" };
    let is_write = WRITES.iter().any(|function| call.name.contains(function));
    let kind = if is_write { AccessKind::AtomicWrite } else { AccessKind::Atomic };
    call.access(0, access_size(ty), kind)
}

/// The type at the end of the text before a function's name: `<4 x float>` has spaces of its own.
fn result_type(text: &str) -> &str {
    let text = text.trim_end();
    match text.find('<') {
        Some(at) => text.get(at..).unwrap_or(text),
        None => text.rsplit_once(' ').map_or(text, |(_, last)| last),
    }
}

/// Whether the destination of a copy is local memory, by the order of its parameters.
fn is_local_first(name: &str) -> bool {
    name.find("CLlocal").is_some_and(|local| name.find("CLglobal").is_none_or(|global| local < global))
}

/// Whether a mathematical function writes a second result of the same type through its last argument.
fn has_output_parameter(name: &str) -> bool {
    let functions = ["sincos", "fract", "modf", "frexp", "remquo", "lgamma_r"];
    name.starts_with("_Z") && functions.iter().any(|function| name.contains(function))
}

/// The access of `vload4`, `vstore4`, `vload_half`, `vstore_half2_rte`.
fn vector_access<'a>(name: &str, index: &'a str, pointer: &'a str) -> Option<Access<'a>> {
    let (kind, rest) = match (name.split_once("vload"), name.split_once("vstore")) {
        (Some((_, rest)), _) => (AccessKind::Read, rest),
        (_, Some((_, rest))) => (AccessKind::Write, rest),
        _ => return None,
    };
    let half = rest.strip_prefix("_half");
    let digits: String = half.unwrap_or(rest).chars().take_while(char::is_ascii_digit).collect();
    let count = digits.parse::<u64>().ok().or(half.map(|_| 1))?;
    let element = if half.is_some() { 2 } else { scalar(name.chars().next_back()?)? };
    let size = count.saturating_mul(element);
    let offset = Some(Offset { index, element: size });
    Some(Access { pointer, offset, size: AccessSize::Bytes(size.to_string()), kind, align: element })
}

/// Size in bytes of the pointee of the first pointer among the parameters of a mangled name.
fn element_behind(name: &str) -> Option<u64> {
    let (_, rest) = name.split_once("CLlocal").or_else(|| name.split_once("CLglobal"))?;
    let rest = rest.strip_prefix('K').unwrap_or(rest);
    match rest.strip_prefix("Dv") {
        Some(vector) => {
            let (count, element) = vector.split_once('_')?;
            // A vector of three elements has the size of one of four.
            let count = if count == "3" { 4 } else { count.parse().ok()? };
            scalar(element.chars().next()?)?.checked_mul(count)
        }
        None => scalar(rest.chars().next()?),
    }
}

/// Size in bytes of a scalar type by its letter in mangled names.
fn scalar(letter: char) -> Option<u64> {
    match letter {
        'c' | 'h' => Some(1),
        's' | 't' => Some(2),
        'i' | 'j' | 'f' => Some(4),
        'l' | 'm' | 'd' => Some(8),
        _ => None,
    }
}

pub(super) fn access_size(ty: &str) -> AccessSize {
    AccessSize::OfType(ty.to_string())
}

fn is_pointer(operand: &str) -> bool {
    operand.starts_with(['%', '@']) || is_expression(operand)
}

fn is_expression(text: &str) -> bool {
    text.starts_with("getelementptr ") || text.starts_with("bitcast ")
}

/// The operand that `text` starts with: a name, or a constant expression.
pub(super) fn operand(text: &str) -> Option<&str> {
    text.get(..value_end(text)).filter(|operand| is_pointer(operand))
}

/// The length of the value that `text` starts with, up to a comma or a word; that of an expression with its parentheses.
fn value_end(text: &str) -> usize {
    let is_expression = is_expression(text);
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        let before = depth;
        depth = nesting(depth, c);
        if is_expression && c == ')' && depth == 0 {
            return at.saturating_add(1);
        }
        let ends = before == 0 && (c == ',' || c == ' ' && !is_expression);
        if ends || depth < 0 {
            return at;
        }
    }
    text.len()
}

/// The operand at the end of an argument: `ptr noundef align 4 %2`.
fn last_operand(arg: &str) -> &str {
    match arg.find("getelementptr ").or_else(|| arg.find("bitcast ")) {
        Some(at) => arg.get(at..).unwrap_or_default(),
        None => arg.rsplit(' ').next().unwrap_or_default(),
    }
}

fn align(rest: &str) -> u64 {
    rest.split_once(", align ").map_or(0, |(_, rest)| leading_number(rest))
}

fn leading_number(text: &str) -> u64 {
    text.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// The nesting of brackets behind `c`.
fn nesting(depth: i32, c: char) -> i32 {
    match c {
        '<' | '{' | '[' | '(' => depth.saturating_add(1),
        '>' | '}' | ']' | ')' => depth.saturating_sub(1),
        _ => depth,
    }
}

/// The type that `text` starts with.
pub(super) fn leading_type(text: &str) -> &str {
    let mut depth = 0i32;
    let end = text.find(|c| {
        depth = nesting(depth, c);
        depth == 0 && (c == ' ' || c == ',')
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or(text)
}

/// The arguments in `(ptr align 4 %2, i64 16)`, split at commas outside of brackets.
pub(super) fn arguments(text: &str) -> Vec<&str> {
    let Some(text) = text.strip_prefix('(') else { return Vec::new() };
    let mut depth = 0i32;
    let mut start = 0;
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        if depth == 0 && (c == ',' || c == ')') {
            found.extend(text.get(start..at).map(str::trim).filter(|arg| !arg.is_empty()));
            start = at.saturating_add(1);
            if c == ')' {
                break;
            }
            continue;
        }
        depth = nesting(depth, c);
    }
    found
}
