//! Reasons for declining an execution.

use crate::fault::Fault;
use crate::notes::Topic;

/// The reason for declining an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Permanent, by the settings, the server or its workers.
    Standing(Topic, String),
    /// A fault of this call.
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}
