//! Outcome of a test on a device.

use serde::{Deserialize, Serialize};

/// A test on a device, or without one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) package: String,
    /// The program that it is in, as `hello (bin)`.
    pub(super) program: String,
    pub(super) test: String,
    /// As `cuda:0`; none of a test that has taken no device.
    pub(super) device: Option<String>,
    #[serde(flatten)]
    pub(super) end: TestResult,
    pub(super) seconds: f64,
    /// Output of the test's process, if it failed.
    pub(super) output: Option<String>,
}

/// The end, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TestResult {
    pub(super) outcome: Outcome,
    pub(super) problem: Option<String>,
    /// First difference of values.
    pub(super) difference: Option<Difference>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// It did not run, because its source says so.
    Ignored,
    /// It was not for the device.
    Refused,
    /// Without a device.
    Passed,
    Right,
    /// A value is not as expected.
    Wrong,
    /// An error or a panic.
    Failed,
    /// It took longer than it may.
    Hung,
    /// Its process ended by a signal, or in the middle.
    Crashed,
}

/// The first value that is not as expected. Numbers are texts, because JSON has no NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Difference {
    pub(super) index: u64,
    pub(super) got: String,
    pub(super) expected: String,
    pub(super) ulps: Option<u64>,
    /// Number of differing values.
    pub(super) differing: u64,
    /// Source position of the comparison.
    pub(super) location: String,
}

impl Outcome {
    /// Whether it is a failure.
    pub(super) fn is_bad(self) -> bool {
        matches!(self, Outcome::Wrong | Outcome::Failed | Outcome::Hung | Outcome::Crashed)
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Outcome::Ignored => "ignored",
            Outcome::Refused => "refused",
            Outcome::Passed => "passed",
            Outcome::Right => "right",
            Outcome::Wrong => "wrong",
            Outcome::Failed => "failed",
            Outcome::Hung => "hung",
            Outcome::Crashed => "crashed",
        }
    }
}

impl TestResult {
    pub(super) fn new(outcome: Outcome) -> TestResult {
        TestResult { outcome, problem: None, difference: None }
    }

    pub(super) fn because(outcome: Outcome, problem: impl Into<String>) -> TestResult {
        TestResult { outcome, problem: Some(problem.into()), difference: None }
    }
}
