//! Memory that the work-items of a group share, and what they may do with it between two barriers.

use super::random::Random;

/// An array in local memory, or the group's part of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    /// What stands before the index: `tile[`, or `data[base + `.
    pub(super) access: String,
    /// Its elements, a power of two that is no less than the work-items of a group.
    pub(super) elements: u64,
    /// What is valid until the next barrier.
    pub(super) mode: Mode,
}

/// How work-items use a shared array between two barriers, so that no two conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Not at all.
    Closed,
    /// All read any element.
    ReadOnly,
    /// Each reads and writes the element with this index, which is a permutation of local ids.
    Own(String),
    /// All combine numbers into any element with this commutative operation, and do not use what it returns.
    Combine(&'static str),
}

impl Shared {
    /// The element at `index`, which may be any number.
    pub(super) fn element(&self, index: &str) -> String {
        let mask = self.elements.saturating_sub(1);
        format!("{}({index}) & {mask}u]", self.access)
    }
}

/// A mode for the next interval.
pub(super) fn random_mode(random: &mut Random, elements: u64) -> Mode {
    match random.below(10) {
        0 => Mode::Closed,
        1..=4 => Mode::ReadOnly,
        5 => Mode::Combine(random.pick(&["ATOMIC_ADD", "ATOMIC_MAX", "ATOMIC_OR", "ATOMIC_XOR"])),
        _ => Mode::Own(permutation(random, elements)),
    }
}

/// A permutation of the indices, of the local id.
pub(super) fn permutation(random: &mut Random, elements: u64) -> String {
    let number = random.below(elements);
    match random.below(5) {
        0 => "lid".to_string(),
        1 => format!("lid ^ {number}u"),
        2 => format!("lid + {number}u"),
        3 => format!("lid * {}u", number | 1),
        _ => format!("{}u - lid", elements.saturating_sub(1)),
    }
}
