//! The ways on from a piece.

use std::collections::{BTreeMap, BTreeSet};

/// What the names of variables begin with that tell where all work-items of a group go on.
pub(super) const GROUP: &str = "";
/// The same for neighbours.
pub(super) const LANES: &str = "lane.";

/// Where work-items can go on.
pub(super) struct Ways {
    /// The block that each next piece begins with, by the number that tells of it.
    pub(super) blocks: BTreeMap<usize, String>,
    /// The number that tells of the end; those of pieces follow.
    pub(super) end: usize,
}

impl Ways {
    pub(super) fn of_group(next: &BTreeSet<usize>) -> Ways {
        Ways { blocks: next.iter().map(|next| (*next, begin(*next))).collect(), end: 0 }
    }
}

/// The cases of a switch.
pub(super) fn switched(ways: &BTreeMap<usize, String>) -> String {
    let ways = ways.iter().map(|(next, block)| format!("i32 {next}, label %{block}"));
    ways.collect::<Vec<_>>().join(" ")
}

/// The block that a piece of the group begins with.
pub(super) fn begin(piece: usize) -> String {
    match piece {
        0 => "offload.leave".to_string(),
        piece => format!("offload.begin.p{piece}"),
    }
}
