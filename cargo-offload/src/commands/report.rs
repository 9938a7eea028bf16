//! `report`: resource usage of kernels.

mod baseline;
mod comparison;
mod html;
mod markdown;
mod matrix;
mod row;
mod summary;

use std::path::Path;

use self::baseline::{Baseline, Change, Finding};
use self::comparison::MeasuredBuild;
use self::html::Page;
use self::row::Row;
use self::summary::BaselineComparison;
use crate::cargo::artifact;
use crate::cli::{self, ReportFormat};
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::files::publish::replace;
use crate::print::output::Output;
use crate::print::table::Table;
use crate::print::text::counted;
use crate::read::input::Search;
use crate::read::inputs::{self, Source};
use crate::read::missing;
use crate::read::records::{ImageRecord, Kernels, Selection};

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
    let report = Report { output, args, path: &path };
    let mut others = Some(others);
    let mut of_members = Vec::new();
    let mut status = inputs::each(output, Source { path: &path, search: Search::Known }, &mut |opened| {
        let images = opened.images(&wanted, Kernels::Measured)?;
        let contents = opened.contents.status();
        let status = match opened.member {
            None => contents.worse(report.show(images, others.take().unwrap_or_default())?),
            Some(member) => {
                of_members.extend(images.into_iter().map(|image| with_member(image, member)));
                contents
            }
        };
        missing::print(output, opened.contents)?;
        Ok(status)
    })?;
    if let Some(others) = others {
        status = status.worse(report.show(of_members, others)?);
    }
    Ok(status)
}

/// Modules of several files may have the same name.
fn with_member(image: ImageRecord, member: &str) -> ImageRecord {
    let inner = member.split_once(": ").map_or(member, |(_, inner)| inner);
    ImageRecord { module: format!("{inner}: {}", image.module), ..image }
}

/// Options of a report.
struct Report<'r> {
    output: &'r Output,
    args: &'r cli::Report,
    path: &'r Path,
}

impl Report<'_> {
    /// Shows the numbers of `images`, beside those of other builds.
    fn show(&self, images: Vec<ImageRecord>, others: Vec<MeasuredBuild>) -> Result<ExitStatus> {
        let Report { output, args, path } = *self;
        let this = MeasuredBuild::new(comparison::THIS, images);
        let findings = findings(output, args, &this.rows)?;
        let builds: Vec<MeasuredBuild> = std::iter::once(this).chain(others).collect();
        let Some(MeasuredBuild { rows, .. }) = builds.first() else { return Ok(ExitStatus::CheckFailed) };
        let judged = BaselineComparison { rows, findings: &findings };
        match builds.len() {
            1 => print(output, args, &judged)?,
            _ => print_comparison(output, args.format, &builds, &findings)?,
        }
        Page { path, builds: &builds, missing: Vec::new() }.write(output, args)?;
        Ok(status(args, &judged))
    }
}

/// The differences to the baseline, which is written first with `--update-baseline`.
fn findings(output: &Output, args: &cli::Report, rows: &[Row]) -> Result<Vec<Finding>> {
    let Some(file) = &args.baseline else { return Ok(Vec::new()) };
    if args.update_baseline {
        replace(file, Baseline::from_rows(rows).to_text()?.as_bytes())?;
        output.wrote(file)?;
        return Ok(Vec::new());
    }
    if !file.exists() {
        let error = Error::usage(format!("baseline `{}` does not exist", file.display()));
        return Err(error.hint("create it with --update-baseline, and keep it under version control"));
    }
    Ok(Baseline::read(file)?.compare(rows))
}

fn print(output: &Output, args: &cli::Report, judged: &BaselineComparison<'_>) -> Result<()> {
    let BaselineComparison { rows, findings } = *judged;
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
    builds: &[MeasuredBuild],
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
            "{} omitted: their images record no resource usage; `--json` lists all",
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

fn status(args: &cli::Report, judged: &BaselineComparison<'_>) -> ExitStatus {
    let BaselineComparison { rows, findings } = judged;
    let has_regression = findings.iter().any(|finding| finding.verdict == Change::Worse);
    let ratchet = has_regression || (args.exact && !findings.is_empty());
    if rows.is_empty() || ratchet { ExitStatus::CheckFailed } else { ExitStatus::Success }
}
