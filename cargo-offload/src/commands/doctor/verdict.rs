//! Texts for the state of a target.

/// Whether a target or a way can be built that lacks these tools.
pub(crate) fn verdict(lacks: &[&str]) -> String {
    if lacks.is_empty() { "yes".into() } else { format!("no: lacks {}", lacks.join(", ")) }
}
