//! `report`: the ledger of what kernels use of each device.

mod baseline;
mod comparison;
mod html;
mod markdown;
mod matrix;
mod row;

use std::path::Path;

use serde::Serialize;

use self::baseline::{Baseline, Finding, Verdict};
use self::comparison::Measured;
use self::html::Page;
use self::row::Row;
use crate::cargo::artifact;
use crate::cli::{self, ReportFormat};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::files::publish::publish;
use crate::print::output::{Output, Table, counted};
use crate::read::input::{Contents, Input};
use crate::read::missing;
use crate::read::records::{Kernels, Selection};

#[derive(Debug, Serialize)]
struct Written {
    reason: &'static str,
    file: String,
}

#[derive(Debug, Serialize)]
struct Summary {
    reason: &'static str,
    kernels: u64,
    spilling: u64,
    /// Kernels of images that do not tell.
    unknown: u64,
    worse: u64,
    better: u64,
}

pub(super) fn run(output: &Output, args: &cli::Report) -> Result<ExitStatus> {
    if let Some(file) = &args.html {
        html::check(file)?;
    }
    if let Some(file) = args.baseline.as_ref().filter(|_| args.update_baseline) {
        Baseline::check(file)?;
    }
    if !args.matrix.is_empty() {
        return matrix::run(output, args);
    }
    let wanted = Selection::parse(&args.select)?;
    let others = comparison::others(args, &wanted, [comparison::THIS])?;
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let input = Input::open(&path)?;
    let contents = input.contents()?;
    let images = wanted.of(&contents, Kernels::Measured)?;
    let this = Measured::new(comparison::THIS, images);
    let findings = findings(output, args, &this.rows)?;
    let builds: Vec<Measured> = std::iter::once(this).chain(others).collect();
    let Some(Measured { rows, .. }) = builds.first() else { return Ok(ExitStatus::CheckFailed) };
    match builds.len() {
        1 => print(output, args.format, (rows, &findings))?,
        _ => print_beside(output, args.format, (&builds, &findings))?,
    }
    write_page(output, args, &Page { path: &path, builds: &builds, missing: Vec::new() })?;
    missing::tell(output, &contents)?;
    Ok(status(args, (rows, &findings), &contents))
}

/// What is other than in the baseline, which is written first if that is asked for.
fn findings(output: &Output, args: &cli::Report, rows: &[Row]) -> Result<Vec<Finding>> {
    let Some(file) = &args.baseline else { return Ok(Vec::new()) };
    if args.update_baseline {
        publish(file, Baseline::of(rows).to_text()?.as_bytes())?;
        written(output, file)?;
        return Ok(Vec::new());
    }
    if !file.exists() {
        let error = Error::usage(format!("there is no baseline `{}`", file.display()));
        return Err(error.hint("write it with --update-baseline, and put it under version control"));
    }
    Ok(Baseline::read(file)?.compare(rows))
}

/// Writes the page if one is asked for.
fn write_page(output: &Output, args: &cli::Report, page: &Page<'_>) -> Result<()> {
    let Some(file) = &args.html else { return Ok(()) };
    publish(file, page.text()?.as_bytes())?;
    written(output, file)
}

fn written(output: &Output, file: &Path) -> Result<()> {
    let file = file.display().to_string();
    let text = format!("wrote {file}");
    output.message(&Written { reason: "written", file }, &text)
}

fn print(output: &Output, format: ReportFormat, (rows, findings): (&[Row], &[Finding])) -> Result<()> {
    let summary = summary(rows, findings);
    match format {
        ReportFormat::Markdown => {
            output.objects(rows)?;
            output.objects(findings)?;
            output.message(&summary, &markdown::comment(rows, findings))
        }
        ReportFormat::Table => {
            output.table(rows, &table(rows))?;
            for finding in findings {
                output.message(finding, &finding.to_string())?;
            }
            output.message(&summary, &sentence(&summary))
        }
    }
}

/// The numbers of several builds, and what is other than in the baseline of the first.
fn print_beside(
    output: &Output,
    format: ReportFormat,
    (builds, findings): (&[Measured], &[Finding]),
) -> Result<()> {
    comparison::print(output, format, builds)?;
    findings.iter().try_for_each(|finding| output.message(finding, &finding.to_string()))
}

fn table(rows: &[Row]) -> Table {
    let (headings, cells) = row::columns(rows);
    let mut table = Table::new(&headings);
    cells.into_iter().for_each(|row| table.row(row));
    table
}

fn summary(rows: &[Row], findings: &[Finding]) -> Summary {
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

fn sentence(summary: &Summary) -> String {
    let Summary { kernels, spilling, unknown, worse, better, .. } = *summary;
    let mut text = format!("{}: {spilling} spill, {unknown} do not tell", counted(kernels, "kernel"));
    if worse > 0 || better > 0 {
        text.push_str(&format!("; {worse} numbers are worse than the baseline, {better} better"));
        text.push_str("\nhint: `--update-baseline` accepts the numbers as they are");
    }
    text
}

fn status(args: &cli::Report, (rows, findings): (&[Row], &[Finding]), contents: &Contents<'_>) -> ExitStatus {
    let has = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
    let ratchet = has(Verdict::Worse) || (args.exact && !findings.is_empty());
    if rows.is_empty() || ratchet { ExitStatus::CheckFailed } else { contents.status() }
}
