//! What a watcher has found, in the words in which launches on `host` fail.

use std::collections::BTreeSet;
use std::fmt;

use crate::commands::test::outcome::{End, Outcome};
use crate::commands::test::process::Done;

/// A mistake of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) kernel: String,
    pub(super) line: Option<Line>,
    pub(super) kind: Kind,
    /// What happens there, beginning with who does it.
    pub(super) text: String,
}

/// A line of the source, as `kernels/a.cl:7`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    pub(super) file: String,
    pub(super) line: u32,
}

/// Of which there is one report for each line of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Outside,
    Misaligned,
    /// With the line of the other access.
    Race(Option<Line>),
    Unwritten,
    Barrier,
    /// Something else, in the watcher's words.
    Other(String),
}

/// A position in the grid: a work-item, a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position(pub(super) [u64; 3]);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As clang calls files whose paths begin with the directory of compilation.
        write!(f, "{}:{}", self.file.trim_start_matches("./"), self.line)
    }
}

/// Logs do not say how many dimensions a launch has: zeros at the end are left out.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        match (y, z) {
            (0, 0) => write!(f, "{x}"),
            (_, 0) => write!(f, "({x}, {y})"),
            _ => write!(f, "({x}, {y}, {z})"),
        }
    }
}

/// `(3,0,0)`.
impl std::str::FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> Result<Position, ()> {
        let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')')).ok_or(())?;
        let mut numbers = inner.split(',').map(|number| number.trim().parse::<u64>());
        let mut next = || numbers.next().and_then(Result::ok).ok_or(());
        Ok(Position([next()?, next()?, next()?]))
    }
}

/// The first report of each mistake.
pub(super) fn each_once(reports: Vec<Report>) -> Vec<Report> {
    let mut known = BTreeSet::new();
    let mut is_new = |report: &Report| {
        let (mut line, mut kind) = (report.line.clone(), report.kind.clone());
        // A race is the same whoever comes first.
        if let Kind::Race(other) = &mut kind
            && *other > line
        {
            std::mem::swap(other, &mut line);
        }
        known.insert((report.kernel.clone(), line, kind))
    };
    reports.into_iter().filter(|report| is_new(report)).collect()
}

/// A test of which a watcher has said this. People see all of it below the table, where the table has the first line.
pub(super) fn added(done: Done, reports: &[Report]) -> Done {
    let output = match reports {
        [] => done.output,
        _ => format!("{}\n{}", told(reports), done.output),
    };
    Done { end: judged(done.end, reports), output, ..done }
}

/// A mistake is a failure, whatever the test says of its results.
fn judged(end: End, reports: &[Report]) -> End {
    match (reports, end.outcome) {
        ([], _) => end,
        // That it did not come to its end stays what is worst.
        (_, Outcome::Crashed | Outcome::Hung) => {
            End { problem: Some([told(reports), end.problem.unwrap_or_default()].join("\n")), ..end }
        }
        _ => End::because(Outcome::Failed, told(reports)),
    }
}

/// As the error of a launch on `host`: the kernel, and a line for each mistake.
fn told(reports: &[Report]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut of: Option<&str> = None;
    for Report { kernel, line, text, .. } in reports {
        let start = if of == Some(kernel) { String::new() } else { format!("kernel `{kernel}`: ") };
        let place = line.as_ref().map(|line| format!("{line}: ")).unwrap_or_default();
        lines.push(format!("{start}{place}{text}"));
        of = Some(kernel);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(kernel: &str, line: u32, kind: Kind) -> Report {
        let line = Some(Line { file: "./a.cl".into(), line });
        Report { kernel: kernel.into(), line, kind, text: "work-item 1 of group 0 does it".into() }
    }

    #[test]
    fn each_mistake_is_told_once() {
        let other = |line| Kind::Race(Some(Line { file: "./a.cl".into(), line }));
        let reports = each_once(vec![
            report("k", 3, Kind::Outside),
            report("k", 3, Kind::Outside),
            report("k", 3, Kind::Unwritten),
            report("l", 3, other(4)),
            report("l", 4, other(3)),
        ]);
        assert_eq!(reports.len(), 3);
        let end = judged(End::of(Outcome::Right), &reports);
        assert_eq!(end.outcome, Outcome::Failed);
        assert_eq!(
            end.problem.unwrap(),
            "kernel `k`: a.cl:3: work-item 1 of group 0 does it\na.cl:3: work-item 1 of group 0 does it\n\
             kernel `l`: a.cl:3: work-item 1 of group 0 does it"
        );
    }

    #[test]
    fn a_crash_stays_one() {
        let end = judged(End::because(Outcome::Crashed, "by a signal"), &[report("k", 3, Kind::Outside)]);
        assert_eq!(end.outcome, Outcome::Crashed);
        assert!(end.problem.unwrap().ends_with("does it\nby a signal"));
        assert_eq!(judged(End::of(Outcome::Right), &[]).outcome, Outcome::Right);
    }

    #[test]
    fn positions_are_read_and_shown() {
        let shown = |text: &str| text.parse::<Position>().map(|position| position.to_string());
        assert_eq!(shown("(63,0,0)").unwrap(), "63");
        assert_eq!(shown("(0, 7, 0)").unwrap(), "(0, 7)");
        assert_eq!(shown("(0,0,2)").unwrap(), "(0, 0, 2)");
        assert!(shown("63").is_err() && shown("(1,2)").is_err());
    }
}
