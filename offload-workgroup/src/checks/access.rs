//! What an instruction does with memory, from its text.

use super::sites::AccessKind;
use crate::ir::global_name;

/// An access, in IR's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access<'a> {
    /// The operand: a part of the line.
    pub(super) pointer: &'a str,
    /// The access is behind the pointer.
    pub(super) offset: Option<Offset<'a>>,
    pub(super) size: Size,
    pub(super) kind: AccessKind,
    /// What the address is a multiple of; 0 if that is not known.
    pub(super) align: u64,
}

/// So many elements of a size in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offset<'a> {
    pub(super) index: &'a str,
    pub(super) element: u64,
}

/// How many bytes are accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Size {
    OfType(String),
    /// An operand.
    Bytes(String),
    /// An operand, and bytes of each element.
    Elements(String, u64),
}

/// What the instruction in `line` reads and writes.
pub(super) fn accesses(line: &str) -> Vec<Access<'_>> {
    let text = line.trim_start();
    let text = match text.split_once(" = ") {
        Some((name, rest)) if name.starts_with('%') => rest,
        _ => text,
    };
    let (text, _) = without_words(text);
    let (opcode, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (rest, is_atomic) = without_words(rest);
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

/// Whether the first of `lines` loads a vector of which the next ones replace elements, and store it where it was: so clang
/// compiles `v.x = 1`, which reads nothing.
pub(super) fn replaces_elements(lines: &[&str]) -> bool {
    const MOST: usize = 4;
    let Some((load, rest)) = lines.split_first() else { return false };
    let Some((result, instruction)) = load.trim_start().split_once(" = ") else { return false };
    let Some(read) = accesses(instruction).into_iter().next() else { return false };
    let is_vector = instruction.starts_with("load <") || instruction.starts_with("load volatile <");
    if !is_vector || read.kind != AccessKind::Read {
        return false;
    }
    let mut vector = result;
    for line in rest.iter().take(MOST) {
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

/// What the last of `lines` writes, if that is one element of a vector that was loaded, changed there, and is stored back.
pub(super) fn replaced_element<'a>(lines: &[&'a str]) -> Option<Access<'a>> {
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
    // Three elements are read as four, of which the last has no name.
    if count == "3" {
        return None;
    }
    let (element, rest) = typed.split_once("> ")?;
    if !mentions(rest, vector) || !mentions(store, result) {
        return None;
    }
    let (_, index) = rest.split(", !").next()?.rsplit_once(' ')?;
    let size = of_type(element);
    let element = element_size(element)?;
    Some(Access { offset: Some(Offset { index, element }), size, align: element, ..whole })
}

/// Bytes of a scalar type.
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
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._$-".contains(c);
    text.match_indices(name).any(|(at, _)| {
        let behind = text.get(at.saturating_add(name.len())..).unwrap_or_default();
        !behind.starts_with(is_part)
    })
}

/// `text` without the words before what matters, and whether one of them was `atomic`.
fn without_words(text: &str) -> (&str, bool) {
    let (mut rest, mut is_atomic) = (text, false);
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
    let (size, align) = (of_type(ty), align(rest));
    Some(Access { pointer: operand(rest)?, offset: None, size, kind: AccessKind::Read, align })
}

fn store(rest: &str) -> Option<Access<'_>> {
    let (ty, value) = (leading_type(rest), rest.get(leading_type(rest).len()..)?.trim_start());
    // The value may be an expression with commas.
    let pointer = value.get(value_end(value)..)?.strip_prefix(", ptr ")?;
    let size = of_type(ty);
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
    let size = of_type(leading_type(values));
    Some(Access { pointer, offset: None, size, kind: AccessKind::Atomic, align: align(values) })
}

fn call(rest: &str) -> Vec<Access<'_>> {
    let result = rest.split('@').next().unwrap_or_default();
    let Some((name, rest)) = global_name(rest) else { return Vec::new() };
    let whole = arguments(rest);
    let args: Vec<&str> = whole.iter().map(|arg| last_operand(arg)).collect();
    let copies = ["llvm.memcpy.", "llvm.memmove."].iter().any(|prefix| name.starts_with(prefix));
    let known = |at: usize, size: Size, kind| {
        let pointer = args.get(at).copied().filter(|pointer| is_pointer(pointer))?;
        let align = whole.get(at).and_then(|arg| arg.split_once("align ")).map(|(_, rest)| number(rest));
        Some(Access { pointer, offset: None, size, kind, align: align.unwrap_or(0) })
    };
    let bytes = |at: usize| Size::Bytes(args.get(at).copied().unwrap_or("0").to_string());
    let found = match args.as_slice() {
        [_, _, _, ..] if copies => {
            vec![known(1, bytes(2), AccessKind::Copy), known(0, bytes(2), AccessKind::Write)]
        }
        [_, _, _, ..] if name.starts_with("llvm.memset.") => vec![known(0, bytes(2), AccessKind::Write)],
        [_, ..] if name.starts_with("_Z") && name.contains("atomic_") && !name.contains("fence") => {
            let wide = ["Vl", "Vm", "Vd", "Atomicl", "Atomicm", "Atomicd"].iter().any(|ty| name.contains(ty));
            let is_write = ["atomic_store", "atomic_init", "atomic_flag_clear"];
            let is_write = is_write.iter().any(|function| name.contains(function));
            let kind = if is_write { AccessKind::AtomicWrite } else { AccessKind::Atomic };
            vec![known(0, of_type(if wide { "i64" } else { "i32" }), kind)]
        }
        [_, _, count, ..] if name.contains("async_work_group_") => {
            let size = Size::Elements((*count).to_string(), element_behind(name).unwrap_or(0));
            let both =
                [known(1, size.clone(), AccessKind::GroupRead), known(0, size, AccessKind::GroupWrite)];
            // Of a copy with strides, what is in local memory lies side by side.
            let [from, to] = both;
            match (name.contains("_strided_"), is_local_first(name)) {
                (false, _) => vec![from, to],
                (true, true) => vec![to],
                (true, false) => vec![from],
            }
        }
        [.., pointer] if is_output(name) => {
            let ty = result.trim_end().rsplit_once(' ').map_or(result.trim_end(), |(_, last)| last);
            // `<4 x float>` has spaces of its own.
            let ty = result.find('<').and_then(|at| result.get(at..)).map_or(ty, str::trim_end);
            let at = args.len().saturating_sub(1);
            vec![known(at, of_type(ty), AccessKind::Write).filter(|_| is_pointer(pointer))]
        }
        [.., index, pointer] if is_pointer(pointer) => vec![vector(name, index, pointer)],
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}

/// Whether a copy goes to local memory, by the order of its parameters.
fn is_local_first(name: &str) -> bool {
    name.find("CLlocal").is_some_and(|local| name.find("CLglobal").is_none_or(|global| local < global))
}

/// Whether a function of mathematics writes a second result of the same type through its last argument.
fn is_output(name: &str) -> bool {
    let functions = ["sincos", "fract", "modf", "frexp", "remquo", "lgamma_r"];
    name.starts_with("_Z") && functions.iter().any(|function| name.contains(function))
}

/// `vload4`, `vstore4`, `vload_half`, `vstore_half2_rte`.
fn vector<'a>(name: &str, index: &'a str, pointer: &'a str) -> Option<Access<'a>> {
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
    Some(Access { pointer, offset, size: Size::Bytes(size.to_string()), kind, align: element })
}

/// Bytes of what the first pointer among the parameters of a mangled name points to.
fn element_behind(name: &str) -> Option<u64> {
    let (_, rest) = name.split_once("CLlocal").or_else(|| name.split_once("CLglobal"))?;
    let rest = rest.strip_prefix('K').unwrap_or(rest);
    match rest.strip_prefix("Dv") {
        Some(vector) => {
            let (count, element) = vector.split_once('_')?;
            // A vector of three takes the room of four.
            let count = if count == "3" { 4 } else { count.parse().ok()? };
            scalar(element.chars().next()?)?.checked_mul(count)
        }
        None => scalar(rest.chars().next()?),
    }
}

/// Bytes of a scalar type by its letter in mangled names.
fn scalar(letter: char) -> Option<u64> {
    match letter {
        'c' | 'h' => Some(1),
        's' | 't' => Some(2),
        'i' | 'j' | 'f' => Some(4),
        'l' | 'm' | 'd' => Some(8),
        _ => None,
    }
}

pub(super) fn of_type(ty: &str) -> Size {
    Size::OfType(ty.to_string())
}

fn is_pointer(operand: &str) -> bool {
    operand.starts_with(['%', '@']) || is_expression(operand)
}

fn is_expression(text: &str) -> bool {
    text.starts_with("getelementptr ") || text.starts_with("bitcast ")
}

/// The operand that `text` starts with: a name, or an expression with a constant.
pub(super) fn operand(text: &str) -> Option<&str> {
    text.get(..value_end(text)).filter(|operand| is_pointer(operand))
}

/// Where the value that `text` starts with ends: before a comma or a word behind it, and an expression with its parentheses.
fn value_end(text: &str) -> usize {
    let is_expression = is_expression(text);
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        let before = depth;
        depth = changed(depth, c);
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
    rest.split_once(", align ").map_or(0, |(_, rest)| number(rest))
}

fn number(text: &str) -> u64 {
    text.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn changed(depth: i32, c: char) -> i32 {
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
        depth = changed(depth, c);
        depth == 0 && (c == ' ' || c == ',')
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or(text)
}

/// `(ptr align 4 %2, i64 16)` without its parentheses, cut at commas that are in none.
pub(super) fn arguments(text: &str) -> Vec<&str> {
    let Some(text) = text.strip_prefix('(') else { return Vec::new() };
    let (mut depth, mut start, mut found) = (0i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        if depth == 0 && (c == ',' || c == ')') {
            found.extend(text.get(start..at).map(str::trim).filter(|arg| !arg.is_empty()));
            start = at.saturating_add(1);
            if c == ')' {
                break;
            }
            continue;
        }
        depth = changed(depth, c);
    }
    found
}
