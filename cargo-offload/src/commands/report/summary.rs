//! Summary of the kernels of a build in one sentence.

use std::fmt;

use serde::Serialize;

use super::baseline::{Change, Finding};
use super::row::Row;
use crate::print::text::counted;

/// The kernels of a build, and what of them is other than in the baseline.
#[derive(Clone, Copy, Debug)]
pub(super) struct BaselineComparison<'a> {
    pub(super) rows: &'a [Row],
    pub(super) findings: &'a [Finding],
}

/// Counts of kernels.
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

impl BaselineComparison<'_> {
    pub(super) fn summary(&self) -> Summary {
        let BaselineComparison { rows, findings } = self;
        let count =
            |verdict: Change| findings.iter().filter(|finding| finding.verdict == verdict).count() as u64;
        Summary {
            reason: "summary",
            kernels: rows.len() as u64,
            spilling: rows.iter().filter(|row| row.spills()).count() as u64,
            unknown: rows.iter().filter(|row| row.spilled.is_none()).count() as u64,
            worse: count(Change::Worse),
            better: count(Change::Better),
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
