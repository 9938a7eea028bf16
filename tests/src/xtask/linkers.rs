//! `linkers`: are the images in the program with every linker, in every profile?

mod cell;
mod fixture;
mod large;
pub(crate) mod linker;

use std::process::ExitCode;
use std::time::Instant;

use self::cell::Outcome;
use self::fixture::Fixture;
use self::linker::Linker;
use offload_tests::FIGURE;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::{Workspace, seconds};

pub(crate) const HELP: &str = "linkers [--quick|--small|--large]  link a program with images by each linker in each profile

One line a cell: the linker that really ran, the images found of those of a mentioned crate and a transitive one,
those of a plugin, what a control finds that links the same archives plainly (it must be 0), relocations and
constructors beyond those of the same program without images (both must be 0). Then a program with 3 GiB of images: it has to
run in 64 MiB, with rust-lld and GNU ld; that takes 12 GiB of disk. --quick takes rust-lld and GNU ld, and leaves the large one
out; --small leaves it out alone; --large links nothing else.";

/// Cargo profiles: two of its own and the fixture's with fat LTO and stripping.
const PROFILES: [&str; 3] = ["dev", "release", "lto"];

const HEADER: [&str; 10] =
    ["linker", "profile", "seen", "images", "plugin", "inside", "control", "relocs", "init_array", "result"];

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let start = Instant::now();
    if args.iter().any(|arg| arg == "--large") {
        return verdict(&large::run(workspace, &linker::always_there(workspace)?)?);
    }
    let (args, with_large) = match args {
        [small] if small == "--small" => (&[][..], false),
        args => (args, args.is_empty()),
    };
    let linkers = linkers(workspace, args)?;
    let fixture = Fixture::prepare(workspace)?;
    let mut rows = vec![HEADER.map(str::to_string)];
    let mut right = 0;
    let mut failures = Vec::new();
    // Profile by profile: cells of one profile share all their dependencies.
    for profile in PROFILES {
        for linker in &linkers {
            let (row, failure) = cell_row(&fixture, linker, profile);
            right += usize::from(failure.is_none());
            eprintln!("{}", row.join(" "));
            rows.push(row);
            failures.extend(failure);
        }
    }
    print!("{}", table(&rows));
    let cells = linkers.len() * PROFILES.len();
    println!("linkers: {right} of {cells} cells right in {}", seconds(start.elapsed()));
    println!("{FIGURE}{cells} pairs of linker and profile; {right} right");
    if with_large {
        failures.extend(large::run(workspace, &linker::always_there(workspace)?)?);
    }
    verdict(&failures)
}

fn verdict(failures: &[String]) -> Result<ExitCode> {
    match failures {
        [] => Ok(ExitCode::SUCCESS),
        failures => Err(Error::new(failures.join("\n"))),
    }
}

/// The linkers that the arguments of a task ask for.
pub(crate) fn linkers(workspace: &Workspace, args: &[String]) -> Result<Vec<Linker>> {
    match args {
        [] => {
            setup::ensure(workspace, &[setup::BUILD, setup::LINKERS])?;
            linker::installed(workspace)
        }
        [quick] if quick == "--quick" => {
            setup::ensure(workspace, &[setup::BUILD])?;
            linker::always_there(workspace)
        }
        _ => Err(Error::new("this task takes no argument but `--quick`")),
    }
}

/// The cell's line, and what is wrong with it.
fn cell_row(fixture: &Fixture<'_>, linker: &Linker, profile: &str) -> ([String; 10], Option<String>) {
    let name = format!("{} {profile}", linker.name);
    match cell::run(fixture, linker, profile) {
        Ok(outcome) => {
            let failure = outcome.failure(linker).map(|what| format!("{name}: {what}"));
            (row(linker, profile, &outcome, failure.is_none()), failure)
        }
        Err(error) => {
            let mut row = [const { String::new() }; 10];
            let filled = [linker.name, profile].into_iter().chain(["-"; 7]).chain(["FAILED"]);
            row.iter_mut().zip(filled).for_each(|(cell, text)| *cell = text.to_string());
            (row, Some(format!("{name}: {error}")))
        }
    }
}

fn row(linker: &Linker, profile: &str, outcome: &Outcome, right: bool) -> [String; 10] {
    let result = if right { "ok" } else { "FAILED" };
    [
        linker.name.to_string(),
        profile.to_string(),
        outcome.seen.clone(),
        outcome.app.images.clone(),
        outcome.app.plugin.clone(),
        outcome.app.inside.clone(),
        outcome.control.images.clone(),
        format!("{:+}", outcome.relocations),
        format!("{:+}", outcome.constructors),
        result.to_string(),
    ]
}

/// Columns as wide as their widest cell.
fn table(rows: &[[String; 10]]) -> String {
    let mut widths = [0; 10];
    for row in rows {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = cell.chars().count().max(*width));
    }
    let mut table = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        table.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        table.push('\n');
    }
    table
}
