//! Times of builds: by the clock, and of all processors.

use std::collections::BTreeMap;
use std::fmt;
use std::process::Command;
use std::time::Instant;

use crate::median;
use offload_tests::error::{Error, Result};

/// A way to build the kernels.
pub(crate) trait Side {
    fn name(&self) -> &'static str;
    /// The build of the first profile, or the second.
    fn build(&self, profile: Profile) -> Command;
    /// As on the first day, but for the Rust crates, which have no kernels.
    fn forget_everything(&self) -> Result<()>;
    /// As if the second profile had never been built; what caches know stays.
    fn forget_second_profile(&self) -> Result<()>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    First,
    Second,
}

/// What happened before a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scenario {
    Full,
    OneChanged,
    Unchanged,
    NewProfile,
}

/// Seconds of one build.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) wall: f64,
    /// Of all its processes, where the system counts them.
    pub(crate) cpu: Option<f64>,
}

/// All samples, by scenario and name of the side.
#[derive(Debug, Default)]
pub(super) struct Samples(BTreeMap<(Scenario, &'static str), Vec<Sample>>);

impl Scenario {
    pub(super) const ALL: [Scenario; 4] =
        [Scenario::Full, Scenario::OneChanged, Scenario::Unchanged, Scenario::NewProfile];

    pub(super) fn profile(self) -> Profile {
        if self == Scenario::NewProfile { Profile::Second } else { Profile::First }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scenario::Full => "full build",
            Scenario::OneChanged => "one file changed",
            Scenario::Unchanged => "unchanged",
            Scenario::NewProfile => "new profile",
        })
    }
}

impl Samples {
    pub(super) fn add(&mut self, scenario: Scenario, side: &dyn Side, sample: Sample) {
        self.0.entry((scenario, side.name())).or_default().push(sample);
    }

    pub(super) fn get(&self, scenario: Scenario, side: &str) -> &[Sample] {
        let found = self.0.iter().find(|((other, name), _)| *other == scenario && *name == side);
        found.map(|(_, samples)| samples.as_slice()).unwrap_or_default()
    }

    /// The fastest build: what a busy machine adds is not the side's.
    pub(super) fn fastest(&self, scenario: Scenario, side: &str) -> f64 {
        self.get(scenario, side).iter().map(|sample| sample.wall).fold(f64::INFINITY, f64::min)
    }

    pub(super) fn median(&self, scenario: Scenario, side: &str) -> f64 {
        median(self.get(scenario, side).iter().map(|sample| sample.wall).collect())
    }

    pub(super) fn median_cpu(&self, scenario: Scenario, side: &str) -> Option<f64> {
        let cpu: Option<Vec<f64>> = self.get(scenario, side).iter().map(|sample| sample.cpu).collect();
        cpu.map(median)
    }
}

/// Runs the build of a scenario.
pub(super) fn sample(side: &dyn Side, scenario: Scenario) -> Result<Sample> {
    timed(&mut side.build(scenario.profile()))
}

/// Runs a command.
pub(crate) fn timed(command: &mut Command) -> Result<Sample> {
    let before = children_cpu();
    let start = Instant::now();
    run(command)?;
    let wall = start.elapsed().as_secs_f64();
    let cpu = children_cpu().zip(before).map(|(after, before)| after - before);
    Ok(Sample { wall, cpu })
}

/// Runs a command; what it printed is shown if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

/// What a command prints; it is shown, with what it complained of, if it fails.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output =
        command.output().map_err(|error| Error::new(format!("`{command:?}` did not start: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = [output.stdout, output.stderr].concat();
    Err(Error::new(format!(
        "{}\n`{command:?}`: {}",
        String::from_utf8_lossy(&text).trim_end(),
        output.status
    )))
}

/// Seconds that the processors spent on ended children and theirs
/// (<https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>, `cutime` and `cstime`).
fn children_cpu() -> Option<f64> {
    /// `sysconf(_SC_CLK_TCK)` on every Linux.
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may hold spaces; the state behind it is field 3.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<u32> =
        rest.split_whitespace().skip(13).take(2).filter_map(|field| field.parse().ok()).collect();
    match fields.as_slice() {
        [user, system] => Some(f64::from(user.saturating_add(*system)) / TICKS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_one_counts() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn children_are_charged() {
        let before = children_cpu().unwrap();
        run(Command::new("sh").args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"])).unwrap();
        assert!(children_cpu().unwrap() > before);
    }

    #[test]
    fn failures_are_shown() {
        let error = run(Command::new("sh").args(["-c", "echo why; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("why") && error.contains('3'), "{error}");
    }
}
