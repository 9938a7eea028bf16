//! Baseline: a file under version control with the numbers that kernels may reach.
//!
//! It has one line per kernel, sorted, so that diffs are readable.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Serialize;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use super::row::Row;
use crate::error::{Error, IoContext, Result};
use crate::files::publish::replaceable;
use crate::print::text::escaped;

/// The version of the file's form.
const VERSION: i64 = 1;
const VERSION_KEY: &str = "version";
const KERNELS_KEY: &str = "kernels";
/// Another compiler release moves code by a few bytes without anything to mend.
const CODE_TOLERANCE_PERCENT: u64 = 5;

/// First line of the file.
const HEADER: &str = "# What kernels may use; `cargo offload report --update-baseline` writes it.\n";

/// Numbers by kernel.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Baseline {
    kernels: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Something that is other than in the baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    reason: &'static str,
    pub(super) verdict: Change,
    /// Module, kernel and target.
    pub(super) kernel: String,
    /// Name of the number; empty for an added or removed kernel.
    pub(super) number: &'static str,
    pub(super) before: Option<u64>,
    pub(super) now: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Change {
    Worse,
    Better,
    /// The baseline does not know the kernel.
    New,
    /// The kernel is not there any more.
    Gone,
}

impl Baseline {
    pub(super) fn from_rows(rows: &[Row]) -> Baseline {
        let mut kernels = BTreeMap::new();
        for row in rows {
            let numbers = row.numbers().into_iter();
            let known = numbers.filter_map(|(name, number)| Some((name.to_string(), number?)));
            kernels.insert(row.key(), known.collect());
        }
        Baseline { kernels }
    }

    pub(super) fn read(path: &Path) -> Result<Baseline> {
        let text = std::fs::read_to_string(path).io_context("read", path)?;
        let document: DocumentMut =
            text.parse().map_err(|error: toml_edit::TomlError| wrong(path, &text, error.message()))?;
        if document.get(VERSION_KEY).and_then(Item::as_integer) != Some(VERSION) {
            return Err(wrong(path, &text, &format!("it lacks `version = {VERSION}`")));
        }
        let table = document.get(KERNELS_KEY).and_then(Item::as_table_like);
        let mut kernels = BTreeMap::new();
        for (kernel, numbers) in table.ok_or_else(|| wrong(path, &text, "it has no table `kernels`"))?.iter()
        {
            let numbers = numbers
                .as_table_like()
                .ok_or_else(|| wrong(path, &text, &format!("`{kernel}` has no numbers")))?;
            kernels.insert(
                kernel.to_string(),
                numbers
                    .iter()
                    .map(|(name, item)| {
                        let number = item.as_integer().and_then(|number| u64::try_from(number).ok());
                        Ok((
                            name.to_string(),
                            number.ok_or_else(|| wrong(path, &text, &format!("`{name}` of `{kernel}`")))?,
                        ))
                    })
                    .collect::<Result<_>>()?,
            );
        }
        Ok(Baseline { kernels })
    }

    /// A baseline that is damaged or of another release is overwritten; another file is kept.
    ///
    /// # Errors
    /// `path` exists and is not a baseline.
    pub(super) fn check(path: &Path) -> Result<()> {
        match Baseline::read(path) {
            Ok(_) => Ok(()),
            Err(_) => replaceable(path, HEADER.as_bytes(), "baseline"),
        }
    }

    pub(super) fn to_text(&self) -> Result<String> {
        let mut table = Table::new();
        for (kernel, numbers) in &self.kernels {
            let mut line = InlineTable::new();
            for (name, number) in numbers {
                line.insert(
                    name,
                    Value::from(
                        i64::try_from(*number)
                            .map_err(|_| Error::check(format!("`{name}` of `{kernel}` is {number}")))?,
                    ),
                );
            }
            table.insert(kernel, Item::Value(line.into()));
        }
        let mut document = DocumentMut::new();
        document.insert(VERSION_KEY, toml_edit::value(VERSION));
        document.insert(KERNELS_KEY, Item::Table(table));
        Ok(format!("{HEADER}{document}"))
    }

    /// The differences to `rows`, regressions first.
    pub(super) fn compare(&self, rows: &[Row]) -> Vec<Finding> {
        let now = Baseline::from_rows(rows);
        let mut findings = Vec::new();
        for row in rows {
            match self.kernels.get(&row.key()) {
                None => findings.push(Finding::new(row.key(), Change::New)),
                Some(before) => findings.extend(changed(row, before)),
            }
        }
        let gone = self.kernels.keys().filter(|kernel| !now.kernels.contains_key(*kernel));
        findings.extend(gone.map(|kernel| Finding::new(kernel.clone(), Change::Gone)));
        findings.sort_by_key(|finding| finding.verdict as u8);
        findings
    }
}

fn wrong(path: &Path, text: &str, what: &str) -> Error {
    let error = Error::usage(format!("`{}` is not a baseline: {what}", path.display()));
    if text.starts_with(HEADER) {
        error.hint("update it with --update-baseline")
    } else {
        error.hint("use a file that --update-baseline wrote")
    }
}

impl Finding {
    fn new(kernel: String, verdict: Change) -> Finding {
        Finding { reason: "finding", verdict, kernel, number: "", before: None, now: None }
    }
}

fn changed<'a>(row: &'a Row, before: &'a BTreeMap<String, u64>) -> impl Iterator<Item = Finding> + 'a {
    row.numbers().into_iter().filter_map(|(number, now)| {
        let before = before.get(number).copied()?;
        let now = now?;
        let tolerated =
            if number == "code" { before.saturating_mul(CODE_TOLERANCE_PERCENT) / 100 } else { 0 };
        let verdict = match now.abs_diff(before) {
            change if change <= tolerated => return None,
            _ if now > before => Change::Worse,
            _ => Change::Better,
        };
        let before = Some(before);
        let now = Some(now);
        Some(Finding { number, before, now, ..Finding::new(row.key(), verdict) })
    })
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { number, .. } = self;
        let kernel = escaped(&self.kernel);
        let before = self.before.unwrap_or(0);
        let now = self.now.unwrap_or(0);
        match self.verdict {
            Change::Worse => write!(f, "worse: {kernel}: {number} {before} -> {now}"),
            Change::Better => write!(f, "better: {kernel}: {number} {before} -> {now}"),
            Change::New => write!(f, "new: {kernel}"),
            Change::Gone => write!(f, "gone: {kernel}"),
        }
    }
}
