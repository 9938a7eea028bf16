//! Types of LLVM IR: sizes, alignments, and the result types of instructions
//! (<https://llvm.org/docs/LangRef.html#type-system>).

use std::collections::BTreeMap;

use crate::ir::symbol_at;

/// The named types of a module.
#[derive(Debug, Default)]
pub struct Types<'a> {
    /// The definitions behind ` = type `, by name.
    named: BTreeMap<&'a str, &'a str>,
}

/// The layout of a type in memory, on a CPU with pointers of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// A type and the text behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed<'a> {
    /// The type, as `[2 x float]`.
    pub ty: &'a str,
    /// The text behind the type.
    pub rest: &'a str,
}

impl<'a> Types<'a> {
    /// Reads the definitions of named types.
    pub fn new(module: &'a str) -> Types<'a> {
        let mut named = BTreeMap::new();
        for line in module.lines().filter(|line| line.starts_with('%')) {
            let name = line.strip_prefix('%').and_then(symbol_at);
            if let Some(name) = name
                && let Some(definition) = name.rest.strip_prefix(" = type ")
            {
                named.insert(name.name, definition);
            }
        }
        Types { named }
    }

    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.named.contains_key(name)
    }

    /// The layout of a type; `None` for types without a size, and for unknown ones.
    pub fn layout(&self, ty: &str) -> Option<Layout> {
        let ty = ty.trim();
        if let Some(name) = ty.strip_prefix('%').and_then(symbol_at) {
            return self.layout(self.named.get(name.name)?);
        }
        if let Some(inner) = ty.strip_prefix("<{").and_then(|ty| ty.strip_suffix("}>")) {
            let size = self.sizes(inner)?.iter().try_fold(0u64, |sum, part| sum.checked_add(part.size))?;
            return Some(Layout { size, align: 1 });
        }
        if let Some(inner) = ty.strip_prefix('{').and_then(|ty| ty.strip_suffix('}')) {
            return structure(&self.sizes(inner)?);
        }
        if let Some(inner) = ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')) {
            let (count, element) = inner.split_once(" x ")?;
            let element = self.layout(element)?;
            return Some(Layout { size: element.size.checked_mul(count.trim().parse().ok()?)?, ..element });
        }
        if let Some(inner) = ty.strip_prefix('<').and_then(|ty| ty.strip_suffix('>')) {
            return vector(inner);
        }
        scalar(ty)
    }

    /// The layout of a variable by the operands of its alloca: `[8 x float], align 4`, `i8, i64 128, align 16`.
    pub(crate) fn alloca(&self, text: &str) -> Option<Layout> {
        let mut layout = None;
        for operand in list(text) {
            if let Some(align) = operand.strip_prefix("align ") {
                let align = align.split([' ', ',']).next()?.parse().ok()?;
                layout = layout.map(|layout: Layout| Layout { align: layout.align.max(align), ..layout });
            } else if layout.is_none() {
                layout = Some(self.layout(operand)?);
            } else if let Some(count) = operand.strip_prefix('i').and_then(|operand| operand.split_once(' '))
            {
                let size = layout?.size.checked_mul(count.1.parse().ok()?)?;
                layout = Some(Layout { size, ..layout? });
            }
        }
        layout
    }

    fn sizes(&self, members: &str) -> Option<Vec<Layout>> {
        list(members).into_iter().map(|member| self.layout(member)).collect()
    }

    /// The result type of an instruction, from its text behind the `=`.
    pub(crate) fn result(&self, instruction: &str) -> Option<String> {
        let (word, rest) = instruction.split_once(' ')?;
        Some(match word {
            "tail" | "musttail" | "notail" => return self.result(rest),
            "alloca" | "getelementptr" => "ptr".to_string(),
            "icmp" | "fcmp" => compared(first_type(rest)?.ty),
            "select" => {
                let condition = first_type(rest)?;
                first_type(condition.rest.split_once(", ")?.1)?.ty.to_string()
            }
            "extractelement" => element(first_type(rest)?.ty)?.to_string(),
            "shufflevector" => shuffled(rest)?,
            "extractvalue" => self.member(rest)?,
            "atomicrmw" => first_type(list(rest).get(1)?)?.ty.to_string(),
            "cmpxchg" => format!("{{ {}, i1 }}", first_type(list(rest).get(1)?)?.ty),
            _ => match rest.rsplit_once(" to ").filter(|_| is_cast(word)) {
                Some((_, to)) => first_type(to)?.ty.to_string(),
                None => first_type(rest)?.ty.to_string(),
            },
        })
    }

    /// `{ i32, i1 } %x, 1` to `i1`.
    fn member(&self, rest: &str) -> Option<String> {
        let whole = first_type(rest)?;
        let mut ty = whole.ty;
        let indices = whole.rest.split(", ").skip(1).map_while(|index| index.trim().parse::<usize>().ok());
        for index in indices {
            let definition = ty.strip_prefix('%').and_then(symbol_at);
            ty = definition.and_then(|name| self.named.get(name.name).copied()).unwrap_or(ty);
            ty = match ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')) {
                Some(array) => array.split_once(" x ")?.1,
                None => {
                    let packed = ty.strip_prefix("<{").and_then(|ty| ty.strip_suffix("}>"));
                    let members = packed.or_else(|| ty.strip_prefix('{')?.strip_suffix('}'))?;
                    list(members).get(index).copied()?
                }
            };
        }
        Some(ty.to_string())
    }
}

fn is_cast(word: &str) -> bool {
    const CASTS: [&str; 14] = [
        "trunc",
        "zext",
        "sext",
        "fptrunc",
        "fpext",
        "fptoui",
        "fptosi",
        "uitofp",
        "sitofp",
        "ptrtoint",
        "ptrtoaddr",
        "inttoptr",
        "bitcast",
        "addrspacecast",
    ];
    CASTS.contains(&word)
}

fn compared(ty: &str) -> String {
    let count = ty.strip_prefix('<').and_then(|inner| inner.split_once(" x "));
    count.map_or("i1".to_string(), |(count, _)| format!("<{count} x i1>"))
}

fn element(vector: &str) -> Option<&str> {
    Some(vector.strip_prefix('<')?.strip_suffix('>')?.split_once(" x ")?.1)
}

/// The vector of the first operand's elements with the length of the mask.
fn shuffled(rest: &str) -> Option<String> {
    let from = first_type(rest)?;
    let mask = first_type(rest.rsplit_once(", <").map(|(before, _)| rest.get(before.len()..))??)?;
    let (count, _) = mask.ty.strip_prefix('<')?.split_once(" x ")?;
    Some(format!("<{count} x {}>", element(from.ty)?))
}

fn scalar(ty: &str) -> Option<Layout> {
    let size = match ty {
        "half" | "bfloat" => 2,
        "float" => 4,
        "double" => 8,
        "x86_fp80" | "fp128" => 16,
        _ if ty == "ptr" || ty.starts_with("ptr addrspace(") => 8,
        _ => {
            let bits: u64 = ty.strip_prefix('i')?.parse().ok()?;
            bits.div_ceil(8).checked_next_power_of_two()?
        }
    };
    Some(Layout { size, align: size })
}

/// The layout of `4 x float`. Bits are packed; a vector of three elements has the size of one of four.
fn vector(inner: &str) -> Option<Layout> {
    let (count, element) = inner.split_once(" x ")?;
    let count: u64 = count.trim().parse().ok()?;
    let bits = match element.strip_prefix('i').and_then(|bits| bits.parse::<u64>().ok()) {
        Some(bits) => bits,
        None => scalar(element)?.size.checked_mul(8)?,
    };
    let size = count.checked_mul(bits)?.div_ceil(8).checked_next_power_of_two()?;
    Some(Layout { size, align: size })
}

fn structure(members: &[Layout]) -> Option<Layout> {
    let mut whole = Layout { size: 0, align: 1 };
    for member in members {
        whole.size = whole.size.checked_next_multiple_of(member.align)?.checked_add(member.size)?;
        whole.align = whole.align.max(member.align);
    }
    whole.size = whole.size.checked_next_multiple_of(whole.align)?;
    Some(whole)
}

/// The text behind the opcode and the flags of an instruction.
pub(crate) fn after_word(text: &str) -> Option<&str> {
    let rest = text.split_once(' ')?.1;
    let typed = first_type(rest)?;
    rest.get(rest.len().checked_sub(typed.ty.len())?.checked_sub(typed.rest.len())?..)
}

/// The parts between commas outside of brackets.
pub(crate) fn list(text: &str) -> Vec<&str> {
    let mut depth = 0u32;
    let mut start = 0;
    let mut parts = Vec::new();
    for (at, char) in text.char_indices() {
        match char {
            '(' | '<' | '{' | '[' => depth = depth.saturating_add(1),
            ')' | '>' | '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(text.get(start..at));
                start = at.saturating_add(1);
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect()
}

/// The first type in `text`, behind flags and attributes.
pub fn first_type(text: &str) -> Option<Typed<'_>> {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(found) = leading_type(rest) {
            return Some(found);
        }
        rest = rest.get(word_end(rest)..)?.trim_start();
    }
    None
}

/// The length of the word at the start, with its parentheses.
fn word_end(text: &str) -> usize {
    let mut depth = 0u32;
    for (at, char) in text.char_indices() {
        match char {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// The type that `text` starts with.
fn leading_type(text: &str) -> Option<Typed<'_>> {
    let length = match text.chars().next()? {
        '<' | '{' | '[' => closing(text)?,
        '%' => text.len().checked_sub(text.strip_prefix('%').and_then(symbol_at)?.rest.len())?,
        _ => simple(text)?,
    };
    let (ty, rest) = text.split_at_checked(length)?;
    Some(Typed { ty, rest })
}

/// The end of the bracketed text that `text` starts with.
pub(crate) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, char) in text.char_indices() {
        match char {
            '<' | '{' | '[' | '(' => depth = depth.checked_add(1)?,
            '>' | '}' | ']' | ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return at.checked_add(1);
        }
    }
    None
}

fn simple(text: &str) -> Option<usize> {
    const WORDS: [&str; 9] =
        ["void", "half", "bfloat", "float", "double", "x86_fp80", "fp128", "token", "metadata"];
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at_checked(end)?;
    if word == "ptr" {
        let space = rest.strip_prefix(" addrspace(").and_then(|rest| rest.split_once(')'));
        return space.map_or(Some(end), |(_, after)| text.len().checked_sub(after.len()));
    }
    let integer = word
        .strip_prefix('i')
        .is_some_and(|bits| !bits.is_empty() && bits.chars().all(|c| c.is_ascii_digit()));
    (integer || WORDS.contains(&word)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "%struct.s = type { i8, double, [3 x i16] }\n%\"a b\" = type <{ i8, i32 }>\n";

    #[test]
    fn sizes_are_those_of_memory() {
        let types = Types::new(MODULE);
        for (ty, size, align) in [
            ("i1", 1, 1),
            ("i32", 4, 4),
            ("ptr addrspace(1)", 8, 8),
            ("<3 x float>", 16, 16),
            ("<8 x i1>", 1, 1),
            ("{ i32, i1 }", 8, 4),
            ("%struct.s", 24, 8),
            ("[2 x %struct.s]", 48, 8),
            ("%\"a b\"", 5, 1),
        ] {
            assert_eq!(types.layout(ty), Some(Layout { size, align }), "{ty}");
        }
        assert_eq!(types.layout("token"), None);
    }

    #[test]
    fn results_have_types() {
        let types = Types::new(MODULE);
        for (instruction, ty) in [
            ("load <4 x float>, ptr %p, align 16", "<4 x float>"),
            ("add nuw nsw i64 %a, 1", "i64"),
            ("phi fast float [ 0.0, %a ], [ %x, %b ]", "float"),
            ("icmp samesign ult <4 x i32> %a, %b", "<4 x i1>"),
            ("fcmp fast olt float %a, %b", "i1"),
            ("select i1 %c, ptr %a, ptr null", "ptr"),
            ("zext nneg i32 %a to i64", "i64"),
            ("getelementptr inbounds i8, ptr %p, i64 4", "ptr"),
            ("extractelement <4 x float> %v, i64 0", "float"),
            ("insertelement <4 x float> poison, float %x, i64 0", "<4 x float>"),
            ("shufflevector <4 x float> %a, <4 x float> poison, <2 x i32> <i32 0, i32 1>", "<2 x float>"),
            ("extractvalue { i32, i1 } %x, 1", "i1"),
            ("extractvalue %struct.s %x, 2, 1", "i16"),
            ("tail call fastcc noundef range(i32 0, 5) i32 @f(ptr %x) #2", "i32"),
            ("call i32 (ptr, ...) @__offload_printf(ptr @.str)", "i32"),
            ("cmpxchg volatile ptr %p, i32 0, i32 %n acquire monotonic", "{ i32, i1 }"),
            ("atomicrmw add ptr %p, i64 1 monotonic", "i64"),
            ("fneg float %x", "float"),
        ] {
            assert_eq!(types.result(instruction).as_deref(), Some(ty), "{instruction}");
        }
    }
}
