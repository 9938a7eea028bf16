//! The failure of a test on a device.

use std::any::Any;
use std::fmt;

use super::compare::Difference;
use crate::error::{Error, ErrorKind};

/// Why a test does not succeed on a device: values differ, an error, or the device is not for it.
///
/// Every error becomes one by `?`. That no image fits the device is no failure of the test: the device is passed over.
pub struct Failure {
    pub(super) kind: FailureKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FailureKind {
    Different(Difference),
    Refused(String),
    Failed(String),
}

impl Failure {
    /// The test is not for the device, because of `why`.
    ///
    /// ```
    /// use offload_rt::Aspects;
    /// use offload_rt::test::{Failure, for_each_device};
    ///
    /// for_each_device(|device| match Aspects::FP64.missing_from(device.description().aspects()).is_empty() {
    ///     true => Ok(()),
    ///     false => Err(Failure::refused("its numbers have 32 bits")),
    /// });
    /// ```
    pub fn refused(why: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Refused(why.into()) }
    }

    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.kind, FailureKind::Refused(_))
    }

    /// It is one of the device that others are compared with.
    pub(super) fn on_reference(self, label: &str) -> Failure {
        Failure { kind: FailureKind::Failed(format!("on {label}, for comparison: {self}")) }
    }
}

impl<E: std::error::Error + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        let any: &dyn Any = &error;
        let kind = match (any.downcast_ref::<Difference>(), any.downcast_ref::<Error>()) {
            (Some(difference), _) => FailureKind::Different(difference.clone()),
            (_, Some(own)) if own.kind() == ErrorKind::NoFit => FailureKind::Refused(own.to_string()),
            _ => FailureKind::Failed(error.to_string()),
        };
        Failure { kind }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FailureKind::Different(difference) => write!(f, "{difference} (at {})", difference.0.location),
            FailureKind::Refused(why) | FailureKind::Failed(why) => f.write_str(why),
        }
    }
}

/// The same as [`Display`](fmt::Display): a test that returns it is shown with this.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
