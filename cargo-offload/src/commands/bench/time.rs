//! Kernel times that benchmarks record in the results file, and their table.

use serde::{Deserialize, Serialize};

use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::print::table::Table;

/// A kernel's time on a device, or that there is none.
#[derive(Debug, Serialize)]
#[serde(tag = "reason")]
pub(super) enum BenchResult {
    #[serde(rename = "kernel-time")]
    Time(KernelTime),
    #[serde(rename = "no-kernel-time")]
    Problem(BenchProblem),
}

/// Seconds, by the device's own clock.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct KernelTime {
    device: String,
    name: String,
    median: f64,
    min: f64,
    /// Nine of ten launches took no longer.
    most: f64,
    /// Number of timed launches.
    count: u64,
}

/// Reason why a device has no times.
#[derive(Debug, Serialize)]
pub(super) struct BenchProblem {
    device: String,
    /// `refused`: no image fits, or the benchmarks are not for it; `failed`.
    outcome: String,
    problem: String,
}

/// A line of the file; others say nothing of benchmarks.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event {
    Time(KernelTime),
    Ended {
        device: String,
        outcome: String,
        problem: Option<String>,
    },
    #[serde(other)]
    Other,
}

/// Parses the results file. Unknown events and an incomplete last line are ignored.
pub(super) fn read(text: &str) -> Vec<BenchResult> {
    let events = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let results = events.filter_map(|event| match event {
        Event::Time(time) => Some(BenchResult::Time(time)),
        Event::Ended { device, outcome, problem } if outcome != "right" => {
            let problem = problem.unwrap_or_default();
            Some(BenchResult::Problem(BenchProblem { device, outcome, problem }))
        }
        _ => None,
    });
    results.collect()
}

impl BenchResult {
    pub(super) fn failure(device: &str, problem: &str) -> BenchResult {
        let device = device.to_string();
        let problem = problem.to_string();
        BenchResult::Problem(BenchProblem { device, outcome: "failed".to_string(), problem })
    }

    /// Whether it is a failure.
    pub(super) fn is_bad(&self) -> bool {
        matches!(self, BenchResult::Problem(problem) if problem.outcome != "refused")
    }

    /// By kernel, and within that in the order of devices.
    fn name(&self) -> Option<&str> {
        match self {
            BenchResult::Time(time) => Some(&time.name),
            BenchResult::Problem(_) => None,
        }
    }
}

/// Prints the table; a kernel's devices stand together, compared with the first.
pub(super) fn show(output: &Output, all: &[BenchResult]) -> Result<ExitStatus> {
    let sorted = sort_by_kernel(all);
    output.objects(&sorted)?;
    let rows = rows(&sorted);
    if rows.is_empty() {
        output.remark("no kernel times recorded; benchmarks of `offload_rt::bench` record them")?;
    } else {
        let mut table =
            Table::new(&["kernel", "device", "median", "least", "90 % within", "launches", "speed"]);
        rows.into_iter().for_each(|row| table.row(row));
        output.space()?;
        output.table::<&BenchResult>(&[], &table)?;
    }
    for result in &sorted {
        if let BenchResult::Problem(BenchProblem { device, outcome, problem }) = result {
            output.error(&Error::check(format!("{device}: {outcome}: {problem}")));
        }
    }
    let is_bad = all.iter().any(BenchResult::is_bad);
    Ok(if is_bad { ExitStatus::CheckFailed } else { ExitStatus::Success })
}

/// By kernel, in the order in which benchmarks recorded them; problems last.
fn sort_by_kernel(all: &[BenchResult]) -> Vec<&BenchResult> {
    let mut names: Vec<&str> = Vec::new();
    for name in all.iter().filter_map(BenchResult::name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut sorted: Vec<&BenchResult> = all.iter().collect();
    sorted.sort_by_key(|result| {
        names.iter().position(|name| Some(*name) == result.name()).unwrap_or(names.len())
    });
    sorted
}

/// The cells of each row of the table.
fn rows(sorted: &[&BenchResult]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut first: Option<&KernelTime> = None;
    for result in sorted {
        let BenchResult::Time(time) = result else { continue };
        let reference = first.filter(|first| first.name == time.name).unwrap_or(time);
        first = Some(reference);
        let times = [time.median, time.min, time.most].map(shown);
        let speed = format!("{:.2}", reference.median / time.median);
        let names = [time.name.clone(), time.device.clone()];
        rows.push(names.into_iter().chain(times).chain([time.count.to_string(), speed]).collect());
    }
    rows
}

fn shown(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1e-3 => format!("{:.1} us", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(device: &str, name: &str, median: f64) -> String {
        format!(
            "{{\"event\":\"time\",\"device\":\"{device}\",\"name\":\"{name}\",\"median\":{median},\"min\":0.5,\"most\":3,\"count\":9}}\n"
        )
    }

    #[test]
    fn kernels_stand_together_and_are_compared_with_the_first_device() {
        let text = [
            "{\"event\":\"started\",\"device\":\"host\"}\n".to_string(),
            time("host", "a", 2.0),
            time("host", "b", 0.0000123),
            "{\"event\":\"ended\",\"device\":\"host\",\"outcome\":\"right\",\"seconds\":1}\n".into(),
            time("cuda:0", "a", 0.5),
            "{\"event\":\"ended\",\"device\":\"hip:0\",\"outcome\":\"refused\",\"seconds\":0,\"problem\":\"no image\"}\n{\"ev"
                .into(),
        ];
        let all = read(&text.concat());
        let sorted = sort_by_kernel(&all);
        let names: Vec<_> = sorted.iter().map(|result| result.name()).collect();
        assert_eq!(names, [Some("a"), Some("a"), Some("b"), None]);
        let rows: Vec<String> = rows(&sorted).iter().map(|row| row.join("|")).collect();
        let expected = [
            "a|host|2.00 s|500.00 ms|3.00 s|9|1.00",
            "a|cuda:0|500.00 ms|500.00 ms|3.00 s|9|4.00",
            "b|host|12.3 us|500.00 ms|3.00 s|9|1.00",
        ];
        assert_eq!(rows, expected);
        // That a device is not for the benchmarks is no failure.
        assert!(!all.iter().any(BenchResult::is_bad));
        assert!(BenchResult::failure("host", "x").is_bad());
    }
}
