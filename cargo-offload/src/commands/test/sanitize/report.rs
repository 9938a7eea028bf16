//! Reports of sanitizers, in the wording of failed launches on `host`.

use std::collections::BTreeSet;
use std::fmt;

use crate::commands::test::outcome::{Outcome, TestResult};
use crate::commands::test::process::TestRun;

/// A mistake of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) kernel: String,
    pub(super) line: Option<Line>,
    pub(super) kind: DefectKind,
    /// Description, which starts with the work-item.
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
pub(super) enum DefectKind {
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
        let mut position = [0; 3];
        let mut numbers = inner.split(',');
        for number in &mut position {
            *number = numbers.next().and_then(|text| text.trim().parse().ok()).ok_or(())?;
        }
        Ok(Position(position))
    }
}

/// The first report of each mistake.
pub(super) fn each_once(reports: Vec<Report>) -> Vec<Report> {
    let mut known = BTreeSet::new();
    let mut unique = Vec::new();
    for report in reports {
        let mut line = report.line.clone();
        let mut kind = report.kind.clone();
        // A race is the same in both orders of its accesses.
        if let DefectKind::Race(other) = &mut kind
            && *other > line
        {
            std::mem::swap(other, &mut line);
        }
        if known.insert((report.kernel.clone(), line, kind)) {
            unique.push(report);
        }
    }
    unique
}

/// Adds the reports of a sanitizer to a test run. The table shows the first line, and the text below it all of them.
pub(super) fn add_reports(done: TestRun, reports: &[Report]) -> TestRun {
    let output = match reports {
        [] => done.output,
        _ => format!("{}\n{}", describe(reports), done.output),
    };
    TestRun { end: apply_reports(done.end, reports), output, ..done }
}

/// A mistake is a failure, whatever the test says of its results.
fn apply_reports(end: TestResult, reports: &[Report]) -> TestResult {
    match (reports, end.outcome) {
        ([], _) => end,
        // That it did not come to its end stays what is worst.
        (_, Outcome::Crashed | Outcome::Hung) => TestResult {
            problem: Some([describe(reports), end.problem.unwrap_or_default()].join("\n")),
            ..end
        },
        _ => TestResult::because(Outcome::Failed, describe(reports)),
    }
}

/// As the error of a launch on `host`: the kernel, and a line for each mistake.
fn describe(reports: &[Report]) -> String {
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

    fn report(kernel: &str, line: u32, kind: DefectKind) -> Report {
        let line = Some(Line { file: "./a.cl".into(), line });
        Report { kernel: kernel.into(), line, kind, text: "work-item 1 of group 0 does it".into() }
    }

    fn race_with(line: u32) -> DefectKind {
        DefectKind::Race(Some(Line { file: "./a.cl".into(), line }))
    }

    #[test]
    fn each_mistake_is_told_once() {
        let reports = each_once(vec![
            report("k", 3, DefectKind::Outside),
            report("k", 3, DefectKind::Outside),
            report("k", 3, DefectKind::Unwritten),
            report("l", 3, race_with(4)),
            report("l", 4, race_with(3)),
        ]);
        assert_eq!(reports.len(), 3);
        let end = apply_reports(TestResult::new(Outcome::Right), &reports);
        assert_eq!(end.outcome, Outcome::Failed);
        assert_eq!(
            end.problem.unwrap(),
            "kernel `k`: a.cl:3: work-item 1 of group 0 does it\na.cl:3: work-item 1 of group 0 does it\n\
             kernel `l`: a.cl:3: work-item 1 of group 0 does it"
        );
    }

    #[test]
    fn a_crash_stays_one() {
        let end = apply_reports(
            TestResult::because(Outcome::Crashed, "by a signal"),
            &[report("k", 3, DefectKind::Outside)],
        );
        assert_eq!(end.outcome, Outcome::Crashed);
        assert!(end.problem.unwrap().ends_with("does it\nby a signal"));
        assert_eq!(apply_reports(TestResult::new(Outcome::Right), &[]).outcome, Outcome::Right);
    }

    fn shown(text: &str) -> Option<String> {
        text.parse::<Position>().ok().map(|position| position.to_string())
    }

    #[test]
    fn positions_are_read_and_shown() {
        assert_eq!(shown("(63,0,0)").unwrap(), "63");
        assert_eq!(shown("(0, 7, 0)").unwrap(), "(0, 7)");
        assert_eq!(shown("(0,0,2)").unwrap(), "(0, 0, 2)");
        assert!(shown("63").is_none() && shown("(1,2)").is_none());
    }
}
