//! Lazy refusals: made for candidates and errors, discarded by a selection.

use crate::refusal::Refusal;

/// A refusal, or its absence.
pub(super) trait Reason: Sized {
    /// Calls `refusal` only if it is needed.
    fn new(refusal: impl FnOnce() -> Refusal) -> Self;
}

/// A discarded refusal.
pub(super) struct Discarded;

impl Reason for Discarded {
    fn new(_refusal: impl FnOnce() -> Refusal) -> Discarded {
        Discarded
    }
}

impl Reason for Refusal {
    fn new(refusal: impl FnOnce() -> Refusal) -> Refusal {
        refusal()
    }
}
