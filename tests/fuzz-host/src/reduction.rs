//! Reduction of programs that a build gets wrong, as long as the build gets them wrong in the same way.

use std::fs;
use std::mem::discriminant;
use std::path::Path;
use std::time::{Duration, Instant};

use offload_tests::error::{Error, Result};

use crate::builds::{BuildKind, level_of_name};
use crate::case::{Case, Language};
use crate::check::check;
use crate::compare::Mismatch;
use crate::harness::Harness;
use crate::hunt::{HuntOutcome, program};
use crate::program::{Program, simplifications};

/// Variants that are tried at once, as one module.
const BATCH: usize = 16;
/// One program is reduced for so long.
const LIMIT: Duration = Duration::from_secs(300);
/// Of one run so many programs are reduced.
const MOST_PROGRAMS: usize = 3;

/// Writes each program of `outcome` that is wrong into `folder`, and reduces the first ones.
///
/// # Errors
/// A tool does not start, or a file cannot be written.
pub fn keep_all(harness: &Harness, seed: u64, outcome: &HuntOutcome, folder: &Path) -> Result<()> {
    let mut kept: Vec<usize> = Vec::new();
    for mismatch in outcome.report.faults() {
        if kept.contains(&mismatch.case) {
            continue;
        }
        kept.push(mismatch.case);
        let number = u64::try_from(mismatch.case).unwrap_or(u64::MAX);
        let whole = program(seed, number);
        write(folder, &format!("{seed}-{number}"), &whole, mismatch)?;
        if kept.len() <= MOST_PROGRAMS {
            reduce_and_write(harness, seed, whole, mismatch, folder)?;
        }
    }
    Ok(())
}

/// Checks the program with this number in every build, and reduces it if it is wrong.
///
/// # Errors
/// It is right, or a tool does not start.
pub fn reduce_number(harness: &Harness, seed: u64, number: u64, folder: &Path) -> Result<()> {
    let whole = program(seed, number);
    let report = check(harness, &[whole.to_case()], &BuildKind::ALL)?;
    report.print();
    let Some(mismatch) = report.faults().next() else {
        return Err(Error::new(format!("every build gets program {number} of seed {seed} right")));
    };
    write(folder, &format!("{seed}-{number}"), &whole, mismatch)?;
    reduce_and_write(harness, seed, whole, mismatch, folder)
}

fn reduce_and_write(
    harness: &Harness,
    seed: u64,
    whole: Program,
    mismatch: &Mismatch,
    folder: &Path,
) -> Result<()> {
    let number = whole.number;
    let reduced = reduce(harness, whole, mismatch)?;
    let path = write(folder, &format!("{seed}-{number}.reduced"), &reduced, mismatch)?;
    println!("reduced: {path}");
    Ok(())
}

/// The simplest variant that is found of a program that is wrong as `mismatch` says.
///
/// # Errors
/// A tool does not start, or a file cannot be written.
pub fn reduce(harness: &Harness, whole: Program, mismatch: &Mismatch) -> Result<Program> {
    let start = Instant::now();
    let Some(build) = BuildKind::from_name(&mismatch.build) else { return Ok(whole) };
    let harness = &harness.with_levels(level_of_name(&mismatch.build));
    let mut best = whole;
    while start.elapsed() < LIMIT {
        let Some(simpler) = simpler(harness, &best, build, mismatch, start)? else { break };
        eprintln!("reduced to {} lines", simpler.to_case().source.lines().count());
        best = simpler;
    }
    Ok(best)
}

/// The first variant of one step that is still wrong.
fn simpler(
    harness: &Harness,
    program: &Program,
    build: BuildKind,
    mismatch: &Mismatch,
    start: Instant,
) -> Result<Option<Program>> {
    let variants = simplifications(program);
    for part in variants.chunks(BATCH) {
        if start.elapsed() >= LIMIT {
            break;
        }
        let report = check(harness, &cases(part), &[build])?;
        let mut wrong: Vec<usize> = Vec::new();
        for found in report.faults() {
            if discriminant(&found.kind) == discriminant(&mismatch.kind) {
                wrong.push(found.case);
            }
        }
        wrong.sort_unstable();
        if let Some(variant) = wrong.first().and_then(|index| part.get(*index)) {
            return Ok(Some(Program { number: program.number, ..variant.clone() }));
        }
    }
    Ok(None)
}

/// The cases of variants, with names of their own.
fn cases(variants: &[Program]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (number, variant) in variants.iter().enumerate() {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        cases.push(Program { number, ..variant.clone() }.to_case());
    }
    cases
}

fn write(folder: &Path, name: &str, program: &Program, mismatch: &Mismatch) -> Result<String> {
    fs::create_dir_all(folder)?;
    let extension = match program.language {
        Language::OpenClC => "cl",
        Language::Cpp => "cpp",
    };
    let case = program.to_case();
    let path = folder.join(format!("{name}.{extension}"));
    let text = format!("// {mismatch}\n// {:?}\n{}", case.range, case.source);
    fs::write(&path, text)?;
    Ok(path.display().to_string())
}
