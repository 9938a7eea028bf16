//! Names of an embedded pack.

/// The names that an object of a module goes by; no two crates may share them.
#[derive(Debug)]
pub(super) struct Names {
    /// Of the static library, without `lib` and `.a`.
    pub(super) archive: String,
    /// The symbol on the descriptor.
    pub(super) anchor: String,
}
