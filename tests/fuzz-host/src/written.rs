//! Cases that are written by hand, as files of kernels.
//!
//! A line before each kernel says how it is launched: its name, then words that are numbers with dots in between.
//!
//! ```text
//! //@ transpose global=8.4 local=4.4 zeros=32 random=32 value=7 scratch=16
//! ```
//!
//! `zeros`, `random` and `numbers` (0, 1, 2 ...) are buffers of so many words, `same` is one that was named before, by its
//! place, `value` are the words of an argument, `scratch` is local memory. `offset` is the first global id, `cpp` says that
//! it is C++.

use crate::builds::BuildKind;
use crate::case::{Case, CaseArg, Language, Range};

/// Kernels that were compiled wrongly once, refused, or reported by sanitized builds, and one or more for each condition
/// that makes a transformation legal: what is wrong without it.
const CORPUS: [&str; 4] = [
    include_str!("written/conditions.cl"),
    include_str!("written/kernels.cl"),
    include_str!("written/kernels.cpp"),
    include_str!("written/vectors.cl"),
];
/// The builds that are right about the corpus. PoCL compiles some of it wrongly.
pub const BUILDS: [BuildKind; 3] = [BuildKind::Dev, BuildKind::Release, BuildKind::Sanitized];

const MARK: &str = "\n//@ ";

/// The cases of every file of the corpus, a batch each.
///
/// # Errors
/// A word that is not understood.
pub fn corpus() -> Result<Vec<Vec<Case>>, String> {
    CORPUS.iter().map(|text| parse(text)).collect()
}

/// The cases of a file.
///
/// # Errors
/// A word that is not understood.
pub fn parse(text: &str) -> Result<Vec<Case>, String> {
    let text = format!("\n{text}");
    text.split(MARK).skip(1).map(parse_case).collect()
}

fn parse_case(text: &str) -> Result<Case, String> {
    let (head, source) = text.split_once('\n').unwrap_or((text, ""));
    let mut words = head.split_whitespace();
    let kernel = words.next().ok_or("a kernel has no name")?;
    let range = Range { dimensions: 1, offset: [0; 3], global: [1; 3], local: [1; 3] };
    let mut case = Case {
        kernel: kernel.to_string(),
        source: source.to_string(),
        language: Language::OpenClC,
        buffers: Vec::new(),
        args: Vec::new(),
        range,
        prints: false,
    };
    for word in words {
        add(&mut case, word).ok_or_else(|| format!("{kernel}: `{word}` is not understood"))?;
    }
    Ok(case)
}

fn add(case: &mut Case, word: &str) -> Option<()> {
    if word == "cpp" {
        case.language = Language::Cpp;
        return Some(());
    }
    let (key, text) = word.split_once('=')?;
    let numbers: Vec<u64> = text.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let first = *numbers.first()?;
    let length = usize::try_from(first).ok()?;
    let words = 0..u32::try_from(first).ok()?;
    match key {
        "global" => {
            case.range.dimensions = numbers.len();
            fill(&mut case.range.global, &numbers);
        }
        "local" => fill(&mut case.range.local, &numbers),
        "offset" => fill(&mut case.range.offset, &numbers),
        "zeros" => add_buffer(case, vec![0; length]),
        "numbers" => add_buffer(case, words.collect()),
        // Knuth's multiplicative hash.
        "random" => add_buffer(case, words.map(|word| word.wrapping_mul(2_654_435_761) >> 7).collect()),
        "same" => case.args.push(CaseArg::Buffer(length)),
        "scratch" => case.args.push(CaseArg::Local(length)),
        "value" => {
            let words = numbers.iter().map(|number| u32::try_from(*number).ok());
            case.args.push(CaseArg::Value(words.collect::<Option<_>>()?));
        }
        _ => return None,
    }
    Some(())
}

fn fill(sizes: &mut [u64; 3], numbers: &[u64]) {
    for (size, number) in sizes.iter_mut().zip(numbers) {
        *size = *number;
    }
}

fn add_buffer(case: &mut Case, words: Vec<u32>) {
    case.buffers.push(words);
    case.args.push(CaseArg::Buffer(case.buffers.len().saturating_sub(1)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_a_kernel_is_launched() {
        let text = "// Anything.\n//@ k global=8.4 local=4.2 zeros=2 same=0 value=7.8 scratch=16\nkernel void k() {}\n";
        let cases = parse(text).unwrap();
        let [case] = cases.as_slice() else { panic!("{cases:?}") };
        assert_eq!((case.kernel.as_str(), case.source.as_str()), ("k", "kernel void k() {}\n"));
        assert_eq!((case.range.dimensions, case.range.global, case.range.local), (2, [8, 4, 1], [4, 2, 1]));
        assert_eq!(case.buffers, [vec![0, 0]]);
        let value = CaseArg::Value(vec![7, 8]);
        assert_eq!(case.args, [CaseArg::Buffer(0), CaseArg::Buffer(0), value, CaseArg::Local(16)]);
        assert!(parse("//@ k global=x\n").is_err());
    }
}
