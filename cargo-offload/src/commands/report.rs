//! `report`: what kernels use of each device.

mod baseline;
mod comparison;
mod html;
mod markdown;
mod matrix;
mod row;
mod summary;

use self::baseline::{Baseline, Finding, Verdict};
use self::comparison::Measured;
use self::html::Page;
use self::row::Row;
use self::summary::Judged;
use crate::cargo::artifact;
use crate::cli::{self, ReportFormat};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::files::publish::replace;
use crate::print::output::Output;
use crate::print::table::Table;
use crate::print::text::counted;
use crate::read::input::{Contents, Input};
use crate::read::missing;
use crate::read::records::{Kernels, Selection};

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
    let others = comparison::others(args, &wanted, output.limits(), [comparison::THIS])?;
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let input = Input::open(&path, output.limits())?;
    let contents = input.contents()?;
    let images = wanted.of(&contents, Kernels::Measured)?;
    let this = Measured::new(comparison::THIS, images);
    let findings = findings(output, args, &this.rows)?;
    let builds: Vec<Measured> = std::iter::once(this).chain(others).collect();
    let Some(Measured { rows, .. }) = builds.first() else { return Ok(ExitStatus::CheckFailed) };
    let judged = Judged { rows, findings: &findings };
    match builds.len() {
        1 => print(output, args, &judged)?,
        _ => print_comparison(output, args.format, &builds, &findings)?,
    }
    Page { path: &path, builds: &builds, missing: Vec::new() }.write(output, args)?;
    missing::tell(output, &contents)?;
    Ok(status(args, &judged, &contents))
}

/// What is other than in the baseline, which is written first if that is asked for.
fn findings(output: &Output, args: &cli::Report, rows: &[Row]) -> Result<Vec<Finding>> {
    let Some(file) = &args.baseline else { return Ok(Vec::new()) };
    if args.update_baseline {
        replace(file, Baseline::of(rows).to_text()?.as_bytes())?;
        output.wrote(file)?;
        return Ok(Vec::new());
    }
    if !file.exists() {
        let error = Error::usage(format!("there is no baseline `{}`", file.display()));
        return Err(error.hint("write it with --update-baseline, and put it under version control"));
    }
    Ok(Baseline::read(file)?.compare(rows))
}

fn print(output: &Output, args: &cli::Report, judged: &Judged<'_>) -> Result<()> {
    let Judged { rows, findings } = *judged;
    let summary = judged.summary();
    match args.format {
        ReportFormat::Markdown => {
            output.objects(rows)?;
            output.objects(findings)?;
            output.message(&summary, &markdown::comment(judged))
        }
        // The page has the table.
        ReportFormat::Table if args.html.is_some() => {
            output.objects(rows)?;
            findings.iter().try_for_each(|finding| output.message(finding, &finding.to_string()))?;
            output.objects(&[summary])
        }
        ReportFormat::Table => {
            print_table(output, rows)?;
            for finding in findings {
                output.message(finding, &finding.to_string())?;
            }
            output.message(&summary, &summary.to_string())
        }
    }
}

/// The numbers of several builds, and what is other than in the baseline of the first.
fn print_comparison(
    output: &Output,
    format: ReportFormat,
    builds: &[Measured],
    findings: &[Finding],
) -> Result<()> {
    comparison::print(output, format, builds)?;
    findings.iter().try_for_each(|finding| output.message(finding, &finding.to_string()))
}

/// Kernels of whose numbers nothing is known only count, unless there are no others.
fn print_table(output: &Output, rows: &[Row]) -> Result<()> {
    let known: Vec<Row> = rows.iter().filter(|row| row.tells()).cloned().collect();
    let shown = if known.is_empty() { rows } else { &known };
    output.table(rows, &table(shown))?;
    match rows.len().saturating_sub(shown.len()) as u64 {
        0 => Ok(()),
        silent => output.remark(&format!(
            "{} without numbers left out: their images tell none; `--json` has all",
            counted(silent, "kernel")
        )),
    }
}

fn table(rows: &[Row]) -> Table {
    let (headings, cells) = row::columns(rows);
    let mut table = Table::new(&headings);
    for (row, cells) in rows.iter().zip(cells) {
        table.row(cells);
        if row.spills() {
            table.problem("spilled");
        }
    }
    table
}

fn status(args: &cli::Report, judged: &Judged<'_>, contents: &Contents<'_>) -> ExitStatus {
    let Judged { rows, findings } = judged;
    let has = |verdict| findings.iter().any(|finding| finding.verdict == verdict);
    let ratchet = has(Verdict::Worse) || (args.exact && !findings.is_empty());
    if rows.is_empty() || ratchet { ExitStatus::CheckFailed } else { contents.status() }
}
