//! Work-item loops over short rows, which LLVM's loop vectorizer shall find as loops.
//!
//! LLVM unrolls a loop of known, small trip count wholly before it vectorizes loops. Straight-line code becomes vectors of
//! neighbours again (SLP), but a block under a divergent condition stays scalar. Where neighbours access neighbouring elements,
//! the loop is kept for if-conversion by the vectorizer: 2.9 times as fast for a 5-point stencil of 16 x 16 work-items with
//! AVX2. Where they do not, unrolling is better: in `if (get_local_id(0) == 0)` it leaves the code of one work-item.

use std::fmt::Write;

use super::FunctionWriter;
use crate::analysis::strides::Strides;
use crate::ir::function::Block;

/// The longest row that LLVM may unroll wholly.
const MAX_UNROLLED_ROW: u64 = 64;

impl FunctionWriter<'_, '_> {
    /// The property of the loop over a row of region `n` that LLVM does not unroll it; empty where it may.
    pub(super) fn unrolling_property(&mut self, n: usize) -> String {
        if !self.is_kept_as_loop(n) {
            return String::new();
        }
        let node = self.new_node();
        let _ = writeln!(self.metadata, "!{node} = !{{!\"llvm.loop.unroll.disable\"}}");
        format!(", !{node}")
    }

    fn is_kept_as_loop(&self, n: usize) -> bool {
        let plan = self.plan;
        let is_short = self.required_size(0).is_some_and(|size| size <= MAX_UNROLLED_ROW);
        let Some(region) = plan.regions.get(n).filter(|_| is_short) else { return false };
        let mut blocks: Vec<&Block> = Vec::new();
        let mut has_divergent_branch = false;
        for number in &region.blocks {
            let Some(block) = plan.function.blocks.get(*number) else { continue };
            has_divergent_branch |= plan.values.is_divergent(&block.terminator);
            blocks.push(block);
        }
        has_divergent_branch && self.strides().are_unit(&blocks)
    }

    fn strides(&self) -> &Strides<'_> {
        self.strides.get_or_init(|| Strides::new(self.plan.function, &self.plan.values))
    }
}
