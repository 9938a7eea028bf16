//! Why a command does not run on another machine.

use crate::fault::Fault;
use crate::notes::Topic;

/// Why a command does not run there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The settings, or the server, or its workers: it stays so.
    Standing(Topic, String),
    /// Something went wrong.
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}
