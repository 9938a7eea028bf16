//! Instructions in parts: opcode, flags, typed operands.

use crate::ir::{first_type, list};

/// An operand with its type; the value is a name with its `%`, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operand<'t> {
    pub(super) ty: &'t str,
    pub(super) value: &'t str,
}

impl<'t> Operand<'t> {
    /// The name of a value of the function.
    pub(super) fn name(&self) -> Option<&'t str> {
        self.value.strip_prefix('%')
    }
}

/// An instruction other than a call or a phi.
#[derive(Debug)]
pub(super) struct Parts<'t> {
    pub(super) word: &'t str,
    /// The flags, or the predicate of a comparison.
    pub(super) flags: &'t str,
    /// The type that an access or an address is of.
    pub(super) element: Option<&'t str>,
    pub(super) operands: Vec<Operand<'t>>,
    /// The type that a cast converts to.
    pub(super) to: Option<&'t str>,
    /// The alignment of an access.
    pub(super) align: u64,
}

/// The text of an instruction without its metadata.
pub(super) fn without_all_metadata(text: &str) -> &str {
    text.find(", !").and_then(|at| text.get(..at)).unwrap_or(text)
}

impl<'t> Parts<'t> {
    /// The parts of `text`, which is an instruction as LLVM writes it.
    pub(super) fn parse(text: &'t str) -> Option<Parts<'t>> {
        let text = without_all_metadata(text);
        let (word, rest) = text.split_once(' ')?;
        let first = first_type(rest)?;
        let start = rest.len().checked_sub(first.ty.len())?.checked_sub(first.rest.len())?;
        let (flags, body) = rest.split_at_checked(start)?;
        let (body, to) = match body.rsplit_once(" to ") {
            Some((body, to)) => (body, Some(to)),
            None => (body, None),
        };
        let mut parts =
            Parts { word, flags: flags.trim(), element: None, operands: Vec::new(), to, align: 1 };
        let mut list = list(body).into_iter();
        if ["getelementptr", "load"].contains(&word) {
            parts.element = list.next();
        }
        for part in list {
            if let Some(align) = part.strip_prefix("align ") {
                parts.align = align.parse().ok()?;
                continue;
            }
            parts.operands.push(operand(part, first.ty)?);
        }
        Some(parts)
    }
}

/// `float %x`, or `%x`, which has the type of the first operand.
fn operand<'t>(part: &'t str, first: &'t str) -> Option<Operand<'t>> {
    let typed = first_type(part).filter(|typed| part.starts_with(typed.ty) && !typed.rest.trim().is_empty());
    match typed {
        Some(typed) => Some(Operand { ty: typed.ty, value: typed.rest.trim() }),
        None => (!part.is_empty()).then_some(Operand { ty: first, value: part }),
    }
}

/// A call of a function by its name.
#[derive(Debug)]
pub(super) struct CallParts<'t> {
    /// The fast-math flags.
    pub(super) flags: String,
    pub(super) ty: &'t str,
    pub(super) callee: &'t str,
    pub(super) operands: Vec<Operand<'t>>,
}

impl<'t> CallParts<'t> {
    /// The parts of a call.
    pub(super) fn parse(text: &'t str) -> Option<CallParts<'t>> {
        const FLAGS: [&str; 8] = ["fast", "nnan", "ninf", "nsz", "arcp", "contract", "reassoc", "afn"];
        let text = without_all_metadata(text);
        let (head, rest) = text.strip_prefix("call ")?.split_once('@')?;
        let (callee, _) = rest.split_once('(')?;
        let arguments = rest.get(callee.len()..)?;
        let arguments = arguments.get(..crate::ir::closing(arguments)?)?;
        let arguments = arguments.strip_prefix('(')?.strip_suffix(')')?;
        let mut flags = String::new();
        for word in head.split(' ').filter(|word| FLAGS.contains(word)) {
            flags.push_str(word);
            flags.push(' ');
        }
        let mut operands = Vec::new();
        for argument in list(arguments) {
            let typed = first_type(argument)?;
            // Attributes stand between the type and the value.
            let value = typed.rest.rsplit(' ').next()?;
            operands.push(Operand { ty: typed.ty, value });
        }
        Some(CallParts { flags, ty: first_type(head)?.ty, callee, operands })
    }
}

/// The elements of a type: 4 and `float` of `<4 x float>`, 1 and `float` of `float`. `None` for structures and arrays.
pub(super) fn elements(ty: &str) -> Option<(usize, &str)> {
    if let Some(inner) = ty.strip_prefix('<').and_then(|inner| inner.strip_suffix('>')) {
        let (count, element) = inner.split_once(" x ")?;
        return Some((count.parse().ok()?, element));
    }
    let is_scalar = ["half", "bfloat", "float", "double", "ptr"].contains(&ty)
        || ty.strip_prefix('i').is_some_and(|bits| ["1", "8", "16", "32", "64"].contains(&bits));
    is_scalar.then_some((1, ty))
}

/// Element `number` of a constant of type `ty`.
pub(super) fn constant_element<'t>(ty: &'t str, value: &'t str, number: usize) -> Option<&'t str> {
    let (count, element) = elements(ty)?;
    if !ty.starts_with('<') {
        return (number == 0 && count == 1).then_some(value);
    }
    match value {
        "zeroinitializer" => Some(match element {
            "half" | "bfloat" | "float" | "double" => "0.0",
            "ptr" => "null",
            _ => "0",
        }),
        "poison" | "undef" => Some(value),
        _ => {
            if let Some(splat) = value.strip_prefix("splat (").and_then(|rest| rest.strip_suffix(')')) {
                return Some(splat.strip_prefix(element)?.trim());
            }
            let inner = value.strip_prefix('<')?.strip_suffix('>')?;
            Some(list(inner).get(number)?.strip_prefix(element)?.trim())
        }
    }
}
