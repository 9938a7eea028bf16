//! Side-by-side comparison of the numbers of several builds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::markdown;
use super::row::{self, Row};
use crate::cli::{self, ReportFormat};
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::print::table::Table;
use crate::read::input::Input;
use crate::read::records::{ImageRecord, Kernels, Selection, or_dash};

/// A kernel in every build.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    reason: &'static str,
    #[serde(flatten)]
    key: Key,
    builds: Vec<Build<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Key {
    module: String,
    kernel: String,
    target: String,
}

#[derive(Debug, Serialize)]
struct Build<'a> {
    label: &'a str,
    #[serde(flatten)]
    numbers: BTreeMap<&'static str, Option<u64>>,
}

/// The numbers that the table shows, in its order.
const SHOWN: [&str; 3] = ["registers", "spilled", "code"];

/// Label of the build that others are compared with.
pub(super) const THIS: &str = "this";

/// A build, and what is known of its kernels.
#[derive(Debug)]
pub(super) struct MeasuredBuild {
    pub(super) label: String,
    pub(super) images: Vec<ImageRecord>,
    pub(super) rows: Vec<Row>,
}

impl MeasuredBuild {
    pub(super) fn new(label: &str, images: Vec<ImageRecord>) -> MeasuredBuild {
        MeasuredBuild { label: label.to_string(), rows: row::rows(&images), images }
    }
}

/// The builds that `--beside` names, beside those whose labels are `taken`.
///
/// # Errors
/// A word is not LABEL=FILE, two have one label, or a file cannot be read.
pub(super) fn others<'a>(
    args: &'a cli::Report,
    wanted: &Selection,
    limits: &offload_format::Limits,
    taken: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<MeasuredBuild>> {
    let mut labels: BTreeSet<&str> = taken.into_iter().collect();
    let mut builds = Vec::new();
    for word in &args.beside {
        let (label, file) = word
            .split_once('=')
            .filter(|(label, file)| !label.is_empty() && !file.is_empty())
            .ok_or_else(|| {
                Error::usage(format!("`{word}` is not LABEL=FILE"))
                    .hint("use a label, such as `--beside clang-22=old/app`")
            })?;
        if !labels.insert(label) {
            return Err(
                Error::usage(format!("two builds have the label `{label}`")).hint("rename one of them")
            );
        }
        let input = Input::open(Path::new(file), limits)?;
        let images = wanted.select(&input.contents()?, Kernels::Measured)?;
        builds.push(MeasuredBuild::new(label, images));
    }
    Ok(builds)
}

/// Shows the kernels of all `builds`.
pub(super) fn print(output: &Output, format: ReportFormat, builds: &[MeasuredBuild]) -> Result<()> {
    let lines = lines(builds);
    match format {
        ReportFormat::Table => output.table(&lines, &table(builds, &lines)),
        ReportFormat::Markdown => {
            output.objects(&lines)?;
            let (headings, rows) = cells(builds, &lines);
            output.remark(&format!("### Kernels side by side\n\n{}", markdown::table(&headings, rows)))
        }
    }
}

/// Every kernel of any build. One that a build does not have has no numbers there.
pub(super) fn lines(builds: &[MeasuredBuild]) -> Vec<Line<'_>> {
    let mut found: BTreeMap<Key, BTreeMap<usize, &Row>> = BTreeMap::new();
    for (index, build) in builds.iter().enumerate() {
        for row in &build.rows {
            let module = row.module.clone();
            let kernel = row.kernel.clone();
            let target = row.target.clone();
            found.entry(Key { module, kernel, target }).or_default().insert(index, row);
        }
    }
    found
        .into_iter()
        .map(|(key, rows)| {
            let labels = builds.iter().map(|build| build.label.as_str()).enumerate();
            Line {
                reason: "comparison",
                key,
                builds: labels.map(|(index, label)| build(rows.get(&index), label)).collect(),
            }
        })
        .collect()
}

fn build<'a>(row: Option<&&Row>, label: &'a str) -> Build<'a> {
    let numbers = row.map(|row| row.numbers().into_iter().collect()).unwrap_or_default();
    Build { label, numbers }
}

/// A column for each number, in which the builds stand in their order.
fn table(builds: &[MeasuredBuild], lines: &[Line<'_>]) -> Table {
    let mut table = Table::new(&["kernel", "module", "target"].into_iter().chain(SHOWN).collect::<Vec<_>>());
    let labels = labels(builds);
    let empty = [String::new(), String::new(), String::new()];
    table.row(empty.into_iter().chain(SHOWN.map(|_| labels.clone())).collect());
    cells(builds, lines).1.into_iter().for_each(|row| table.row(row));
    table
}

fn labels(builds: &[MeasuredBuild]) -> String {
    builds.iter().map(|build| build.label.as_str()).collect::<Vec<_>>().join(" / ")
}

/// Headings that name the builds, and the cells below them.
fn cells(builds: &[MeasuredBuild], lines: &[Line<'_>]) -> (Vec<String>, Vec<Vec<String>>) {
    let labels = labels(builds);
    let fixed = ["kernel", "module", "target"].map(str::to_string).into_iter();
    let headings = fixed.chain(SHOWN.map(|number| format!("{number}: {labels}"))).collect();
    (
        headings,
        lines
            .iter()
            .map(|line| {
                let key = [line.key.kernel.clone(), line.key.module.clone(), line.key.target.clone()];
                key.into_iter()
                    .chain(SHOWN.map(|name| {
                        line.builds
                            .iter()
                            .map(|build| or_dash(build.numbers.get(name).copied().flatten()))
                            .collect::<Vec<_>>()
                            .join(" / ")
                    }))
                    .collect()
            })
            .collect(),
    )
}
