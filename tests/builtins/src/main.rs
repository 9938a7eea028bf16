//! `builtins`: every built-in function of OpenCL C 1.2, and the atomic functions of later versions, on every kind of
//! target, with its errors where it can run.

mod atomic;
mod case;
mod cases;
mod element;
mod fixture;
mod kernel;
mod known;
mod readback;
mod report;
mod results;
mod signature;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use self::case::Case;
use self::cases::Widths;
use self::fixture::{Built, Fixture};
use self::results::{ResultSource, Results};
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::{self, Workspace, seconds};

/// One of each kind; two of Intel's, because one has no 64-bit floating point.
const TARGETS: [&str; 7] =
    ["host", "spirv64", "intel:pvc", "intel:acm-g10", "nvptx:sm_80", "cubin:sm_90", "amdgcn:gfx90a"];

/// What became of all cases on one target.
#[derive(Debug)]
pub(crate) struct Column {
    target: String,
    /// The error of each case that does not compile, by kernel.
    errors: BTreeMap<String, String>,
    /// What an independent reader holds against an image.
    findings: Vec<String>,
    results: Vec<Results>,
    program: PathBuf,
    took: String,
}

fn main() -> ExitCode {
    workspace::run_task(run)
}

/// What the arguments ask for.
struct Arguments<'a> {
    source: ResultSource,
    /// A text in the name of each built-in to compile.
    only: Option<&'a str>,
    targets: Vec<&'a str>,
}

impl Arguments<'_> {
    fn parse(args: &[String]) -> Arguments<'_> {
        let mut arguments = Arguments { source: ResultSource::Devices, only: None, targets: Vec::new() };
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "--measured" => arguments.source = ResultSource::Files,
                "--only" => arguments.only = args.next(),
                target => arguments.targets.push(target),
            }
        }
        arguments
    }

    /// All cases of the table, or some.
    fn cases(&self, widths: Widths) -> Result<Vec<Case>> {
        let mut cases = cases::all(widths)?;
        if let Some(text) = self.only {
            cases.retain(|case| case.built_in.contains(text));
        }
        Ok(cases)
    }

    /// Whether the run is of everything that the table has.
    fn is_complete(&self) -> bool {
        self.only.is_none() && self.targets.is_empty()
    }
}

fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let arguments = Arguments::parse(args);
    setup::ensure(workspace, &[setup::BUILD, setup::DRIVERS])?;
    let cases = arguments.cases(Widths::All)?;
    let fewer = arguments.cases(Widths::Few)?;
    if cases.is_empty() {
        return Err(Error::new("no built-in has this name"));
    }
    let names = if arguments.only.is_some() { ["part", "part-few"] } else { ["all", "some"] };
    let fixture = Fixture::prepare(workspace, (names[0], &cases))?;
    let intel = Fixture::prepare(workspace, (names[1], &fewer))?;
    let targets = if arguments.targets.is_empty() { &TARGETS[..] } else { &arguments.targets };
    let mut columns = Vec::new();
    for target in targets {
        let fixture = if target.starts_with("intel:") { &intel } else { &fixture };
        columns.push(column(fixture, &cases, (target, arguments.source))?);
    }
    if arguments.is_complete() {
        report::write(workspace, &cases, &columns)?;
    }
    if arguments.only.is_some() {
        print!("{}", report::part(&cases, &columns));
    }
    let failures = report::failures(&cases, &columns);
    print!("{}", report::summary(&cases, &columns));
    if failures.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::new(failures.join("\n"))) }
}

fn column(fixture: &Fixture<'_>, cases: &[Case], (target, source): (&str, ResultSource)) -> Result<Column> {
    let start = Instant::now();
    let Built { program, errors } = fixture.build(target)?;
    let findings = readback::check(fixture, &program, target)?;
    eprintln!(
        "{target}: {} of {} kernels in {}",
        cases.len() - errors.len(),
        cases.len(),
        seconds(start.elapsed())
    );
    let mut results = results::measure(fixture, (&program, target), source)?;
    results.extend(results::kept(&fixture.workspace.root.join("docs/builtins"), target)?);
    let took = seconds(start.elapsed());
    Ok(Column { target: target.to_string(), errors, findings, results, program, took })
}
