//! A reader of LLVM IR text: symbols, parameters, types, calls.
//!
//! The passes of this crate and rewriters of modules around them share it. It reads what LLVM writes
//! (<https://llvm.org/docs/LangRef.html>), a line at a time, and no other spelling of the same module.

mod call_graph;
pub(crate) mod function;
pub(crate) mod line;
pub(crate) mod numbering;
mod types;
pub(crate) mod vocabulary;

pub use self::call_graph::{declared_functions, functions_reaching};
pub use self::types::{Layout, Typed, Types, first_type};
pub(crate) use self::types::{after_word, closing, list};

/// A name, without its quotes, and the text behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// The name, without sigil and quotes.
    pub name: &'a str,
    /// The text behind the name.
    pub rest: &'a str,
}

/// One parameter as written: type, attributes and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// For example `ptr noundef align 4 %x`.
    pub text: &'a str,
}

/// A parenthesised list of parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters<'a> {
    /// The parameters, in their order.
    pub list: Vec<Parameter<'a>>,
    /// The text behind the closing parenthesis.
    pub rest: &'a str,
}

/// The name behind the first `@` of `text`.
pub fn global_name(text: &str) -> Option<&str> {
    Some(global_symbol(text)?.name)
}

/// The name behind the first `@` of `text`, with the text that follows.
pub fn global_symbol(text: &str) -> Option<Symbol<'_>> {
    symbol_at(text.split_once('@')?.1)
}

/// The name of the function that `line` begins to define.
pub fn defined_function(line: &str) -> Option<&str> {
    if line.starts_with("define ") { global_name(line) } else { None }
}

/// The name at the start of `text`, which follows an `@` or a `%`.
pub fn symbol_at(text: &str) -> Option<Symbol<'_>> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (name, rest) = quoted.split_once('"')?;
        return Some(Symbol { name, rest });
    }
    let end = text.find(|c: char| !is_name_character(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    Some(Symbol { name, rest })
}

/// Whether a name without quotes may contain `c`.
pub(crate) fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._$-".contains(c)
}

/// The last word of each operand as a number: 0 and 1 of `i32 0, i32 1`.
pub fn integers(operands: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for operand in operands.split(',') {
        let word = operand.trim().rsplit(' ').next().unwrap_or_default();
        numbers.extend(word.parse::<u32>());
    }
    numbers
}

/// The value of `key` in a metadata node `!DI...(key: value, ...)`; a string without its quotes.
pub fn metadata_field<'n>(node: &'n str, key: &str) -> Option<&'n str> {
    let start = node.match_indices(key).find_map(|(at, _)| {
        let before = node.get(..at)?;
        let value = node.get(at.checked_add(key.len())?..)?.strip_prefix(": ")?;
        (before.ends_with('(') || before.ends_with(", ")).then_some(value)
    })?;
    match start.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => start.split([',', ')']).next(),
    }
}

/// The list of parameters at the start of `text`, which follows the name of a function.
pub fn parameters(text: &str) -> Option<Parameters<'_>> {
    let inner = text.strip_prefix('(')?;
    let mut depth = 0u32;
    let mut start = 0;
    let mut list = Vec::new();
    for (at, char) in inner.char_indices() {
        match char {
            ')' if depth == 0 => {
                list.extend(Parameter::new(inner.get(start..at)?));
                return Some(Parameters { list, rest: inner.get(at.checked_add(1)?..)? });
            }
            '(' | '<' | '{' | '[' => depth = depth.checked_add(1)?,
            ')' | '>' | '}' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                list.extend(Parameter::new(inner.get(start..at)?));
                start = at.checked_add(1)?;
            }
            _ => {}
        }
    }
    None
}

impl<'a> Parameter<'a> {
    /// `None` for a text of spaces.
    fn new(text: &'a str) -> Option<Parameter<'a>> {
        let text = text.trim();
        (!text.is_empty()).then_some(Parameter { text })
    }

    /// `float`, `<4 x float>`, `ptr addrspace(3)`.
    pub fn type_text(&self) -> &'a str {
        let end = match self.text.chars().next() {
            Some('<') => self.text.find('>').and_then(|at| at.checked_add(1)),
            Some('{' | '[') => None,
            _ => self.text.find(' '),
        };
        let plain = self.text.get(..end.unwrap_or(self.text.len())).unwrap_or(self.text);
        let space = self.text.strip_prefix("ptr addrspace(").and_then(|rest| rest.find(')'));
        let with_space = space.and_then(|at| self.text.get(..at.checked_add("ptr addrspace(".len() + 1)?));
        with_space.unwrap_or(plain)
    }

    /// The name or number behind the `%`.
    pub fn name(&self) -> &'a str {
        self.text.rsplit_once('%').map(|(_, name)| name).unwrap_or_default()
    }

    /// Whether a structure is passed by value through a pointer (`byval`, `byref`).
    pub fn is_by_value(&self) -> bool {
        self.text.contains(" byval(") || self.text.contains(" byref(")
    }

    /// The structure that is passed by value through a pointer: `%struct.s` of `ptr byval(%struct.s) align 8 %2`.
    pub fn by_value_type(&self) -> Option<&'a str> {
        let (_, rest) = self.text.split_once(" byval").or_else(|| self.text.split_once(" byref"))?;
        let parenthesised = rest.get(..closing(rest)?)?;
        parenthesised.strip_prefix('(')?.strip_suffix(')')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_taken_apart() {
        let line = "(ptr addrspace(1) noundef align 4 %x, <3 x float> noundef %v, ptr byval(%struct.s) align 8 %2, ptr addrspace(3) %t) #0 !x {";
        let Parameters { list, rest } = parameters(line).unwrap();
        let types: Vec<_> = list.iter().map(Parameter::type_text).collect();
        assert_eq!(types, ["ptr addrspace(1)", "<3 x float>", "ptr", "ptr addrspace(3)"]);
        assert_eq!(list[2].by_value_type(), Some("%struct.s"));
        assert_eq!((list[1].name(), list[2].name()), ("v", "2"));
        assert_eq!(rest, " #0 !x {");
        assert!(parameters("()").unwrap().list.is_empty());
    }
}
