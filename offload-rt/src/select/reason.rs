//! Why an image is refused: words where somebody reads them, nothing for a choice, which makes none.

/// What a rule answers where it refuses.
pub(super) trait Reason: Sized {
    /// `words` are made only if they are wanted.
    fn new(words: impl FnOnce() -> String) -> Self;
}

/// A reason that nobody reads.
pub(super) struct Unread;

impl Reason for Unread {
    fn new(_words: impl FnOnce() -> String) -> Unread {
        Unread
    }
}

impl Reason for String {
    fn new(words: impl FnOnce() -> String) -> String {
        words()
    }
}
