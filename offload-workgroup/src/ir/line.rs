//! A line of LLVM IR as tokens: local names, and the text between them.

use crate::ir::{Types, symbol_at};

/// One token of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Text(String),
    /// A value, as `x` for `%x`.
    Value(String),
    /// A block after the word `label`.
    Label(String),
}

/// A line, or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    tokens: Vec<Token>,
}

/// A renaming of the local names of a line.
pub(crate) trait NameMap {
    /// A value, with its `%`.
    fn value(&self, name: &str) -> String;
    /// A block, without a `%`.
    fn label(&self, name: &str) -> String;
}

impl Line {
    /// Names of types are text, and so is whatever is between quotes.
    pub(crate) fn parse(text: &str, types: &Types<'_>) -> Line {
        let mut line = Line::default();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, from)) = rest.find(['%', '"']).and_then(|at| rest.split_at_checked(at)) {
            plain.push_str(before);
            if let Some(tail) = from.strip_prefix('"') {
                let end = tail.find('"').and_then(|at| at.checked_add(2)).unwrap_or(from.len());
                let (quoted, after) = from.split_at_checked(end).unwrap_or((from, ""));
                plain.push_str(quoted);
                rest = after;
                continue;
            }
            let symbol = from.strip_prefix('%').and_then(symbol_at).filter(|symbol| !symbol.name.is_empty());
            let Some(symbol) = symbol else {
                plain.push('%');
                rest = from.strip_prefix('%').unwrap_or_default();
                continue;
            };
            let before = text.get(..text.len().saturating_sub(from.len())).unwrap_or_default();
            let is_type = types.is_named(symbol.name)
                && (!starts_with_digit(symbol.name) || is_type_position(before, symbol.rest));
            if is_type {
                let length = from.len().saturating_sub(symbol.rest.len());
                plain.push_str(from.get(..length).unwrap_or_default());
            } else {
                let name = local_name(symbol.name);
                let token = if plain.ends_with("label ") { Token::Label(name) } else { Token::Value(name) };
                line.tokens.extend([Token::Text(std::mem::take(&mut plain)), token]);
            }
            rest = symbol.rest;
        }
        plain.push_str(rest);
        line.tokens.push(Token::Text(plain));
        line
    }

    pub(crate) fn from_tokens(tokens: Vec<Token>) -> Line {
        Line { tokens }
    }

    /// Renames the last value of the line.
    pub(crate) fn rename_last(&mut self, name: String) {
        let mut values = self.tokens.iter_mut().rev().filter(|token| matches!(token, Token::Value(_)));
        if let Some(last) = values.next() {
            *last = Token::Value(name);
        }
    }

    /// The values that the line mentions.
    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter_map(|token| match token {
            Token::Value(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The blocks that the line mentions.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter_map(|token| match token {
            Token::Label(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The text before the first name.
    pub(crate) fn start(&self) -> &str {
        match self.tokens.first() {
            Some(Token::Text(text)) => text,
            _ => "",
        }
    }

    /// The opcode of an instruction.
    pub(crate) fn opcode(&self) -> &str {
        self.start().split(' ').next().unwrap_or_default()
    }

    /// Whether `text` stands between the names.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.tokens.iter().any(|token| matches!(token, Token::Text(plain) if plain.contains(text)))
    }

    /// The text of the line with renamed local names.
    pub(crate) fn render(&self, names: &dyn NameMap) -> String {
        let mut out = String::new();
        for token in &self.tokens {
            match token {
                Token::Text(text) => out.push_str(text),
                Token::Value(name) => out.push_str(&names.value(name)),
                Token::Label(name) => {
                    out.push('%');
                    out.push_str(&names.label(name));
                }
            }
        }
        out
    }

    /// The text of the line with its own names.
    pub(crate) fn text(&self) -> String {
        self.render(&OwnNames)
    }
}

/// The renaming that changes nothing.
struct OwnNames;

impl NameMap for OwnNames {
    fn value(&self, name: &str) -> String {
        format!("%{name}")
    }

    fn label(&self, name: &str) -> String {
        name.to_string()
    }
}

/// A name that suffixes can be appended to: numbers would have to stay in order, and quotes would have to be moved. The
/// mapping is injective.
pub(crate) fn local_name(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    if starts_with_digit(name) {
        out.push('v');
    } else if let Some(number) = name.strip_prefix('v').filter(|rest| starts_with_digit(rest)) {
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

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a type stands between `before` and `after`: a type without a name and a value can have the same number.
fn is_type_position(before: &str, after: &str) -> bool {
    const BEFORE_TYPES: [&str; 10] =
        ["alloca", "atomic", "getelementptr", "inalloca", "inbounds", "load", "nusw", "nuw", "volatile", "x"];
    const CONSTANTS: [&str; 6] = ["false", "null", "poison", "true", "undef", "zeroinitializer"];
    let before = before.trim_end();
    let is_in_structure = before.matches('{').count() > before.matches('}').count();
    if is_in_structure && before.ends_with(['{', ',']) || before.ends_with('(') {
        return true;
    }
    let word = before.rsplit(' ').next().unwrap_or_default();
    if BEFORE_TYPES.contains(&word) {
        return true;
    }
    let Some(next) = after.strip_prefix(' ') else { return false };
    if before.ends_with(',') {
        // Of a phi: `[ 0, %1 ]`.
        return !next.starts_with(']');
    }
    let next_word = next.split([' ', ',', ')']).next().unwrap_or_default();
    next.starts_with(['%', '@', '{', '[', '<']) || CONSTANTS.contains(&next_word)
}

/// `line` without `!invariant.load`, if it loads state.
pub(crate) fn without_invariant_load(line: &str) -> String {
    if line.contains("@__offload_state_") {
        without_metadata(line, "invariant.load")
    } else {
        line.to_string()
    }
}

/// `text` without the metadata called `name`: `, !noalias !12`.
pub(crate) fn without_metadata(text: &str, name: &str) -> String {
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

    impl NameMap for Suffixed {
        fn value(&self, name: &str) -> String {
            format!("%{name}.p1")
        }

        fn label(&self, name: &str) -> String {
            format!("{name}.p1")
        }
    }

    #[test]
    fn local_names_are_separated_from_types_labels_and_text() {
        let types = Types::new("%struct.s = type { i32 }\n");
        let line = Line::parse("getelementptr %struct.s, ptr %12, i64 %\"a b\", !dbg !3", &types);
        assert_eq!(line.values().collect::<Vec<_>>(), ["v12", "a$20$b"]);
        assert_eq!(line.render(&Suffixed), "getelementptr %struct.s, ptr %v12.p1, i64 %a$20$b.p1, !dbg !3");
        let line = Line::parse("br i1 %c, label %7, label %end", &types);
        assert_eq!(line.labels().collect::<Vec<_>>(), ["v7", "end"]);
        assert_eq!(line.render(&Suffixed), "br i1 %c.p1, label %v7.p1, label %end.p1");
        let line = Line::parse("call void asm \"mov %rax, $0\", \"r\"(i64 %x)", &types);
        assert_eq!(line.values().collect::<Vec<_>>(), ["x"]);
    }

    /// As llvm-link writes types whose names it gives to others.
    #[test]
    fn values_and_types_of_the_same_number_are_distinguished() {
        let types = Types::new("%0 = type { %1 }\n%1 = type { i32 }\n");
        for (text, values) in [
            ("%1 = alloca %1, align 4", vec!["v1"]),
            ("store i32 0, ptr %1, align 4", vec!["v1"]),
            ("%2 = load %1, ptr %1, align 4", vec!["v2", "v1"]),
            ("store volatile %1 %0, ptr %1", vec!["v0", "v1"]),
            ("%3 = getelementptr inbounds nuw %1, ptr %0, i64 %1", vec!["v3", "v0", "v1"]),
            ("%3 = add i32 %0, %1, !dbg !3", vec!["v3", "v0", "v1"]),
            ("%3 = phi i32 [ %1, %0 ], [ %0, %1 ]", vec!["v3", "v1", "v0", "v0", "v1"]),
            ("%3 = phi %1 [ %1, %0 ]", vec!["v3", "v1", "v0"]),
            ("%3 = select i1 %0, %1 %0, %1 %1", vec!["v3", "v0", "v0", "v1"]),
            ("%3 = insertvalue { i32, %1, %0 } poison, %1 %1, 1", vec!["v3", "v1"]),
            ("%3 = alloca [4 x %1], i32 %1", vec!["v3", "v1"]),
            ("%3 = call %1 @f(%1 %0, ptr sret(%1) %1, %1 noundef %0)", vec!["v3", "v0", "v1", "v0"]),
            ("%3 = sext i32 %1 to i64", vec!["v3", "v1"]),
            ("%3 = load atomic i32, ptr %1 syncscope(\"agent\") acquire", vec!["v3", "v1"]),
            ("ret %1 zeroinitializer", vec![]),
            ("ret %1 %1", vec!["v1"]),
        ] {
            let line = Line::parse(text, &types);
            assert_eq!(line.values().chain(line.labels()).collect::<Vec<_>>(), values, "{text}");
        }
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
