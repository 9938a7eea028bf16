//! Parser for the results of the runtime: a line `case` for each case, a line `run` for each of its runs with lines `buffer`
//! and `line`, and the exit status.

use super::Verdict;
use crate::compare::{Run, differs};

/// The verdict of every case that was begun.
pub(super) fn read(text: &str) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for case in text.split("case\n").skip(1) {
        verdicts.push(verdict(case));
    }
    verdicts
}

fn verdict(text: &str) -> Verdict {
    let mut runs: Vec<Run> = Vec::new();
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, runs.last_mut()) {
            ("run", _) => runs.push(Run::default()),
            ("buffer", Some(run)) => run.buffers.push(words(rest)),
            ("line", Some(run)) => run.lines.push(rest.to_string()),
            ("invalid", _) => return Verdict::Invalid(rest.to_string()),
            ("failed", _) => return Verdict::Failed(rest.to_string()),
            ("done", _) => return of_runs(runs),
            _ => return Verdict::Failed(format!("the executor wrote `{line}`")),
        }
    }
    Verdict::Failed("the executor ended with it".into())
}

fn of_runs(mut runs: Vec<Run>) -> Verdict {
    let Some(first) = runs.pop() else {
        return Verdict::Failed("the executor ran it in no order".into());
    };
    if runs.iter().any(|other| differs(&first, other).is_some()) {
        return Verdict::Racy;
    }
    Verdict::Valid(first)
}

fn words(text: &str) -> Vec<u32> {
    text.split_whitespace().map(|word| u32::from_str_radix(word, 16).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read() {
        let text = "case\nrun\nbuffer 1 ff\nline 0: x\nrun\nbuffer 1 ff\nline 0: x\ndone \ncase\nrun\nbuffer 1\n\
                    run\nbuffer 2\ndone \ncase\ninvalid why not\ncase\nrun\nfailed signal 11\ncase\n";
        let verdicts = read(text);
        let run = Run { buffers: vec![vec![1, 255]], lines: vec!["0: x".into()] };
        assert_eq!(verdicts.len(), 5);
        assert_eq!(verdicts[0], Verdict::Valid(run));
        assert_eq!(verdicts[1], Verdict::Racy);
        assert_eq!(verdicts[2], Verdict::Invalid("why not".into()));
        assert_eq!(verdicts[3], Verdict::Failed("signal 11".into()));
        assert!(matches!(verdicts[4], Verdict::Failed(_)));
    }
}
