//! Outcome of one batch of cases, and the sum over several.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use offload_tests::workspace::seconds;

use crate::builds::BuildKind;
use crate::compare::{Mismatch, MismatchKind};
use crate::executor::Verdict;

/// What was found out about a batch. Cases are named by their index in it.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of cases.
    pub cases: usize,
    /// The number of those that were compared.
    pub valid: usize,
    /// The number of runs of a build that were compared with the executor's.
    pub comparisons: usize,
    /// Cases with a race, which were left out.
    pub racy: Vec<usize>,
    /// Cases that break a rule or do not compile: faults of the generator.
    pub invalid: Vec<(usize, String)>,
    /// Cases for which the executor found no result.
    pub failed: Vec<(usize, String)>,
    /// What builds get wrong.
    pub mismatches: Vec<Mismatch>,
    /// How long each stage took.
    pub times: BTreeMap<String, Duration>,
}

impl Report {
    pub(crate) fn new(cases: usize) -> Report {
        Report { cases, ..Report::default() }
    }

    /// What the work-group compiler gets wrong.
    pub fn faults(&self) -> impl Iterator<Item = &Mismatch> {
        self.mismatches.iter().filter(|mismatch| mismatch.is_ours())
    }

    /// Whether nothing is wrong with the work-group compiler, the generator or the executor.
    pub fn is_clean(&self) -> bool {
        self.invalid.is_empty() && self.failed.is_empty() && self.faults().next().is_none()
    }

    /// Adds the report of another batch.
    pub fn append(&mut self, other: Report) {
        self.cases += other.cases;
        self.valid += other.valid;
        self.comparisons += other.comparisons;
        self.racy.extend(other.racy);
        self.invalid.extend(other.invalid);
        self.failed.extend(other.failed);
        self.mismatches.extend(other.mismatches);
        for (stage, time) in other.times {
            self.add_time(&stage, time);
        }
    }

    /// The same with other names of the cases: each index is `first` more.
    #[must_use]
    pub fn shifted(mut self, first: usize) -> Report {
        for case in &mut self.racy {
            *case += first;
        }
        for (case, _) in self.invalid.iter_mut().chain(&mut self.failed) {
            *case += first;
        }
        for mismatch in &mut self.mismatches {
            mismatch.case += first;
        }
        self
    }

    /// Shows it to a person.
    pub fn print(&self) {
        println!(
            "{} cases: {} compared, {} racy, {} invalid, {} without a result",
            self.cases,
            self.valid,
            self.racy.len(),
            self.invalid.len(),
            self.failed.len()
        );
        for (case, text) in &self.invalid {
            println!("case {case}: invalid: {text}");
        }
        for (case, text) in &self.failed {
            println!("case {case}: the executor failed: {text}");
        }
        for mismatch in &self.mismatches {
            println!("{mismatch}");
        }
        for (stage, time) in &self.times {
            println!("{stage}: {}", seconds(*time));
        }
    }

    pub(crate) fn add_time(&mut self, stage: &str, time: Duration) {
        *self.times.entry(stage.to_string()).or_default() += time;
    }

    /// Counts what the executor says.
    pub(crate) fn judge(&mut self, verdicts: &[Verdict]) {
        for (case, verdict) in verdicts.iter().enumerate() {
            match verdict {
                Verdict::Valid(_) => self.valid += 1,
                Verdict::Racy => self.racy.push(case),
                Verdict::Invalid(text) => self.invalid.push((case, text.clone())),
                Verdict::Failed(text) => self.failed.push((case, text.clone())),
            }
        }
    }

    /// What PoCL alone gets wrong is none of our faults.
    pub(crate) fn blame_pocl(&mut self) {
        let pocl = BuildKind::Pocl.name();
        let mut ours = BTreeSet::new();
        for mismatch in self.mismatches.iter().filter(|mismatch| mismatch.build != pocl) {
            ours.insert(mismatch.case);
        }
        for mismatch in &mut self.mismatches {
            if mismatch.build == pocl && !ours.contains(&mismatch.case) {
                mismatch.kind = MismatchKind::PoclDiffers(Box::new(mismatch.kind.clone()));
            }
        }
    }
}
