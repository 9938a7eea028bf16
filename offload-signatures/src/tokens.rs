//! Reading C-like sources without a compiler: words and signs with their lines, macros without parameters, includes.
//!
//! Both branches of every condition are read, and macros with parameters stay as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A word, a number or a sign, after macros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// The file, by its number in [`Reader::files`].
    pub(crate) file: usize,
    /// From 1.
    pub(crate) line: u32,
}

/// What some files say, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub(crate) tokens: Vec<Token>,
    /// Relative to `root`, in the order in which they were read.
    pub(crate) files: Vec<PathBuf>,
    root: PathBuf,
    includes: Vec<PathBuf>,
    macros: BTreeMap<String, Vec<String>>,
    /// Defined by the build, which goes before the source.
    fixed: BTreeSet<String>,
}

/// A file larger than this is no kernel source.
const LARGEST: u64 = 4 << 20;
/// Macros that expand to macros, and files that include files.
const DEEPEST: usize = 16;

impl Reader {
    /// For files relative to `root`, with the include directories and definitions among clang's `flags`.
    pub(crate) fn new<'a>(root: &Path, flags: impl Iterator<Item = &'a str>) -> Reader {
        let mut reader = Reader { root: root.to_path_buf(), ..Reader::default() };
        let mut before = "";
        for flag in flags {
            if let Some(definition) = option_value("-D", before, flag) {
                let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
                reader.macros.insert(name.to_string(), words(value));
                reader.fixed.insert(name.to_string());
            } else if let Some(directory) = option_value("-I", before, flag) {
                reader.includes.push(directory.into());
            }
            before = flag;
        }
        reader
    }

    /// Reads a file and what it includes with quotes; what cannot be read is passed over.
    pub(crate) fn read(&mut self, path: &Path) {
        self.read_below(path, 0);
    }

    fn read_below(&mut self, path: &Path, depth: usize) {
        let full = self.root.join(path);
        let small = std::fs::metadata(&full).is_ok_and(|data| data.is_file() && data.len() <= LARGEST);
        let text = if small { std::fs::read(&full).unwrap_or_default() } else { return };
        let file = self.files.len();
        self.files.push(path.to_path_buf());
        for (index, line) in without_comments(&String::from_utf8_lossy(&text)).lines().enumerate() {
            let line_number = u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX);
            match line.trim_start().strip_prefix('#') {
                Some(directive) => self.directive(directive.trim(), path, depth),
                None => {
                    for word in words(line) {
                        self.push(word, &Token { text: String::new(), file, line: line_number }, 0);
                    }
                }
            }
        }
    }

    /// Adds `word` at `place`, or what the macro of that name stands for.
    fn push(&mut self, word: String, place: &Token, depth: usize) {
        match self.macros.get(&word).filter(|_| depth < DEEPEST).cloned() {
            Some(replacement) => {
                replacement.into_iter().for_each(|word| self.push(word, place, depth.saturating_add(1)));
            }
            None => self.tokens.push(Token { text: word, ..place.clone() }),
        }
    }

    fn directive(&mut self, directive: &str, from: &Path, depth: usize) {
        if let Some(rest) = directive.strip_prefix("include") {
            let quoted = rest.trim().strip_prefix('"').and_then(|rest| rest.split_once('"'));
            if let Some((name, _)) = quoted.filter(|_| depth < DEEPEST) {
                self.include(name, from, depth);
            }
        } else if let Some(rest) = directive.strip_prefix("define").map(str::trim) {
            let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
            let (name, value) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if !value.starts_with('(') && !self.fixed.contains(name) {
                self.macros.insert(name.to_string(), words(value));
            }
        } else if let Some(name) = directive.strip_prefix("undef").map(str::trim)
            && !self.fixed.contains(name)
        {
            self.macros.remove(name);
        }
    }

    fn include(&mut self, name: &str, from: &Path, depth: usize) {
        let beside = from.parent().map(|parent| parent.join(name));
        let below = self.includes.iter().map(|directory| directory.join(name));
        let found = beside.into_iter().chain(below).find(|path| self.root.join(path).is_file());
        // A file that is there was read with the macros of its first place; a second time adds nothing.
        if let Some(path) = found.filter(|path| !self.files.contains(path)) {
            self.read_below(&path, depth.saturating_add(1));
        }
    }
}

/// The value of `option` in `flag`, as one word with it or after it.
fn option_value<'a>(option: &str, previous: &str, flag: &'a str) -> Option<&'a str> {
    if previous == option { Some(flag) } else { flag.strip_prefix(option).filter(|value| !value.is_empty()) }
}

/// The text with spaces for comments and strings. Lines that a backslash continues are joined, and the lines after
/// them keep their numbers.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut joined = 0;
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('/', Some('/')) => while chars.next_if(|char| *char != '\n').is_some() {},
            ('/', Some('*')) => {
                chars.next();
                let mut before = ' ';
                for char in chars.by_ref() {
                    if char == '\n' {
                        joined += 1;
                    }
                    if before == '*' && char == '/' {
                        break;
                    }
                    before = char;
                }
                out.push(' ');
            }
            ('\\', Some('\n')) => {
                chars.next();
                joined += 1;
            }
            ('\n', _) => {
                (0..=std::mem::take(&mut joined)).for_each(|_| out.push('\n'));
            }
            (char, _) => out.push(char),
        }
    }
    out
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '$'
}

/// Words, numbers, and every sign for itself.
fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    for char in line.chars() {
        if is_word(char) {
            word.push(char);
            continue;
        }
        if !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if !char.is_whitespace() {
            found.push(char.to_string());
        }
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)], flags: &[&str]) -> (String, Vec<u32>) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        let mut reader = Reader::new(directory.path(), flags.iter().copied());
        reader.read(Path::new(files[0].0));
        let texts: Vec<&str> = reader.tokens.iter().map(|token| token.text.as_str()).collect();
        (texts.join(" "), reader.tokens.iter().map(|token| token.line).collect())
    }

    #[test]
    fn comments_and_continued_lines_keep_the_numbers() {
        let (text, lines) = read(&[("k.cl", "a /* b\nc */ d // e\nf \\\n g\nh")], &[]);
        assert_eq!(text, "a d f g h");
        assert_eq!(lines, [1, 1, 3, 3, 5]);
    }

    #[test]
    fn macros_and_includes_are_followed() {
        let files = [
            ("k.cl", "#include \"h.h\"\n#include \"k.cl\"\n#include <no.h>\nreal TILE f(x)\n"),
            ("h.h", "#define real number\n#define number double\n#define TILE 16\n#define f(x) x\n"),
        ];
        assert_eq!(read(&files, &[]).0, "double 16 f ( x )");
        assert_eq!(read(&files, &["-DTILE=4", "-D", "number=float"]).0, "float 4 f ( x )");
    }
}
