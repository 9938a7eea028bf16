//! Names of headers in the directives of a source file.
//!
//! The scan reads no more of the language than lines and tokens, and finds every name that a preprocessor may look up:
//! also names in branches that are not taken, and in macros that nothing expands.

use std::collections::BTreeSet;

/// How a header is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// `"name"`: looked up beside the including file first.
    Quoted,
    /// `<name>`
    Angled,
}

/// Where a lookup ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Search {
    /// At the first directory that has the file.
    First,
    /// It begins somewhere in the middle (`#include_next`), so that each directory counts.
    Next,
    /// In the directories of `--embed-dir`.
    Embed,
}

/// A name that may be looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) form: Form,
    pub(super) search: Search,
}

/// What the directives of one file name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// Names in directives that look up.
    pub(super) direct: BTreeSet<Name>,
    /// Names in macros, which directives of any file may look up.
    pub(super) in_macros: BTreeSet<Name>,
    /// Whether a directive names a macro in place of a header.
    pub(super) is_computed: bool,
    /// What conditions ask about that is no name: a macro, or a parameter.
    pub(super) unnamed: BTreeSet<Unnamed>,
}

/// The operand of a `__has_include` that is no name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unnamed {
    /// A macro without parameters.
    Macro(String),
    /// The parameter of this macro.
    ParameterOf(String),
    /// What only a preprocessor can tell.
    Expression,
}

const CONDITIONS: [(&str, Search); 3] =
    [("__has_include_next", Search::Next), ("__has_include", Search::First), ("__has_embed", Search::Embed)];

impl Names {
    pub(super) fn scan(text: &str) -> Names {
        let mut names = Names::default();
        for line in directives(text) {
            names.add(&line);
        }
        names
    }

    /// Adds the names of a directive, without its `#`.
    fn add(&mut self, line: &str) {
        let (word, rest) = split_word(line);
        match word {
            "include" | "import" => self.add_operand(rest, Search::First),
            "include_next" => self.add_operand(rest, Search::Next),
            "embed" => self.add_operand(rest, Search::Embed),
            "if" | "elif" => {
                let search = search_of_condition(rest);
                self.direct.extend(tokens(rest).into_iter().map(|token| token.with_search(search)));
                self.add_conditions(rest, None);
            }
            "define" => {
                let search = search_of_condition(rest);
                self.in_macros.extend(tokens(rest).into_iter().map(|token| token.with_search(search)));
                self.add_conditions(rest, Some(Definition::parse(rest)));
            }
            _ => {}
        }
    }

    fn add_operand(&mut self, operand: &str, search: Search) {
        match quoted_name(operand).or_else(|| angled_name(operand)) {
            Some(token) => drop(self.direct.insert(token.with_search(search))),
            None => self.is_computed = true,
        }
    }

    /// Adds what the conditions in `text`, which may be of a macro, ask about.
    fn add_conditions(&mut self, text: &str, definition: Option<Definition<'_>>) {
        for operand in operands(text, "__has_include").into_iter().chain(operands(text, "__has_embed")) {
            if operand.starts_with(['"', '<']) {
                continue;
            }
            self.is_computed = true;
            let (word, rest) = split_word(operand);
            let unnamed = match &definition {
                _ if word.is_empty() || !rest.starts_with(')') => Unnamed::Expression,
                Some(definition) if definition.has_parameter(word) => {
                    Unnamed::ParameterOf(definition.name.to_string())
                }
                _ => Unnamed::Macro(word.to_string()),
            };
            self.unnamed.insert(unnamed);
        }
    }
}

/// The names in macros of the command line, which are written as behind `-D`.
pub(super) fn from_command_line(defined: &[&str]) -> BTreeSet<Name> {
    let mut names = Names::default();
    for text in defined {
        names.add(&format!("define {}", text.replacen('=', " ", 1)));
    }
    names.in_macros
}

/// Whether the conditions of `texts` ask about nothing but names that [`Names::scan`] has found. `defined` are macros of
/// the command line.
pub(super) fn all_are_named(names: &[Names], texts: &[&str], defined: &[&str]) -> bool {
    let unnamed: BTreeSet<&Unnamed> = names.iter().flat_map(|names| &names.unnamed).collect();
    unnamed.into_iter().all(|unnamed| match unnamed {
        Unnamed::Expression => false,
        Unnamed::Macro(name) => is_literal(name, texts, defined),
        Unnamed::ParameterOf(function) => calls_are_named(function, texts, defined),
    })
}

/// Whether every definition of the macro `name` is the name of a header.
fn is_literal(name: &str, texts: &[&str], defined: &[&str]) -> bool {
    let mut is_defined = false;
    let lines = texts.iter().flat_map(|text| directives(text));
    let definitions = lines.filter_map(|line| line.strip_prefix("define").map(str::to_string));
    let of_command = defined.iter().map(|text| text.replacen('=', " ", 1));
    for line in definitions.chain(of_command) {
        let definition = Definition::parse(&line);
        if definition.name != name {
            continue;
        }
        is_defined = true;
        if !definition.body.starts_with(['"', '<']) {
            return false;
        }
    }
    is_defined
}

/// Whether every use of the macro `function` is of a name, or of a macro that is one.
fn calls_are_named(function: &str, texts: &[&str], defined: &[&str]) -> bool {
    let lines = texts.iter().flat_map(|text| directives(text));
    for line in lines {
        let (word, rest) = split_word(&line);
        let is_condition = matches!(word, "if" | "elif");
        let is_other_macro = word == "define" && Definition::parse(rest).name != function;
        if !is_condition && !is_other_macro {
            continue;
        }
        for operand in operands(rest, function) {
            let (name, _) = split_word(operand);
            if !operand.starts_with(['"', '<']) && !is_literal(name, texts, defined) {
                return false;
            }
        }
    }
    true
}

/// A `#define`.
struct Definition<'a> {
    name: &'a str,
    parameters: &'a str,
    body: &'a str,
}

impl<'a> Definition<'a> {
    /// Of the text behind `define`.
    fn parse(text: &'a str) -> Definition<'a> {
        let (name, _) = split_word(text);
        let rest = skip_blank(text).strip_prefix(name).unwrap_or_default();
        // The parenthesis of parameters follows the name at once.
        let (parameters, body) = match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').unwrap_or((rest, "")),
            None => ("", rest),
        };
        Definition { name, parameters, body: skip_blank(body) }
    }

    fn has_parameter(&self, name: &str) -> bool {
        self.parameters.split(',').any(|parameter| parameter.trim() == name)
    }
}

/// The directives of a text: lines as the preprocessor sees them, behind their `#`.
fn directives(text: &str) -> impl Iterator<Item = String> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            let Some(directive) = directive(line) else { continue };
            let mut whole = directive.to_string();
            while let Some(head) = whole.trim_end().strip_suffix('\\') {
                whole = format!("{head} {}", lines.next().unwrap_or_default());
            }
            return Some(whole);
        }
    })
}

/// What stands behind the `#` of a line that is a directive.
fn directive(line: &str) -> Option<&str> {
    let (before, after) = line.split_once('#').or_else(|| line.split_once("%:"))?;
    let before = before.trim();
    // A comment may end on the line.
    let is_first = before.is_empty() || before.ends_with("*/");
    is_first.then(|| skip_blank(after))
}

/// `text` behind white space and comments.
fn skip_blank(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("/*") {
        let Some((_, behind)) = comment.split_once("*/") else { return "" };
        rest = behind.trim_start();
    }
    rest
}

/// The identifier at the beginning, and what stands behind it.
fn split_word(text: &str) -> (&str, &str) {
    let text = skip_blank(text);
    let end = text.find(|c| !is_part_of_word(c)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (word, skip_blank(rest))
}

fn is_part_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// What stands behind each `function(` in `text`.
fn operands<'a>(text: &'a str, function: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(function) {
        let (before, rest) = text.split_at(at);
        let rest = rest.strip_prefix(function).unwrap_or_default();
        // `__has_include_next` begins as `__has_include`.
        let rest = rest.strip_prefix("_next").unwrap_or(rest);
        if before.ends_with(is_part_of_word) || rest.starts_with(is_part_of_word) {
            continue;
        }
        if let Some(operand) = skip_blank(rest).strip_prefix('(') {
            found.push(skip_blank(operand));
        }
    }
    found
}

fn search_of_condition(text: &str) -> Search {
    let found = CONDITIONS.iter().find(|(word, _)| text.contains(word));
    found.map_or(Search::First, |(_, search)| *search)
}

/// A name between its quotes.
struct Token {
    text: String,
    form: Form,
}

impl Token {
    fn with_search(self, search: Search) -> Name {
        Name { text: self.text, form: self.form, search }
    }
}

fn quoted_name(text: &str) -> Option<Token> {
    let (name, _) = text.strip_prefix('"')?.split_once('"')?;
    Some(Token { text: name.to_string(), form: Form::Quoted })
}

fn angled_name(text: &str) -> Option<Token> {
    let (name, _) = text.strip_prefix('<')?.split_once('>')?;
    Some(Token { text: name.to_string(), form: Form::Angled })
}

/// Everything between quotes or angle brackets that may be the name of a file. Names with spaces are found only where a
/// directive has nothing else.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(['"', '<']) {
        let (_, rest) = text.split_at(at);
        let token = quoted_name(rest).or_else(|| angled_name(rest));
        found.extend(token.filter(|token| {
            let is_in_condition = !token.text.contains(char::is_whitespace);
            !token.text.is_empty() && token.text.len() < 256 && is_in_condition
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct(text: &str) -> Vec<(String, Form, Search)> {
        let names = Names::scan(text).direct.into_iter();
        names.map(|name| (name.text, name.form, name.search)).collect()
    }

    #[test]
    fn directives_name_headers() {
        use Form::{Angled, Quoted};
        for (text, name, form, search) in [
            ("#include \"a.h\"", "a.h", Quoted, Search::First),
            ("  #  include <a b.h> // c", "a b.h", Angled, Search::First),
            ("/* c */ # /* d */ include/**/\"a.h\"", "a.h", Quoted, Search::First),
            ("%:include <a.h>", "a.h", Angled, Search::First),
            ("#inc\\\nlude", "", Quoted, Search::First),
            ("#include \\\n  \"a.h\"", "a.h", Quoted, Search::First),
            ("#include_next <a.h>", "a.h", Angled, Search::Next),
            ("#import <a.h>", "a.h", Angled, Search::First),
            ("#embed \"a.bin\" limit(3)", "a.bin", Quoted, Search::Embed),
            ("#if X && __has_include(\"a.h\")", "a.h", Quoted, Search::First),
            ("#elif __has_include_next(<a.h>)", "a.h", Angled, Search::Next),
            ("#if __has_embed(<a.bin>)", "a.bin", Angled, Search::Embed),
            ("#if HAS(<a.h>)", "a.h", Angled, Search::First),
        ] {
            let expected: Vec<_> =
                (!name.is_empty()).then(|| (name.to_string(), form, search)).into_iter().collect();
            assert_eq!(direct(text), expected, "{text}");
        }
    }

    #[test]
    fn other_lines_name_nothing() {
        for text in [
            "int a = b < c && d > e;",
            "puts(\"#\\\"a.h\\\"\");",
            "#if a < b && c > d",
            "#error \"a.h\"",
            "#pragma once",
        ] {
            assert_eq!(direct(text), [], "{text}");
        }
    }

    fn named(text: &str, defined: &[&str]) -> bool {
        all_are_named(&[Names::scan(text)], &[text], defined)
    }

    #[test]
    fn macros_stand_for_names() {
        let names = Names::scan("#define TUNED \"t.h\"\n#include TUNED\n");
        assert!(names.is_computed && names.direct.is_empty());
        assert_eq!(names.in_macros.first().unwrap().text, "t.h");
        assert!(named("#if defined(__has_include) && __has_include(<a.h>)", &[]));
        assert!(named("#define T <t.h>\n#if __has_include(T)", &[]));
        assert!(named("#if __has_include(T)", &["T=\"t.h\""]));
        assert!(named("#define HAS(X) __has_include(X)\n#if HAS(<t.h>)\n#define A HAS(\"a.h\")", &[]));
    }

    #[test]
    fn what_only_a_preprocessor_can_tell_is_noticed() {
        assert!(!named("#if __has_include(T)", &[]));
        assert!(!named("#define T S(t.h)\n#if __has_include(T)", &[]));
        assert!(!named("#if __has_include(S(t.h))", &[]));
        assert!(!named("#define HAS(X) __has_include(X)\n#if HAS(T)", &[]));
        assert!(!named("#define HAS(X) __has_include(#X)\n#if HAS(t)", &[]));
    }
}
