//! Results that are known to be outside of the specification, and why: whatever else is wrong fails the task.

use super::case::Case;

struct Known {
    /// Start of the target.
    target: &'static str,
    built_ins: &'static [&'static str],
    cause: &'static str,
}

const KNOWN: &[Known] = &[];

/// Why results of the case are wrong on the target, if that is known.
pub(super) fn cause(target: &str, case: &Case) -> Option<&'static str> {
    let covers = |known: &&Known| target.starts_with(known.target) && known.built_ins.contains(&case.built_in);
    KNOWN.iter().find(covers).map(|known| known.cause)
}
