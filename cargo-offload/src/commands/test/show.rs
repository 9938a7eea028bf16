//! Table of tests and devices, and the output of failed tests.

use std::collections::BTreeSet;

use serde::Serialize;

use super::device::DeviceUnderTest;
use super::outcome::{Outcome, Row};
use super::sanitize::MissingSanitizer;
use crate::error::Result;
use crate::print::choice::Verbosity;
use crate::print::output::Output;
use crate::print::table::Table;

#[derive(Debug, Serialize)]
struct DeviceMessage<'a> {
    reason: &'static str,
    device: &'a str,
    name: &'a str,
    description: &'a str,
}

#[derive(Debug, Serialize)]
struct LackingMessage<'a> {
    reason: &'static str,
    #[serde(flatten)]
    lacking: &'a MissingSanitizer,
}

#[derive(Debug, Serialize)]
struct TestMessage<'a> {
    reason: &'static str,
    #[serde(flatten)]
    row: &'a Row,
}

/// Prints where tests have run, and what might have watched them there and is not installed.
pub(super) fn places(
    output: &Output,
    places: &[DeviceUnderTest],
    lacking: &[MissingSanitizer],
) -> Result<()> {
    for place in places {
        let DeviceUnderTest { label: device, name, description, .. } = place;
        let message = DeviceMessage { reason: "test-device", device, name, description };
        output.done(&message, &place.to_string())?;
    }
    lacking.iter().try_for_each(|lacking| {
        output.done(&LackingMessage { reason: "sanitizer-missing", lacking }, &lacking.text())
    })
}

/// Prints results; `--quiet` leaves out what is well.
pub(super) fn rows(output: &Output, rows: &[Row]) -> Result<()> {
    let shown: Vec<&Row> = rows
        .iter()
        .filter(|row| output.verbosity() != Verbosity::Quiet || row.end.outcome.is_bad())
        .collect();
    let messages: Vec<TestMessage<'_>> =
        shown.iter().map(|row| TestMessage { reason: "test", row }).collect();
    if !shown.is_empty() {
        output.space()?;
        output.table(&messages, &table(&shown))?;
    }
    shown.iter().filter(|row| row.end.outcome.is_bad()).try_for_each(|row| print_failure(output, row))
}

fn table(rows: &[&Row]) -> Table {
    let programs: BTreeSet<(&str, &str)> =
        rows.iter().map(|row| (row.package.as_str(), row.program.as_str())).collect();
    let is_one = programs.len() == 1;
    let heading: &[&'static str] = if is_one {
        &["test", "device", "result", "time", "why"]
    } else {
        &["program", "test", "device", "result", "time", "why"]
    };
    let mut table = Table::with_wrapped_cells(heading);
    for row in rows {
        let time = match row.end.outcome {
            Outcome::Ignored | Outcome::Refused => "-".to_string(),
            _ => time(row.seconds),
        };
        let device = row.device.as_deref().unwrap_or("-").to_string();
        let mut cells = vec![row.test.clone(), device, row.end.outcome.word().to_string(), time, why(row)];
        if !is_one {
            cells.insert(0, row.program.clone());
        }
        table.row(cells);
        if row.end.outcome.is_bad() {
            table.problem("result");
        }
    }
    table
}

/// The first sentence: what is longer stands below the table, and in JSON.
fn why(row: &Row) -> String {
    let problem = row.end.problem.as_deref().unwrap_or_default();
    problem.lines().next().unwrap_or_default().to_string()
}

fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1000.0),
        seconds => format!("{seconds:.2} s"),
    }
}

/// Prints the output of a failed test.
fn print_failure(output: &Output, row: &Row) -> Result<()> {
    let on = row.device.as_ref().map(|device| format!(" on {device}")).unwrap_or_default();
    output.remark(&format!("\n{}: {}{on}, {}", row.program, row.test, row.end.outcome.word()))?;
    let text = row.output.as_deref().unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .try_for_each(|line| output.remark(&format!("  {line}")))
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_are_short() {
        assert_eq!([0.0, 0.00123, 0.9876, 61.0].map(time), ["0.0 ms", "1.2 ms", "987.6 ms", "61.00 s"]);
    }
}
