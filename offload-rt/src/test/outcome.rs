//! The outcome of a test on a device.

use std::any::Any;
use std::time::Duration;

use super::compare::Difference;
use super::failure::{Failure, FailureKind};

/// A test's end on a device.
#[derive(Clone, Debug)]
pub(super) struct DeviceOutcome {
    /// As it is called in `OFFLOAD_TEST_DEVICE`.
    pub(super) label: String,
    /// For people.
    pub(super) device: String,
    pub(super) outcome: Outcome,
    pub(super) time: Duration,
}

/// The result of a run: it has succeeded if everything ran on some device and nothing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunResult {
    Succeeded,
    Failed,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Right,
    Wrong(Difference),
    Failed(String),
    Refused(String),
}

impl Outcome {
    pub(super) fn from_result(result: Result<(), Failure>) -> Outcome {
        match result.map_err(|failure| failure.kind) {
            Ok(()) => Outcome::Right,
            Err(FailureKind::Different(difference)) => Outcome::Wrong(difference),
            Err(FailureKind::Refused(why)) => Outcome::Refused(why),
            Err(FailureKind::Failed(problem)) => Outcome::Failed(problem),
        }
    }

    /// The payload of a panic is a string, unless the program uses `panic_any`.
    pub(super) fn from_panic(panic: &(dyn Any + Send)) -> Outcome {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Outcome::Failed(text.unwrap_or("the test panicked").to_string())
    }

    /// The word that stands for it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Outcome::Right => "right",
            Outcome::Wrong(_) => "wrong",
            Outcome::Failed(_) => "failed",
            Outcome::Refused(_) => "refused",
        }
    }

    /// The text of a failure or refusal.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Outcome::Right => None,
            Outcome::Wrong(difference) => Some(difference.to_string()),
            Outcome::Failed(text) | Outcome::Refused(text) => Some(text.clone()),
        }
    }
}
