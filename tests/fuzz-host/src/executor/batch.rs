//! Launches as the runtime reads them: numbers in their order.
//!
//! The number of cases; of each its dimensions, offset, global and local size, the number of buffers, of each its length
//! and words, the number of arguments, and of each its kind with what belongs to it.

use std::fmt::Write;

use crate::case::{Case, CaseArg};

/// The batch as a text for the runtime.
pub(super) fn text(cases: &[&Case]) -> String {
    let mut text = format!("{}\n", cases.len());
    for case in cases {
        write_case(&mut text, case);
    }
    text
}

fn write_case(text: &mut String, case: &Case) {
    let range = &case.range;
    let _ = write!(text, "{}", range.dimensions);
    for number in range.offset.iter().chain(&range.global).chain(&range.local) {
        let _ = write!(text, " {number}");
    }
    let _ = writeln!(text, "\n{}", case.buffers.len());
    for buffer in &case.buffers {
        write_words(text, buffer);
    }
    let _ = writeln!(text, "{}", case.args.len());
    for arg in &case.args {
        match arg {
            CaseArg::Buffer(index) => {
                let _ = writeln!(text, "0 {index}");
            }
            CaseArg::Local(count) => {
                let _ = writeln!(text, "1 {count}");
            }
            CaseArg::Value(words) => {
                text.push_str("2 ");
                write_words(text, words);
            }
        }
    }
}

fn write_words(text: &mut String, words: &[u32]) {
    let _ = write!(text, "{}", words.len());
    for word in words {
        let _ = write!(text, " {word}");
    }
    text.push('\n');
}
