//! The successors of a parallel region.

use std::collections::{BTreeMap, BTreeSet};

/// The prefix of the variables that hold the least and the greatest successor of a group's work-items.
pub(super) const GROUP_SCOPE: &str = "";
/// The same for the work-items of a chunk.
pub(super) const CHUNK_SCOPE: &str = "lane.";

/// The regions that may follow.
pub(super) struct Successors {
    /// The first block of each, by its code.
    pub(super) blocks: BTreeMap<usize, String>,
    /// The code of the end; those of regions follow.
    pub(super) end: usize,
}

impl Successors {
    pub(super) fn for_group(regions: &BTreeSet<usize>) -> Successors {
        let mut blocks = BTreeMap::new();
        for region in regions {
            blocks.insert(*region, first_block(*region));
        }
        Successors { blocks, end: 0 }
    }
}

/// The cases of a switch over codes.
pub(super) fn switch_cases(blocks: &BTreeMap<usize, String>) -> String {
    let cases = blocks.iter().map(|(code, block)| format!("i32 {code}, label %{block}"));
    cases.collect::<Vec<_>>().join(" ")
}

/// The block with which a region of the group begins.
pub(super) fn first_block(region: usize) -> String {
    match region {
        0 => "offload.leave".to_string(),
        region => format!("offload.begin.p{region}"),
    }
}
