//! A version of each region for whole warps: all lanes of a warp are due in the region, and the warp is a part of a row of
//! its work-group, so that the lanes are a loop with neighbouring positions, which becomes vectors.
//!
//! ```text
//! offload.whole.pN    the region's uniform values
//! offload.lanes.pS    the loop over the lanes, or over vectors of them
//! offload.done.pS     the next region: at once, if it is the same for all lanes and follows a barrier of the warp
//! ```

use std::fmt::Write;

use super::FunctionWriter;
use crate::WARP_SIZE;
use crate::codegen::plan::due;
use crate::codegen::region::{Nodes, RegionCopy, RegionText, write_region};
use crate::codegen::vector_region::VectorRegion;
use crate::options::Validity;

/// More instructions are compiled faster than they run.
const MAX_INSTRUCTIONS: usize = 2000;

impl FunctionWriter<'_, '_> {
    /// Whether regions have versions for whole warps. Functions on sub-groups are computed by the first lane for all, so that
    /// the order of lanes matters.
    pub(super) fn has_warp_versions(&self) -> bool {
        self.plan.validity == Validity::RaceFree
            && self.context.has_versions
            && !self.context.has_sub_groups
            && self.context.warp_size == WARP_SIZE
            && self.plan.function.instructions().count() <= MAX_INSTRUCTIONS
    }

    /// The copy of region `n` for whole warps.
    fn warp_copy(&self, n: usize) -> RegionCopy {
        let suffix = self.plan.regions.len().saturating_add(n);
        RegionCopy { region: n, suffix, chunk: None, is_warp: true }
    }

    /// Vectorises regions with divergent loops for whole warps.
    pub(super) fn find_warp_vectors(&mut self, empty: u64) {
        let copies = (0..self.plan.regions.len()).map(|n| self.warp_copy(n)).collect();
        self.find_vectors(copies, Some(u64::from(WARP_SIZE)), empty);
    }

    /// Writes the version of region `n` for whole warps.
    pub(super) fn write_warp_version(&mut self, n: usize, empty: u64) {
        let accesses = self.new_access_group();
        let copy = self.warp_copy(n);
        let s = copy.suffix;
        let text = write_region(self.plan, copy, Nodes { empty, accesses }, None);
        let _ = write!(
            self.body,
            "offload.whole.p{n}:\n{head}  \
             %offload.y.p{s} = add i64 %offload.warp.y, 0\n  \
             %offload.z.p{s} = add i64 %offload.warp.z, 0\n",
            head = text.head,
        );
        match self.vector_regions.remove(&s) {
            Some(region) => self.write_lane_vectors(n, s, &region),
            None => self.write_lane_row(copy, &text, accesses),
        }
        self.write_next_region(n, s);
    }

    fn write_lane_row(&mut self, copy: RegionCopy, text: &RegionText, accesses: u64) {
        let (n, s) = (copy.region, copy.suffix);
        let _ = write!(
            self.body,
            "  br label %offload.lanes.p{s}\n\
             offload.lanes.p{s}:\n  \
             %offload.lane.p{s} = phi i64 [ 0, %offload.whole.p{n} ], [ %offload.lane.next.p{s}, %offload.end.p{s} ]\n  \
             %offload.x.p{s} = or disjoint i64 %offload.warp.x, %offload.lane.p{s}\n  \
             %offload.i.p{s} = add nuw nsw i64 %offload.warp, %offload.lane.p{s}\n",
        );
        self.write_work_item(copy, text, "");
        let _ = writeln!(self.body, "offload.end.p{s}:");
        if self.has_several_successors(n) {
            self.store_due_code(s, &text.exits, &format!(", !llvm.access.group !{accesses}"));
        }
        let parallel = self.parallel_accesses(accesses);
        let once = self.new_node();
        let _ = writeln!(self.metadata, "!{once} = !{{!\"llvm.loop.unroll.disable\"}}");
        let node = self.new_loop_node(&format!("{parallel}, !{once}"));
        let _ = write!(
            self.body,
            "  %offload.lane.next.p{s} = add nuw nsw i64 %offload.lane.p{s}, 1\n  \
             %offload.lane.again.p{s} = icmp ult i64 %offload.lane.next.p{s}, {WARP_SIZE}\n  \
             br i1 %offload.lane.again.p{s}, label %offload.lanes.p{s}, label %offload.done.p{s}, !llvm.loop !{node}\n"
        );
    }

    fn write_lane_vectors(&mut self, n: usize, s: usize, region: &VectorRegion) {
        let VectorRegion { lanes, body, .. } = region;
        let _ = write!(
            self.body,
            "  br label %offload.vector.v{s}\n\
             offload.vector.v{s}:\n  \
             %offload.lane.v{s} = phi i64 [ 0, %offload.whole.p{n} ], [ %offload.behind.v{s}, %offload.next.v{s} ]\n  \
             %offload.behind.v{s} = add nuw nsw i64 %offload.lane.v{s}, {lanes}\n  \
             %offload.x.v{s} = or disjoint i64 %offload.warp.x, %offload.lane.v{s}\n  \
             %offload.i.v{s} = add nuw nsw i64 %offload.warp, %offload.lane.v{s}\n  \
             br label %offload.entry.v{s}\n\
             {body}offload.next.v{s}:\n  \
             %offload.again.v{s} = icmp ult i64 %offload.behind.v{s}, {WARP_SIZE}\n  \
             br i1 %offload.again.v{s}, label %offload.vector.v{s}, label %offload.done.p{s}\n"
        );
    }

    fn has_several_successors(&self, n: usize) -> bool {
        self.plan.regions.get(n).is_some_and(|region| region.successors.len() > 1)
    }

    /// Writes the branch from region `n` to the next; where lanes diverge, the scheduler chooses.
    fn write_next_region(&mut self, n: usize, s: usize) {
        let successors = self.plan.regions.get(n).map(|region| region.successors.clone()).unwrap_or_default();
        let _ = writeln!(self.body, "offload.done.p{s}:");
        let mut cases = String::new();
        for successor in &successors {
            let code = self.plan.due_code(*successor);
            let _ = write!(cases, " i32 {code}, label %offload.to{successor}.p{s}");
        }
        match successors.first() {
            Some(only) if successors.len() == 1 => {
                let _ = writeln!(self.body, "  br label %offload.to{only}.p{s}");
            }
            // A region without exits is an endless loop.
            None => {
                let _ = writeln!(self.body, "  br label %offload.next");
            }
            Some(_) => {
                let _ = write!(
                    self.body,
                    "  %offload.codes.p{s} = load <{WARP_SIZE} x i32>, ptr %offload.lanes, align 4\n  \
                     %offload.code.p{s} = extractelement <{WARP_SIZE} x i32> %offload.codes.p{s}, i64 0\n  \
                     %offload.code.one.p{s} = insertelement <{WARP_SIZE} x i32> poison, i32 %offload.code.p{s}, i64 0\n  \
                     %offload.code.all.p{s} = shufflevector <{WARP_SIZE} x i32> %offload.code.one.p{s}, <{WARP_SIZE} x i32> poison, <{WARP_SIZE} x i32> zeroinitializer\n  \
                     %offload.code.bits.p{s} = icmp ne <{WARP_SIZE} x i32> %offload.codes.p{s}, %offload.code.all.p{s}\n  \
                     %offload.code.mask.p{s} = bitcast <{WARP_SIZE} x i1> %offload.code.bits.p{s} to i{WARP_SIZE}\n  \
                     %offload.code.same.p{s} = icmp eq i{WARP_SIZE} %offload.code.mask.p{s}, 0\n  \
                     br i1 %offload.code.same.p{s}, label %offload.same.p{s}, label %offload.next\n\
                     offload.same.p{s}:\n  \
                     switch i32 %offload.code.p{s}, label %offload.next [{cases} ]\n"
                );
            }
        }
        for successor in successors {
            self.write_branch_to(successor, s);
        }
    }

    /// Writes the branch of a whole warp to region `successor`.
    fn write_branch_to(&mut self, successor: usize, s: usize) {
        let code = self.plan.due_code(successor);
        let _ = writeln!(self.body, "offload.to{successor}.p{s}:");
        if code >= due::BLOCK {
            let _ = writeln!(
                self.body,
                "  store <{WARP_SIZE} x i32> splat (i32 {}), ptr %offload.lanes, align 4\n  br label %offload.stalled",
                code.cast_signed()
            );
            return;
        }
        let _ =
            writeln!(self.body, "  call void @__offload_warp_pass()\n  br label %offload.whole.p{successor}");
    }
}
