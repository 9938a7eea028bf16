//! The numbers of several builds side by side: of compilers, of their releases, of flags.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::row::{self, Row};
use crate::cli;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::ledger::{Kernels, Wanted, or_dash};
use crate::output::{Output, Table};
use crate::subject::Subject;

/// A kernel in every build.
#[derive(Debug, Serialize)]
struct Line<'a> {
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

pub(super) fn run(output: &Output, path: &Path, args: &cli::Report) -> Result<ExitStatus> {
    let wanted = Wanted::parse(&args.select)?;
    let mut builds = vec![("this".to_string(), rows(path, &wanted)?)];
    for word in &args.beside {
        let (label, file) =
            word.split_once('=').filter(|(label, file)| !label.is_empty() && !file.is_empty()).ok_or_else(
                || Error::usage(format!("`{word}` is not LABEL=FILE")).hint("as `--beside clang-22=old/app`"),
            )?;
        builds.push((label.to_string(), rows(Path::new(file), &wanted)?));
    }
    print(output, &builds)?;
    Ok(ExitStatus::Success)
}

/// Shows the kernels of all `builds`, which are labels and numbers.
pub(super) fn print(output: &Output, builds: &[(String, Vec<Row>)]) -> Result<()> {
    let lines = lines(builds);
    output.table(&lines, &table(builds, &lines))
}

fn rows(path: &Path, wanted: &Wanted) -> Result<Vec<Row>> {
    let subject = Subject::open(path)?;
    Ok(row::rows(&wanted.of(&subject.carried()?, Kernels::Measured)?))
}

/// Every kernel of any build. One that a build does not have has no numbers there.
fn lines(builds: &[(String, Vec<Row>)]) -> Vec<Line<'_>> {
    let mut found: BTreeMap<Key, BTreeMap<usize, &Row>> = BTreeMap::new();
    for (index, (_, rows)) in builds.iter().enumerate() {
        for row in rows {
            let (module, kernel, target) = (row.module.clone(), row.kernel.clone(), row.target.clone());
            found.entry(Key { module, kernel, target }).or_default().insert(index, row);
        }
    }
    let line = |(key, rows): (Key, BTreeMap<usize, &Row>)| {
        let labels = builds.iter().map(|(label, _)| label.as_str()).enumerate();
        Line { reason: "beside", key, builds: labels.map(|each| build(&rows, each)).collect() }
    };
    found.into_iter().map(line).collect()
}

fn build<'a>(rows: &BTreeMap<usize, &Row>, (index, label): (usize, &'a str)) -> Build<'a> {
    let numbers = rows.get(&index).map(|row| row.numbers().into_iter().collect()).unwrap_or_default();
    Build { label, numbers }
}

/// A column for each number, in which the builds stand in their order.
fn table(builds: &[(String, Vec<Row>)], lines: &[Line<'_>]) -> Table {
    let headings = ["kernel", "module", "target"].into_iter().chain(SHOWN);
    let mut table = Table::new(&headings.collect::<Vec<_>>());
    let labels = builds.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>().join(" / ");
    let empty = [String::new(), String::new(), String::new()];
    table.row(empty.into_iter().chain(SHOWN.map(|_| labels.clone())).collect());
    for line in lines {
        let number = |name: &str| {
            let of = |build: &Build<'_>| or_dash(build.numbers.get(name).copied().flatten());
            line.builds.iter().map(of).collect::<Vec<_>>().join(" / ")
        };
        let key = [line.key.kernel.clone(), line.key.module.clone(), line.key.target.clone()];
        table.row(key.into_iter().chain(SHOWN.map(number)).collect());
    }
    table
}
