//! The loop over vectors of neighbours in the first dimension, before the one over the rest of a row.
//!
//! ```text
//! offload.vector.vN    the loop header: as many neighbours as a vector has lanes, or the rest
//! offload.entry.vN ... the region (`vector_region`)
//! offload.next.vN      the latch
//! ```

use std::fmt::Write;

use super::FunctionWriter;
use super::latch;
use crate::codegen::region::{Nodes, RegionCopy, write_region};
use crate::codegen::vector_region::{VectorRegion, VectorTarget, vectorize};

impl FunctionWriter<'_, '_> {
    /// Vectorises the regions of the group that have divergent loops.
    pub(super) fn find_vector_regions(&mut self, empty: u64) {
        let plan = self.plan;
        let mut copies = Vec::new();
        for number in 0..plan.regions.len() {
            if !plan.begins_in_chunk(number) && plan.chunk_regions(number).is_empty() {
                copies.push(RegionCopy { region: number, suffix: number, chunk: None, is_warp: false });
            }
        }
        self.find_vectors(copies, self.required_size(0), empty);
    }

    /// Vectorises those of `copies` that have divergent loops, for rows of `row` work-items.
    pub(super) fn find_vectors(&mut self, copies: Vec<RegionCopy>, row: Option<u64>, empty: u64) {
        if !self.context.has_vector_regions {
            return;
        }
        let plan = self.plan;
        let target = VectorTarget { types: self.context.types, vector_bits: self.context.vector_bits, row };
        for copy in copies {
            let text = write_region(plan, copy, Nodes { empty, accesses: empty }, None);
            if let Some(region) = vectorize(plan, copy, &text, &target) {
                self.vector_regions.insert(copy.suffix, region);
            }
        }
        self.has_vector_regions = !self.vector_regions.is_empty();
        self.has_wide_regions = self.vector_regions.values().any(|region| region.is_wide);
    }

    /// Writes the loop over vectors.
    pub(super) fn write_vector_loop(&mut self, n: usize, region: &VectorRegion) {
        let VectorRegion { lanes, body, .. } = region;
        let _ = writeln!(
            self.body,
            "  br label %offload.vector.v{n}\noffload.vector.v{n}:\n  \
             %offload.x.v{n} = phi i64 [ %offload.first.0, %offload.loop.y.p{n} ], [ %offload.behind.v{n}, %offload.next.v{n} ]\n  \
             %offload.behind.v{n} = add nuw nsw i64 %offload.x.v{n}, {lanes}\n  \
             %offload.i.v{n} = add nuw nsw i64 %offload.before.p{n}, %offload.x.v{n}\n  \
             %offload.fits.v{n} = icmp ule i64 %offload.behind.v{n}, %offload.last.0\n  \
             br i1 %offload.fits.v{n}, label %offload.entry.v{n}, label %offload.rest.v{n}\n\
             {body}offload.next.v{n}:\n  br label %offload.vector.v{n}\n\
             offload.rest.v{n}:\n  %offload.is.rest.v{n} = icmp ult i64 %offload.x.v{n}, %offload.last.0\n  \
             br i1 %offload.is.rest.v{n}, label %offload.loop.x.p{n}, label %offload.done.x.p{n}"
        );
    }

    /// Opens the loop over the rest of a row.
    pub(super) fn open_remainder(&mut self, n: usize) {
        let latch = latch(n, 0);
        let _ = writeln!(
            self.body,
            "offload.loop.x.p{n}:\n  %offload.x.p{n} = phi i64 [ %offload.x.v{n}, %offload.rest.v{n} ], \
             [ %offload.x.next.p{n}, %{latch} ]"
        );
    }
}
