//! Lazy reasons of refusals: text for verdicts, nothing for a selection.

/// The reason of a refusal.
pub(super) trait Reason: Sized {
    /// Calls `words` only if the text is needed.
    fn new(words: impl FnOnce() -> String) -> Self;
}

/// A discarded reason.
pub(super) struct Discarded;

impl Reason for Discarded {
    fn new(_words: impl FnOnce() -> String) -> Discarded {
        Discarded
    }
}

impl Reason for String {
    fn new(words: impl FnOnce() -> String) -> String {
        words()
    }
}
