//! `prune`: do programs of every linker run on after their images were removed or moved?

mod programs;
mod treatment;

use std::process::ExitCode;
use std::time::Instant;

use self::programs::Programs;
use self::treatment::TREATMENTS;
use crate::linkers::linker::Linker;
use crate::linkers::linkers;
use offload_tests::error::{Error, Result};
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "prune [--quick]    prune and move the images of linked programs, by each linker

One line a cell: a program and a plugin of one linker in one profile, and what was done to both, in order. Both have
to compute the right results with every image that is left, GNU readelf must have no complaint, and pruning must
shrink the file by at least 90 % of the bytes dropped. --quick takes rust-lld and GNU ld.";

/// Cargo profiles: two of its own and the fixture's with fat LTO and stripping.
const PROFILES: [&str; 3] = ["dev", "release", "lto"];

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let start = Instant::now();
    let linkers = linkers(workspace, args)?;
    let programs = Programs::prepare(workspace)?;
    let mut failures = Vec::new();
    for profile in PROFILES {
        for linker in &linkers {
            failures.extend(cells(&programs, linker, profile)?);
        }
    }
    let cells = linkers.len() * PROFILES.len() * TREATMENTS.len();
    let right = cells - failures.len();
    println!("prune: {right} of {cells} cells right in {}", seconds(start.elapsed()));
    if failures.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::new(failures.join("\n"))) }
}

/// Every treatment of what one linker has made in one profile; returns what went wrong.
fn cells(programs: &Programs<'_>, linker: &Linker, profile: &str) -> Result<Vec<String>> {
    let built = programs.build(linker, profile)?;
    let mut failures = Vec::new();
    for treatment in &TREATMENTS {
        let cell = format!("{} {profile} {}", linker.name, treatment.name());
        match treatment.apply(programs, &built) {
            Ok(notes) => println!("{cell}: ok{notes}"),
            Err(error) => {
                println!("{cell}: FAILED");
                failures.push(format!("{cell}: {error}"));
            }
        }
    }
    Ok(failures)
}
