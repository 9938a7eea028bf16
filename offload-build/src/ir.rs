//! What has to be known of LLVM IR, read from its text form.
//!
//! Text, not bitcode, because its lines are stable across releases and no library is needed
//! (<https://llvm.org/docs/LangRef.html>).

mod calls;
mod checks;
mod debug;
mod described;
mod interface;
mod kernel;
mod kernels;
mod one_memory;
mod output;
mod pointers;
mod prepare;
mod recursion;
mod rewrite;
mod types;
mod work_items;

use offload_format::pack::ArgKind;

pub(crate) use calls::{aspects, declared, reaching};
pub(crate) use checks::with_checks;
pub(crate) use interface::{Interface, hide, symbols};
pub(crate) use kernel::{Kernel, KernelArg};
pub(crate) use kernels::{kernels, take_types};
pub(crate) use one_memory::in_one_memory;
pub(crate) use output::{Output, has_kernel_names, has_output, with_assertions, with_output};
pub(crate) use pointers::{exporting, through_pointers};
pub(crate) use prepare::{BODY_PREFIX, LocalArguments, Prepared, prepare};
pub(crate) use recursion::recursion;
pub(crate) use rewrite::{
    has_inline_that_is_not_inlined, in_global_memory, thread_local_state, with_conventions,
    with_inline_definitions, without_processor,
};
pub(crate) use work_items::{
    Interleaved, Validity, WAIT, WORK_ITEM_PREFIX, inline_waiting, run_groups, with_entries, with_others,
    without_others,
};

/// The name after the first `@` of `text`, and what follows it.
fn global_name(text: &str) -> Option<(&str, &str)> {
    let named = name_at(text.split_once('@')?.1)?;
    Some((named.name, named.rest))
}

/// A name, without its quotes, and the text after it.
#[derive(Clone, Copy, Debug)]
struct Named<'a> {
    name: &'a str,
    rest: &'a str,
}

/// The name that `text`, which follows an `@` or a `%`, starts with.
fn name_at(text: &str) -> Option<Named<'_>> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (name, rest) = quoted.split_once('"')?;
        return Some(Named { name, rest });
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "._$-".contains(c);
    let end = text.find(|c| !plain(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    Some(Named { name, rest })
}

/// Whether a `define` line is of a kernel, on any GPU.
fn is_kernel(line: &str) -> bool {
    [" spir_kernel ", " ptx_kernel ", " amdgpu_kernel "].iter().any(|convention| line.contains(convention))
}

/// `i32 0, i32 1`
fn integers(operands: &str) -> Vec<u32> {
    let last = |operand: &str| operand.trim().rsplit(' ').next().and_then(|number| number.parse().ok());
    operands.split(',').filter_map(last).collect()
}

/// One parameter as written: type, attributes and name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Param<'a> {
    text: &'a str,
}

/// The parameters between the parentheses that `rest`, the text after the function's name, starts with, and what
/// follows them.
fn params(rest: &str) -> Option<(Vec<Param<'_>>, &str)> {
    let inner = rest.strip_prefix('(')?;
    let (mut depth, mut start, mut list) = (0u32, 0, Vec::new());
    for (at, char) in inner.char_indices() {
        match char {
            ')' if depth == 0 => {
                push(&mut list, inner.get(start..at)?);
                return Some((list, inner.get(at.checked_add(1)?..)?));
            }
            '(' | '<' | '{' | '[' => depth = depth.checked_add(1)?,
            ')' | '>' | '}' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                push(&mut list, inner.get(start..at)?);
                start = at.checked_add(1)?;
            }
            _ => {}
        }
    }
    None
}

fn push<'a>(list: &mut Vec<Param<'a>>, text: &'a str) {
    let text = text.trim();
    if !text.is_empty() {
        list.push(Param { text });
    }
}

impl<'a> Param<'a> {
    /// `float`, `<4 x float>`, `ptr addrspace(3)`.
    fn type_text(&self) -> &'a str {
        let end = match self.text.chars().next() {
            Some('<') => self.text.find('>').and_then(|at| at.checked_add(1)),
            Some('{' | '[') => None,
            _ => self.text.find(' '),
        };
        let end = end.unwrap_or(self.text.len());
        let plain = self.text.get(..end).unwrap_or(self.text);
        let space = self.text.strip_prefix("ptr addrspace(").and_then(|rest| rest.find(')'));
        let with_space = space.and_then(|at| self.text.get(..at.checked_add("ptr addrspace(".len() + 1)?));
        with_space.unwrap_or(plain)
    }

    /// The name or number after the `%`.
    fn name(&self) -> &'a str {
        self.text.rsplit_once('%').map(|(_, name)| name).unwrap_or_default()
    }

    /// In the numbering of address spaces that AMD, NVIDIA and SPIR-V share for global and local memory.
    fn kind(&self) -> ArgKind {
        if !self.text.starts_with("ptr") || self.by_value() {
            return ArgKind::Value;
        }
        match self.type_text() {
            "ptr addrspace(3)" => ArgKind::Local,
            // 2 in SPIR, 4 on AMD and NVIDIA.
            "ptr addrspace(2)" | "ptr addrspace(4)" => ArgKind::Constant,
            _ => ArgKind::Global,
        }
    }

    /// A structure that is passed by value through a pointer.
    fn by_value(&self) -> bool {
        self.text.contains(" byval(") || self.text.contains(" byref(")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_taken_apart() {
        let line = "(ptr addrspace(1) noundef align 4 %x, <3 x float> noundef %v, ptr byval(%struct.s) align 8 %2, ptr addrspace(3) %t) #0 !x {";
        let (params, rest) = params(line).unwrap();
        let types: Vec<_> = params.iter().map(Param::type_text).collect();
        assert_eq!(types, ["ptr addrspace(1)", "<3 x float>", "ptr", "ptr addrspace(3)"]);
        let kinds: Vec<_> = params.iter().map(Param::kind).collect();
        assert_eq!(kinds, [ArgKind::Global, ArgKind::Value, ArgKind::Value, ArgKind::Local]);
        assert_eq!((params[1].name(), params[2].name()), ("v", "2"));
        assert_eq!(rest, " #0 !x {");
        assert!(super::params("()").unwrap().0.is_empty());
    }
}
