//! A run of the fuzzer: batches of programs on all processors, until a number or a time is reached.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use offload_tests::error::Result;
use offload_tests::workspace::seconds;

use crate::builds::{BuildKind, level_of_turn};
use crate::case::{Case, Language};
use crate::check::check;
use crate::harness::Harness;
use crate::program::{Program, generate};
use crate::report::Report;

/// Programs of a batch, which are compiled as one module.
const BATCH: u64 = 25;
/// One batch of so many is in C++.
const CPP_BATCHES: u64 = 6;

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// After so many programs.
    Programs(u64),
    /// After so long, when the batches that have begun are done.
    Time(Duration),
}

/// A run.
#[derive(Debug)]
pub struct Hunt<'h> {
    harness: &'h Harness,
    seed: u64,
    bound: Bound,
    /// Whether the run ends with the first program that is wrong.
    stops_at_fault: bool,
    /// Whether PoCL is compared.
    has_pocl: bool,
    start: Instant,
    next: AtomicU64,
    stopped: AtomicBool,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct HuntOutcome {
    /// Cases are named by the number of their program.
    pub report: Report,
    /// Modules that were compiled, for each build.
    pub batches: u64,
    /// How long it took.
    pub time: Duration,
}

impl<'h> Hunt<'h> {
    /// A run over the programs of `seed`.
    pub fn new(harness: &'h Harness, seed: u64, bound: Bound) -> Hunt<'h> {
        Hunt {
            harness,
            seed,
            bound,
            stops_at_fault: false,
            has_pocl: true,
            start: Instant::now(),
            next: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// A run that ends with the first fault of the compiler.
    pub fn for_first_fault(harness: &'h Harness, seed: u64, bound: Bound) -> Hunt<'h> {
        Hunt { stops_at_fault: true, ..Hunt::new(harness, seed, bound).without_pocl() }
    }

    /// The same run, with a build of this project wherever PoCL is compared.
    #[must_use]
    pub fn without_pocl(self) -> Hunt<'h> {
        Hunt { has_pocl: false, ..self }
    }

    /// Runs it.
    ///
    /// # Errors
    /// A tool does not start, or a file cannot be written.
    pub fn run(&self) -> Result<HuntOutcome> {
        let outcome = Mutex::new(HuntOutcome::default());
        let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for _ in 0..workers {
                threads.push(scope.spawn(|| self.work(&outcome)));
            }
            for thread in threads {
                match thread.join() {
                    Ok(result) => result?,
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok::<(), offload_tests::error::Error>(())
        })?;
        let mut outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.time = self.start.elapsed();
        Ok(outcome)
    }

    /// Takes batches until there are no more.
    fn work(&self, outcome: &Mutex<HuntOutcome>) -> Result<()> {
        while let Some(batch) = self.take_batch() {
            let first = usize::try_from(batch.saturating_mul(BATCH)).unwrap_or(usize::MAX);
            let harness = self.harness.with_levels(level_of_turn(batch));
            let report = check(&harness, &self.cases(batch), &self.builds(batch))?.shifted(first);
            let has_fault = report.faults().next().is_some();
            let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.report.append(report);
            outcome.batches = outcome.batches.saturating_add(1);
            eprintln!("{}", outcome.progress(self.start.elapsed()));
            if has_fault && self.stops_at_fault {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn take_batch(&self) -> Option<u64> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let batch = self.next.fetch_add(1, Ordering::Relaxed);
        let is_over = match self.bound {
            Bound::Programs(count) => batch.saturating_mul(BATCH) >= count,
            Bound::Time(time) => self.start.elapsed() >= time,
        };
        (!is_over).then_some(batch)
    }

    fn cases(&self, batch: u64) -> Vec<Case> {
        let first = batch.saturating_mul(BATCH);
        let programs = first..first.saturating_add(BATCH);
        programs.map(|number| program(self.seed, number).to_case()).collect()
    }

    /// The release build, whose level changes with each batch, and another one, which changes with each batch, too: all
    /// of them together take four times as long.
    fn builds(&self, batch: u64) -> Vec<BuildKind> {
        let turn = batch.saturating_add(batch / 4);
        let other = match turn % 4 {
            0 | 2 => BuildKind::Dev,
            3 if self.has_pocl => BuildKind::Pocl,
            _ => BuildKind::Sanitized,
        };
        vec![BuildKind::Release, other]
    }
}

/// The program with this number, in the language of its batch.
pub fn program(seed: u64, number: u64) -> Program {
    let batch = number.checked_div(BATCH).unwrap_or(0);
    let language = match batch.checked_rem(CPP_BATCHES) {
        Some(1) => Language::Cpp,
        _ => Language::OpenClC,
    };
    generate(seed, number, language)
}

impl HuntOutcome {
    /// Counts and the time.
    pub fn summary(&self) -> String {
        let report = &self.report;
        format!(
            "fuzz-host: {} programs in {} modules, {} valid, {} racy, {} comparisons, {} mismatches, {} of PoCL alone, in {}",
            report.cases,
            self.batches,
            report.valid,
            report.racy.len(),
            report.comparisons,
            report.faults().count(),
            report.mismatches.len().saturating_sub(report.faults().count()),
            seconds(self.time)
        )
    }

    fn progress(&self, time: Duration) -> String {
        format!(
            "{} programs, {} comparisons, {} mismatches, {}",
            self.report.cases,
            self.report.comparisons,
            self.report.faults().count(),
            seconds(time)
        )
    }
}
