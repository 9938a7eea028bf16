//! The comparison of results, and what it finds.

use std::collections::BTreeMap;
use std::fmt;

/// What a launch has left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The words of all buffers.
    pub buffers: Vec<Vec<u32>>,
    /// The lines that it has printed.
    pub lines: Vec<String>,
}

/// A case that a build gets wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The case's index in its batch.
    pub case: usize,
    /// The build, with the level of the instruction set.
    pub build: String,
    /// What is wrong.
    pub kind: MismatchKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// Words of a buffer.
    Wrong(WrongWord),
    /// Printed lines of a work-item.
    Printed(String),
    /// The program died.
    Crash(String),
    /// The launch did not end.
    Timeout,
    /// The checks of `OFFLOAD_SANITIZE` report a mistake in a program that has none.
    Alarm(String),
    /// The launch was refused, or failed.
    Refused(String),
    /// The case does not compile.
    Compile(String),
    /// PoCL gets wrong what our builds get right.
    PoclDiffers(Box<MismatchKind>),
}

/// The first word that differs, and how many do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongWord {
    /// The buffer's index.
    pub buffer: usize,
    /// The word's index.
    pub index: usize,
    /// What the build has there.
    pub got: u32,
    /// What the executor has there.
    pub want: u32,
    /// The number of wrong words in all buffers.
    pub count: usize,
}

impl Mismatch {
    /// Whether the work-group compiler is at fault, and not PoCL.
    pub fn is_ours(&self) -> bool {
        !matches!(self.kind, MismatchKind::PoclDiffers(_))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "case {}: {}: {}", self.case, self.build, self.kind)
    }
}

impl fmt::Display for MismatchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MismatchKind::Wrong(word) => write!(
                f,
                "{} wrong words: buffer {}, word {}: {:#x} instead of {:#x}",
                word.count, word.buffer, word.index, word.got, word.want
            ),
            MismatchKind::Printed(text) => write!(f, "printed lines differ: {text}"),
            MismatchKind::Crash(text) => write!(f, "the program died: {text}"),
            MismatchKind::Timeout => f.write_str("the launch did not end"),
            MismatchKind::Alarm(text) => write!(f, "false alarm: {text}"),
            MismatchKind::Refused(text) => write!(f, "the launch failed: {text}"),
            MismatchKind::Compile(text) => write!(f, "it does not compile: {text}"),
            MismatchKind::PoclDiffers(kind) => write!(f, "PoCL alone: {kind}"),
        }
    }
}

/// In what `got` differs from `want`, if it does. Lines are compared by work-item: those of two have no order.
pub(crate) fn differs(want: &Run, got: &Run) -> Option<MismatchKind> {
    if let Some(word) = wrong_word(want, got) {
        return Some(MismatchKind::Wrong(word));
    }
    let wanted_lines = by_item(&want.lines);
    let got_lines = by_item(&got.lines);
    let items = wanted_lines.keys().chain(got_lines.keys());
    for item in items {
        let wanted = wanted_lines.get(item);
        let printed = got_lines.get(item);
        if wanted != printed {
            return Some(MismatchKind::Printed(format!("item {item}: {printed:?} instead of {wanted:?}")));
        }
    }
    None
}

fn wrong_word(want: &Run, got: &Run) -> Option<WrongWord> {
    let mut wrong: Option<WrongWord> = None;
    for (buffer, (wanted, words)) in want.buffers.iter().zip(&got.buffers).enumerate() {
        for (index, (want, got)) in wanted.iter().zip(words).enumerate() {
            if want == got {
                continue;
            }
            let first = WrongWord { buffer, index, got: *got, want: *want, count: 0 };
            wrong.get_or_insert(first).count += 1;
        }
    }
    wrong
}

fn by_item(lines: &[String]) -> BTreeMap<&str, Vec<&str>> {
    let mut items: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        let (item, text) = line.split_once(": ").unwrap_or(("", line));
        items.entry(item).or_default().push(text);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printing(lines: &[&str]) -> Run {
        Run { buffers: Vec::new(), lines: lines.iter().map(|line| line.to_string()).collect() }
    }

    #[test]
    fn lines_are_ordered_by_item_alone() {
        let want = printing(&["0: a", "1: b", "0: c"]);
        assert_eq!(differs(&want, &printing(&["1: b", "0: a", "0: c"])), None);
        assert!(differs(&want, &printing(&["1: b", "0: c", "0: a"])).is_some());
        assert!(differs(&want, &printing(&["0: a", "0: c"])).is_some());
        assert!(differs(&printing(&["0: a"]), &want).is_some());
    }

    #[test]
    fn wrong_words_are_counted() {
        let want = Run { buffers: vec![vec![1, 2, 3], vec![4]], lines: Vec::new() };
        let got = Run { buffers: vec![vec![1, 0, 3], vec![5]], lines: Vec::new() };
        let word = WrongWord { buffer: 0, index: 1, got: 0, want: 2, count: 2 };
        assert_eq!(differs(&want, &got), Some(MismatchKind::Wrong(word)));
        assert_eq!(differs(&want, &want), None);
    }
}
