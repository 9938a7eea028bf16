//! `bench start`: what images cost a program before it uses them, and how long the first result takes.

mod programs;
mod row;
mod sample;

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use self::programs::Programs;
use self::row::{Row, Want};
use self::sample::{Cache, Choice, Start};
use crate::median;
use offload_tests::binary;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Plan {
    images: u64,
    runs: usize,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Table,
    Json,
}

pub(super) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let plan = Plan::parse(args)?;
    setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::DRIVERS])?;
    let programs = Programs::build(workspace, plan.images)?;
    let mut rows = costs(workspace, &programs, plan)?;
    rows.extend(choices(&programs, plan)?);
    rows.extend(first_results(&programs, plan)?);
    match plan.format {
        Format::Table => row::print(&rows),
        Format::Json => println!(
            "{:#}",
            json!({ "images": plan.images, "rows": rows.iter().map(Row::json).collect::<Vec<_>>() })
        ),
    }
    let missed: Vec<&str> = rows.iter().filter(|row| !row.is_met()).map(|row| row.what).collect();
    match missed.as_slice() {
        [] => Ok(ExitCode::SUCCESS),
        missed => Err(Error::new(format!("limits passed: {}", missed.join("; ")))),
    }
}

impl Plan {
    fn parse(args: &[String]) -> Result<Plan> {
        let mut plan = Plan { images: 5000, runs: 101, format: Format::Table };
        for arg in args {
            match arg.as_str() {
                "--quick" => plan = Plan { images: 500, runs: 21, ..plan },
                "--json" => plan.format = Format::Json,
                _ => return Err(Error::new("`bench start` takes `--quick` and `--json`")),
            }
        }
        Ok(plan)
    }
}

/// What images cost before one is used.
fn costs(workspace: &Workspace, programs: &Programs<'_>, plan: Plan) -> Result<Vec<Row>> {
    let bare = programs.path("bare");
    let many = programs.path("many");
    let mut with = Vec::new();
    let mut without = Vec::new();
    // In turn, so that a busy moment of the machine hits both.
    for _ in 0..plan.runs {
        without.push(Start::measure(&bare)?);
        with.push(Start::measure(&many)?);
    }
    let strange = with.iter().find(|start| start.images != plan.images);
    if let Some(start) = strange {
        return Err(Error::new(format!("{} images were found, not {}", start.images, plan.images)));
    }
    let relocations = relocations(workspace, &many)? - relocations(workspace, &bare)?;
    let written_without = median(without.iter().map(|start| start.written).collect());
    let written = with.iter().map(|start| start.written - written_without).collect();
    Ok(vec![
        Row::new("relocations more than without images", "", vec![relocations], Want::new(0.0, 0.0)),
        Row::new(
            "registry ready",
            "µs",
            with.iter().map(|start| start.ready).collect(),
            Want::new(100.0, 40.0),
        ),
        Row::new(
            "the same without images",
            "µs",
            without.iter().map(|start| start.ready).collect(),
            Want::Nothing,
        ),
        Row::new(
            "first question: the images of one module",
            "µs",
            with.iter().map(|start| start.first).collect(),
            Want::new(600.0, 300.0),
        ),
        Row::new("memory written to, more than without images", "kB", written, Want::new(20.0, 20.0)),
    ])
}

fn relocations(workspace: &Workspace, program: &Path) -> Result<f64> {
    Ok(binary::measure(workspace, program)?.relocations as f64)
}

/// Choosing one of 50 images with 8 kernels each.
fn choices(programs: &Programs<'_>, plan: Plan) -> Result<Vec<Row>> {
    let program = programs.path("choose");
    let choices = (0..plan.runs).map(|_| Choice::measure(&program)).collect::<Result<Vec<_>>>()?;
    let first = choices.iter().map(|choice| choice.first).collect();
    let again = choices.iter().map(|choice| choice.again).collect();
    let index = choices.iter().map(|choice| choice.index).collect();
    Ok(vec![
        Row::new("the first choice: 1 of 50 images with 8 kernels", "µs", first, Want::new(100.0, 50.0)),
        Row::new("a later choice", "µs", again, Want::new(5.0, 5.0)),
        Row::new("the index with their records", "kB", index, Want::Nothing),
    ])
}

/// From the start of a process to the first right result.
fn first_results(programs: &Programs<'_>, plan: Plan) -> Result<Vec<Row>> {
    let first = programs.path("first");
    let ccob = programs.path("ccob");
    let mut native = Vec::new();
    let mut whole = Vec::new();
    let mut cold = Vec::new();
    let mut warm = Vec::new();
    let kept = Cache::new()?;
    sample::first_result(&first, "opencl", &kept)?;
    for _ in 0..plan.runs.div_ceil(5) {
        native.push(sample::first_result(&first, "host", &kept)?);
        whole.push(sample::first_result(&ccob, "host", &kept)?);
        cold.push(sample::first_result(&first, "opencl", &Cache::new()?)?);
        warm.push(sample::first_result(&first, "opencl", &kept)?);
    }
    // Each with the run beside it, so that a busy moment of the machine hits both.
    let share = native.iter().zip(&cold).map(|(native, cold)| 100.0 * native / cold).collect();
    Ok(vec![
        Row::new("first result: native image, 1 of 25 decoded", "ms", native, Want::Nothing),
        Row::new("the same after a bundle of 22 images is decoded", "ms", whole, Want::Nothing),
        Row::new("first result: source, PoCL with an empty cache", "ms", cold, Want::Nothing),
        Row::new("first result: source, PoCL with its cache", "ms", warm, Want::Nothing),
        Row::new("native image, share of PoCL with an empty cache", "%", share, Want::new(5.0, 2.5)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_in_any_order() {
        let plan = Plan::parse(&["--json".into(), "--quick".into()]).unwrap();
        assert_eq!((plan.images, plan.runs, plan.format), (500, 21, Format::Json));
        assert!(Plan::parse(&["--slow".into()]).is_err());
    }
}
