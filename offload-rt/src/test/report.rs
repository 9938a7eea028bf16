//! The report of a test: a panic for people, and lines in a file for `cargo offload test`.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::Path;

use crate::variable;

use super::compare::Difference;
use super::outcome::{DeviceOutcome, Outcome, RunResult};

/// A test starts on the device: if the process ends now, it was there.
pub(super) fn record_start(label: &str) {
    record(&Line::new("started").text("device", label));
}

pub(super) fn record_end(end: &DeviceOutcome) {
    let line = Line::new("ended").text("device", &end.label).text("outcome", end.outcome.word());
    let line = line.number("seconds", end.time.as_secs_f64());
    let line = end.outcome.problem().iter().fold(line, |line, problem| line.text("problem", problem));
    record(&match &end.outcome {
        Outcome::Wrong(difference) => with_difference(line, difference),
        _ => line,
    });
}

fn with_difference(line: Line, difference: &Difference) -> Line {
    let line = line.text("location", &difference.0.location.to_string());
    let line = line.number("differing", difference.0.differing as f64);
    let Some(first) = &difference.0.first else { return line };
    let line =
        line.number("index", first.index as f64).text("got", &first.got).text("expected", &first.expected);
    first.ulps.map_or(line.clone(), |ulps| line.whole("ulps", ulps))
}

/// The file that `cargo offload test` reads, if it runs the test.
fn file() -> Option<OsString> {
    std::env::var_os(variable::TEST_RESULTS).filter(|path| !path.is_empty())
}

fn record(line: &Line) {
    if let Some(path) = file() {
        // Without its line the test counts as one that has stopped in the middle, which is no success.
        if let Err(error) = append(Path::new(&path), &line.finished()) {
            eprintln!("cannot write to `{}`: {error}", Path::new(&path).display());
        }
    }
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().append(true).create(true).open(path)?.write_all(line.as_bytes())
}

/// Prints a line for each device.
///
/// # Panics
/// The test has failed on a device; or it has run on none, and no file records that.
#[expect(clippy::panic, reason = "this is how a test fails")]
#[track_caller]
pub(super) fn conclude(ended: &[DeviceOutcome]) {
    let lines = summary(ended);
    let failed =
        ended.iter().filter(|end| matches!(end.outcome, Outcome::Wrong(_) | Outcome::Failed(_))).count();
    if failed > 0 && file().is_some() {
        println!("{lines}");
        // The file has the details: no second message, and no backtrace.
        resume_unwind(Box::new("the test has failed on a device"));
    }
    if failed > 0 {
        panic!("failed on {failed} of {} devices\n{lines}", ended.len());
    }
    if file().is_none() && !ended.iter().any(|end| end.outcome == Outcome::Right) {
        panic!("the test has run on no device\n{lines}\nhint: {}", HINT);
    }
    println!("{lines}");
}

/// Prints a line for each device on which not all is well, unless it is recorded.
pub(super) fn tell_problems(ended: &[DeviceOutcome]) -> RunResult {
    if file().is_none() {
        let others: Vec<DeviceOutcome> =
            ended.iter().filter(|end| end.outcome != Outcome::Right).cloned().collect();
        if !others.is_empty() {
            eprintln!("{}", summary(&others));
        }
        if !ended.iter().any(|end| end.outcome == Outcome::Right) {
            eprintln!("no device has run the kernels\nhint: {HINT}");
            return RunResult::Failed;
        }
    }
    let has_failure = ended.iter().any(|end| matches!(end.outcome, Outcome::Wrong(_) | Outcome::Failed(_)));
    if has_failure { RunResult::Failed } else { RunResult::Succeeded }
}

/// The times of the launches of a kernel, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) median: f64,
    pub(crate) min: f64,
    /// Nine of ten took no longer.
    pub(crate) most: f64,
    pub(crate) count: u64,
}

impl Numbers {
    /// Records them, or prints them if no file records.
    pub(crate) fn tell(&self, device: &str, name: &str) {
        let Numbers { median, min, most, count } = *self;
        if file().is_none() {
            let [median, min, most] = [median, min, most].map(|seconds| format!("{:.1} us", seconds * 1e6));
            return println!(
                "{name} on {device}: {median} (from {min}, 90 % within {most}, {count} launches)"
            );
        }
        let line = Line::new("time").text("device", device).text("name", name).number("median", median);
        record(&line.number("min", min).number("most", most).whole("count", count));
    }
}

const HINT: &str = "the target `host` runs on every CPU: `cargo offload targets add host`";

fn summary(ended: &[DeviceOutcome]) -> String {
    let mut lines = Vec::with_capacity(ended.len());
    for end in ended {
        let problem = end.outcome.problem().map(|text| format!(": {}", text.replace('\n', "\n    ")));
        let location = match &end.outcome {
            Outcome::Wrong(difference) => format!(" (at {})", difference.0.location),
            _ => String::new(),
        };
        let problem = problem.unwrap_or_default();
        lines.push(format!("  {}: {}{problem}{location}", end.device, end.outcome.word()));
    }
    lines.join("\n")
}

/// An object of JSON in the making.
#[derive(Clone, Debug)]
struct Line(String);

impl Line {
    fn new(event: &str) -> Line {
        Line("{".to_string()).text("event", event)
    }

    fn text(self, name: &str, value: &str) -> Line {
        self.field(name, &quoted(value))
    }

    fn number(self, name: &str, value: f64) -> Line {
        self.field(name, &value.to_string())
    }

    /// It may have more digits than a floating-point number holds.
    fn whole(self, name: &str, value: u64) -> Line {
        self.field(name, &value.to_string())
    }

    fn field(mut self, name: &str, value: &str) -> Line {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&format!("{}:{value}", quoted(name)));
        self
    }

    fn finished(&self) -> String {
        format!("{}}}\n", self.0)
    }
}

/// A string of JSON (<https://www.rfc-editor.org/rfc/rfc8259#section-7>).
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::test::{Ulps, expect_close};

    fn ended(outcome: Outcome) -> DeviceOutcome {
        DeviceOutcome {
            label: "host".into(),
            device: "host CPU".into(),
            outcome,
            time: Duration::from_millis(1500),
        }
    }

    #[test]
    fn lines_are_objects_of_json() {
        let line = Line::new("ended").text("problem", "a \"b\"\\\n\u{1}ü").number("seconds", 1.5);
        assert_eq!(
            line.finished(),
            "{\"event\":\"ended\",\"problem\":\"a \\\"b\\\"\\\\\\u000a\\u0001ü\",\"seconds\":1.5}\n"
        );
    }

    #[test]
    fn a_difference_has_its_fields() {
        let difference = expect_close(&[i64::MAX], &[i64::MIN], Ulps(0)).unwrap_err();
        let line = with_difference(Line::new("ended"), &difference).finished();
        assert!(line.contains("\"index\":0,\"got\":\"9223372036854775807\""), "{line}");
        assert!(line.contains("\"ulps\":18446744073709551615}"), "{line}");
    }

    #[test]
    fn a_summary_has_a_line_for_each_device() {
        let ends = [ended(Outcome::Right), ended(Outcome::Refused("no image\nrefused:".into()))];
        assert_eq!(summary(&ends), "  host CPU: right\n  host CPU: refused: no image\n    refused:");
    }

    #[test]
    #[should_panic(expected = "failed on 1 of 2 devices\n  host CPU: right\n  host CPU: failed: boom")]
    fn one_failure_fails_the_test() {
        conclude(&[ended(Outcome::Right), ended(Outcome::Failed("boom".into()))]);
    }

    #[test]
    #[should_panic(expected = "the test has run on no device")]
    fn a_test_that_ran_nowhere_fails() {
        conclude(&[ended(Outcome::Refused("no image".into()))]);
    }
}
