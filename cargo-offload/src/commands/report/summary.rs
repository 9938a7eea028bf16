//! The kernels of a build in one sentence.

use std::fmt;

use serde::Serialize;

use super::baseline::{Finding, Verdict};
use super::row::Row;
use crate::print::text::counted;

/// The kernels of a build, and what of them is other than in the baseline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged<'a> {
    pub(super) rows: &'a [Row],
    pub(super) findings: &'a [Finding],
}

/// How many there are.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    reason: &'static str,
    kernels: u64,
    spilling: u64,
    /// Kernels of images that do not tell.
    unknown: u64,
    worse: u64,
    better: u64,
}

impl Judged<'_> {
    pub(super) fn summary(&self) -> Summary {
        let Judged { rows, findings } = self;
        let count =
            |verdict: Verdict| findings.iter().filter(|finding| finding.verdict == verdict).count() as u64;
        Summary {
            reason: "summary",
            kernels: rows.len() as u64,
            spilling: rows.iter().filter(|row| row.spills()).count() as u64,
            unknown: rows.iter().filter(|row| row.spilled.is_none()).count() as u64,
            worse: count(Verdict::Worse),
            better: count(Verdict::Better),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { kernels, spilling, unknown, worse, better, .. } = *self;
        write!(f, "{}: {spilling} spill, {unknown} unknown", counted(kernels, "kernel"))?;
        if worse > 0 || better > 0 {
            write!(f, "; {worse} numbers are worse than the baseline, {better} better")?;
            f.write_str("\nhint: `--update-baseline` accepts the numbers as they are")?;
        }
        Ok(())
    }
}
