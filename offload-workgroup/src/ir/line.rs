//! A line of LLVM IR taken apart into local names and what is between them.

use crate::ir::name_at;
use crate::ir::types::Types;

/// One part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// A value, as `x` for `%x`.
    Value(String),
    /// A block after the word `label`.
    Label(String),
}

/// A line without its end, or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    parts: Vec<Part>,
}

/// What the local names of a line are called where it is written.
pub(super) trait Names {
    /// A value, with its `%`.
    fn value(&self, name: &str) -> String;
    /// A block, without a `%`.
    fn label(&self, name: &str) -> String;
}

impl Line {
    /// Names of types are text, and so is whatever is between quotes.
    pub(super) fn parse(text: &str, types: &Types<'_>) -> Line {
        let (mut line, mut plain, mut rest) = (Line::default(), String::new(), text);
        while let Some((before, from)) = rest.find(['%', '"']).and_then(|at| rest.split_at_checked(at)) {
            plain.push_str(before);
            if let Some(tail) = from.strip_prefix('"') {
                let end = tail.find('"').and_then(|at| at.checked_add(2)).unwrap_or(from.len());
                let (quoted, after) = from.split_at_checked(end).unwrap_or((from, ""));
                plain.push_str(quoted);
                rest = after;
                continue;
            }
            let named = from.strip_prefix('%').and_then(name_at).filter(|named| !named.name.is_empty());
            let Some(named) = named else {
                plain.push('%');
                rest = from.strip_prefix('%').unwrap_or_default();
                continue;
            };
            if types.is_named(named.name) {
                let length = from.len().saturating_sub(named.rest.len());
                plain.push_str(from.get(..length).unwrap_or_default());
            } else {
                let name = local_name(named.name);
                let part = if plain.ends_with("label ") { Part::Label(name) } else { Part::Value(name) };
                line.parts.extend([Part::Text(std::mem::take(&mut plain)), part]);
            }
            rest = named.rest;
        }
        plain.push_str(rest);
        line.parts.push(Part::Text(plain));
        line
    }

    /// The line that has these parts.
    pub(super) fn of(parts: Vec<Part>) -> Line {
        Line { parts }
    }

    /// Calls the last value that the line mentions `name`.
    pub(super) fn rename_last(&mut self, name: String) {
        let mut values = self.parts.iter_mut().rev().filter(|part| matches!(part, Part::Value(_)));
        if let Some(last) = values.next() {
            *last = Part::Value(name);
        }
    }

    /// The values that the line mentions.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The blocks that the line mentions.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Label(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether `text` stands between the names.
    pub(super) fn contains(&self, text: &str) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Text(plain) if plain.contains(text)))
    }

    /// The line with other names.
    pub(super) fn with(&self, names: &dyn Names) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Value(name) => out.push_str(&names.value(name)),
                Part::Label(name) => {
                    out.push('%');
                    out.push_str(&names.label(name));
                }
            }
        }
        out
    }

    /// The line with its own names.
    pub(super) fn plain(&self) -> String {
        self.with(&Own)
    }
}

/// The names as they are.
struct Own;

impl Names for Own {
    fn value(&self, name: &str) -> String {
        format!("%{name}")
    }

    fn label(&self, name: &str) -> String {
        name.to_string()
    }
}

/// A name that can be lengthened: numbers would have to stay in order, and quotes would have to be moved. Different names
/// stay different.
pub(super) fn local_name(name: &str) -> String {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let (mut out, mut rest) = (String::new(), name);
    if is_number(name) {
        out.push('v');
    } else if let Some(number) = name.strip_prefix('v').filter(|rest| is_number(rest)) {
        out.push_str("$v$");
        rest = number;
    }
    for char in rest.chars() {
        match char {
            c if c.is_ascii_alphanumeric() || "._-".contains(c) => out.push(c),
            c => out.push_str(&format!("${:x}$", u32::from(c))),
        }
    }
    out
}

/// `line` without the mark of loads that see the same whenever they are done.
pub(super) fn without_invariance(line: &str) -> String {
    if line.contains("@__offload_state_") {
        without_metadata(line, "invariant.load")
    } else {
        line.to_string()
    }
}

/// `text` without the metadata called `name`: `, !noalias !12`.
pub(super) fn without_metadata(text: &str, name: &str) -> String {
    let start = format!(", !{name} !");
    let Some((before, rest)) = text.split_once(&start) else { return text.to_string() };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    format!("{before}{}", rest.get(end..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    struct Suffixed;

    impl Names for Suffixed {
        fn value(&self, name: &str) -> String {
            format!("%{name}.p1")
        }

        fn label(&self, name: &str) -> String {
            format!("{name}.p1")
        }
    }

    #[test]
    fn names_are_told_from_types_labels_and_text() {
        let types = Types::of("%struct.s = type { i32 }\n");
        let line = Line::parse("getelementptr %struct.s, ptr %12, i64 %\"a b\", !dbg !3", &types);
        assert_eq!(line.values().collect::<Vec<_>>(), ["v12", "a$20$b"]);
        assert_eq!(line.with(&Suffixed), "getelementptr %struct.s, ptr %v12.p1, i64 %a$20$b.p1, !dbg !3");
        let line = Line::parse("br i1 %c, label %7, label %end", &types);
        assert_eq!(line.labels().collect::<Vec<_>>(), ["v7", "end"]);
        assert_eq!(line.with(&Suffixed), "br i1 %c.p1, label %v7.p1, label %end.p1");
        let line = Line::parse("call void asm \"mov %rax, $0\", \"r\"(i64 %x)", &types);
        assert_eq!(line.values().collect::<Vec<_>>(), ["x"]);
    }

    #[test]
    fn different_names_stay_different() {
        let names = ["3", "v3", "$v$3", "v", "v.3", "w3", "a b", "a$20$b", "a$20b", "$", "a$b"];
        let written: BTreeSet<String> = names.iter().map(|name| local_name(name)).collect();
        assert_eq!(written.len(), names.len(), "{written:?}");
        assert_eq!(local_name("v.3"), "v.3");
    }

    #[test]
    fn metadata_goes_by_its_name() {
        let line = "load i32, ptr %p, !tbaa !3, !noalias !14, !dbg !5";
        assert_eq!(without_metadata(line, "noalias"), "load i32, ptr %p, !tbaa !3, !dbg !5");
        assert_eq!(without_metadata(line, "alias.scope"), line);
    }
}
