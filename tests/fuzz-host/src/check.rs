//! A batch under test: what every build must do is found out first, then each build does it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use offload_tests::error::Result;

use crate::bisection::{Bisection, bisect};
use crate::builds::{self, BuildKind, Package};
use crate::case::Case;
use crate::compare::{Mismatch, MismatchKind, Run, differs};
use crate::executor::Verdict;
use crate::harness::Harness;
use crate::launch::{self, Launch, Outcome};
use crate::report::Report;

/// Runs `cases` in each of `builds`, and compares the results with those of the executor.
///
/// # Errors
/// A tool does not start, or a file cannot be written. What is wrong with cases and builds is in the report.
pub fn check(harness: &Harness, cases: &[Case], builds: &[BuildKind]) -> Result<Report> {
    let folder = harness.batch_folder()?;
    let mut report = Report::new(cases.len());
    let start = Instant::now();
    let verdicts = harness.executor().run(folder.path(), cases)?;
    report.add_time("executor", start.elapsed());
    report.judge(&verdicts);
    let batch = Batch { harness, folder: folder.path(), expected: expected(cases, &verdicts) };
    for kind in builds {
        let start = Instant::now();
        let bisection = batch.compile(*kind)?;
        report.add_time(&format!("compile {}", kind.name()), start.elapsed());
        let start = Instant::now();
        let launches: usize = bisection.groups.iter().map(|(part, _)| part.len()).sum();
        report.comparisons += launches.saturating_mul(kind.targets(harness.levels()).len());
        report.mismatches.extend(batch.launch(*kind, bisection)?);
        report.add_time(&format!("launch {}", kind.name()), start.elapsed());
    }
    report.blame_pocl();
    Ok(report)
}

/// The valid cases of a batch.
struct Batch<'a> {
    harness: &'a Harness,
    folder: &'a Path,
    expected: Vec<Expected<'a>>,
}

/// A case with what it must do.
struct Expected<'a> {
    /// Its index among all cases.
    index: usize,
    case: &'a Case,
    run: &'a Run,
}

fn expected<'a>(cases: &'a [Case], verdicts: &'a [Verdict]) -> Vec<Expected<'a>> {
    let mut expected = Vec::new();
    for (index, (case, verdict)) in cases.iter().zip(verdicts).enumerate() {
        if let Verdict::Valid(run) = verdict {
            expected.push(Expected { index, case, run });
        }
    }
    expected
}

impl<'a> Batch<'a> {
    /// Compiles what a build takes, as one module if that is possible.
    fn compile(&self, kind: BuildKind) -> Result<Bisection<PathBuf>> {
        let cache = self.folder.join("cache");
        let mut taken = Vec::new();
        for (at, expected) in self.expected.iter().enumerate() {
            if kind.takes(expected.case.language) {
                taken.push(at);
            }
        }
        let mut attempts = 0;
        bisect(&taken, &mut |part| {
            attempts += 1;
            let folder = self.folder.join(format!("{}-{attempts}", kind.name()));
            fs::create_dir(&folder)?;
            let package = Package { folder: &folder, cache: &cache };
            builds::compile(self.harness, package, kind, &self.cases(part))
        })
    }

    /// Launches every image of a build, and compares.
    fn launch(&self, kind: BuildKind, bisection: Bisection<PathBuf>) -> Result<Vec<Mismatch>> {
        let mut mismatches = Vec::new();
        for (at, text) in bisection.refused {
            mismatches.extend(self.mismatch(at, kind.name(), MismatchKind::Compile(text)));
        }
        let targets = kind.targets(self.harness.levels());
        for (number, (part, pack)) in bisection.groups.iter().enumerate() {
            for target in targets {
                let folder = self.folder.join(format!("{}-launch-{number}-{target}", kind.name()));
                fs::create_dir(&folder)?;
                let launch = Launch { kind, pack, target };
                let outcomes = launch::launch_all(self.harness, &folder, launch, &self.cases(part))?;
                let build = match kind {
                    BuildKind::Release => format!("{} {target}", kind.name()),
                    _ => kind.name().to_string(),
                };
                for (at, outcome) in part.iter().zip(outcomes) {
                    let found = self.compare(*at, kind, outcome);
                    mismatches.extend(found.and_then(|found| self.mismatch(*at, &build, found)));
                }
            }
        }
        Ok(mismatches)
    }

    fn compare(&self, at: usize, kind: BuildKind, outcome: Outcome) -> Option<MismatchKind> {
        match outcome {
            Outcome::Done(run) => differs(self.expected.get(at)?.run, &run),
            Outcome::Failed(MismatchKind::Refused(text)) if kind == BuildKind::Sanitized => {
                Some(MismatchKind::Alarm(text))
            }
            Outcome::Failed(failed) => Some(failed),
        }
    }

    fn mismatch(&self, at: usize, build: &str, kind: MismatchKind) -> Option<Mismatch> {
        let case = self.expected.get(at)?.index;
        Some(Mismatch { case, build: build.to_string(), kind })
    }

    fn cases(&self, part: &[usize]) -> Vec<&'a Case> {
        part.iter().filter_map(|at| self.expected.get(*at)).map(|expected| expected.case).collect()
    }
}
