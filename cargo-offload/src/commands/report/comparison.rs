//! The numbers of several builds side by side: of compilers, of their releases, of flags.

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

/// What the build is called that others stand beside.
pub(super) const THIS: &str = "this";

/// A build, and what is known of its kernels.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) label: String,
    pub(super) images: Vec<ImageRecord>,
    pub(super) rows: Vec<Row>,
}

impl Measured {
    pub(super) fn new(label: &str, images: Vec<ImageRecord>) -> Measured {
        Measured { label: label.to_string(), rows: row::rows(&images), images }
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
) -> Result<Vec<Measured>> {
    let mut labels: BTreeSet<&str> = taken.into_iter().collect();
    let mut builds = Vec::new();
    for word in &args.beside {
        let (label, file) =
            word.split_once('=').filter(|(label, file)| !label.is_empty() && !file.is_empty()).ok_or_else(
                || Error::usage(format!("`{word}` is not LABEL=FILE")).hint("as `--beside clang-22=old/app`"),
            )?;
        if !labels.insert(label) {
            return Err(Error::usage(format!("two builds are called `{label}`")).hint("name one otherwise"));
        }
        let input = Input::open(Path::new(file), limits)?;
        let images = wanted.of(&input.contents()?, Kernels::Measured)?;
        builds.push(Measured::new(label, images));
    }
    Ok(builds)
}

/// Shows the kernels of all `builds`.
pub(super) fn print(output: &Output, format: ReportFormat, builds: &[Measured]) -> Result<()> {
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
pub(super) fn lines(builds: &[Measured]) -> Vec<Line<'_>> {
    let mut found: BTreeMap<Key, BTreeMap<usize, &Row>> = BTreeMap::new();
    for (index, build) in builds.iter().enumerate() {
        for row in &build.rows {
            let (module, kernel, target) = (row.module.clone(), row.kernel.clone(), row.target.clone());
            found.entry(Key { module, kernel, target }).or_default().insert(index, row);
        }
    }
    let line = |(key, rows): (Key, BTreeMap<usize, &Row>)| {
        let labels = builds.iter().map(|build| build.label.as_str()).enumerate();
        Line {
            reason: "comparison",
            key,
            builds: labels.map(|(index, label)| build(rows.get(&index), label)).collect(),
        }
    };
    found.into_iter().map(line).collect()
}

fn build<'a>(row: Option<&&Row>, label: &'a str) -> Build<'a> {
    let numbers = row.map(|row| row.numbers().into_iter().collect()).unwrap_or_default();
    Build { label, numbers }
}

/// A column for each number, in which the builds stand in their order.
fn table(builds: &[Measured], lines: &[Line<'_>]) -> Table {
    let mut table = Table::new(&["kernel", "module", "target"].into_iter().chain(SHOWN).collect::<Vec<_>>());
    let labels = labels(builds);
    let empty = [String::new(), String::new(), String::new()];
    table.row(empty.into_iter().chain(SHOWN.map(|_| labels.clone())).collect());
    cells(builds, lines).1.into_iter().for_each(|row| table.row(row));
    table
}

fn labels(builds: &[Measured]) -> String {
    builds.iter().map(|build| build.label.as_str()).collect::<Vec<_>>().join(" / ")
}

/// Headings that name the builds, and the cells below them.
fn cells(builds: &[Measured], lines: &[Line<'_>]) -> (Vec<String>, Vec<Vec<String>>) {
    let labels = labels(builds);
    let fixed = ["kernel", "module", "target"].map(str::to_string).into_iter();
    let headings = fixed.chain(SHOWN.map(|number| format!("{number}: {labels}"))).collect();
    let row = |line: &Line<'_>| {
        let number = |name: &str| {
            let of = |build: &Build<'_>| or_dash(build.numbers.get(name).copied().flatten());
            line.builds.iter().map(of).collect::<Vec<_>>().join(" / ")
        };
        let key = [line.key.kernel.clone(), line.key.module.clone(), line.key.target.clone()];
        key.into_iter().chain(SHOWN.map(number)).collect()
    };
    (headings, lines.iter().map(row).collect())
}
