//! Independent thread scheduling: the work-group function of a kernel with barriers of CUDA, or with sub-groups.
//!
//! Each work-item has a code of the region that is due, behind the slots of the context. A warp of neighbours executes
//! one region after the other, each for those of its lanes that are due there, until all of them wait at a barrier of the
//! block or have returned (hierarchical collapsing: R. Han, J. Lee, J. Sim and H. Kim,
//! [COX: Exposing CUDA Warp-level Functions to CPUs](https://doi.org/10.1145/3554736), TACO 2022). Then the next warp does;
//! when all wait, the block goes on. `__offload_warp_next` and `__offload_block_next` of the runtime choose.
//!
//! ```text
//! offload.block          all work-items are due in the first region
//! offload.warps          each warp, one after the other
//! offload.next           the region that is due in the warp, and the lanes that execute it
//! offload.begin.pN ...   the regions, each a loop over those lanes
//! offload.stalled        the latch of the loop over warps
//! offload.released       the next round of the block, unless all have returned
//! ```

use std::fmt::Write;

use super::FunctionWriter;
use crate::WARP_SIZE;
use crate::codegen::region::{Exit, Nodes, RegionCopy, write_region};

impl FunctionWriter<'_, '_> {
    /// Writes the regions for work-items that are scheduled independently.
    pub(super) fn write_independent_regions(&mut self, empty: u64) {
        let regions = self.plan.regions.len();
        let has_warp_versions = self.has_warp_versions();
        if has_warp_versions {
            self.find_warp_vectors(empty);
        }
        self.write_prologue(empty);
        self.write_scheduler();
        for number in 0..regions {
            let _ = writeln!(self.body, "offload.begin.p{number}:");
            if has_warp_versions {
                let _ = write!(
                    self.body,
                    "  %offload.is.whole.p{number} = icmp eq i32 %offload.active, %offload.all.lanes\n  \
                     br i1 %offload.is.whole.p{number}, label %offload.whole.p{number}, label %offload.some.p{number}\n"
                );
                self.write_warp_version(number, empty);
            } else {
                let _ = writeln!(self.body, "  br label %offload.some.p{number}");
            }
            let accesses = self.new_access_group();
            self.write_lane_loop(number, Nodes { empty, accesses });
        }
    }

    fn write_scheduler(&mut self) {
        let offset = self.plan.due_offset();
        let size = self.context.warp_size;
        let low = i64::from(WARP_SIZE.saturating_sub(1));
        let high = !low;
        let mut cases = String::new();
        for number in 0..self.plan.regions.len() {
            let code = self.plan.schedule_position(number);
            let _ = write!(cases, " i32 {code}, label %offload.begin.p{number}");
        }
        let _ = write!(
            self.body,
            "  %offload.width = trunc i64 %offload.local_size.0 to i32\n  \
             %offload.height = trunc i64 %offload.local_size.1 to i32\n  \
             %offload.width.rest = and i64 %offload.local_size.0, {low}\n  \
             %offload.width.of.warps = sub i64 %offload.local_size.0, %offload.width.rest\n  \
             %offload.has.rows = icmp eq i64 %offload.width.rest, 0\n  \
             %offload.all.lanes = sext i1 %offload.has.rows to i32\n  \
             %offload.due.offset = mul nuw i64 %offload.count, {offset}\n  \
             %offload.due = getelementptr inbounds i8, ptr %offload.frame, i64 %offload.due.offset\n  \
             br label %offload.block\n\
             offload.block:\n  \
             call void @__offload_block_begin(ptr %offload.due, i64 %offload.count)\n  \
             br label %offload.warps\n\
             offload.warps:\n  \
             %offload.warp = phi i64 [ 0, %offload.block ], [ 0, %offload.released ], [ %offload.warp.next, %offload.stalled ]\n  \
             %offload.lanes = getelementptr inbounds i32, ptr %offload.due, i64 %offload.warp\n  \
             %offload.items.left = sub i64 %offload.count, %offload.warp\n  \
             %offload.is_last = icmp ult i64 %offload.items.left, {size}\n  \
             %offload.lanes.left = select i1 %offload.is_last, i64 %offload.items.left, i64 {size}\n  \
             %offload.warp.first = urem i64 %offload.warp, %offload.local_size.0\n  \
             %offload.warp.x = and i64 %offload.warp.first, {high}\n  \
             %offload.warp.row = udiv i64 %offload.warp, %offload.local_size.0\n  \
             %offload.warp.y = urem i64 %offload.warp.row, %offload.local_size.1\n  \
             %offload.warp.z = udiv i64 %offload.warp.row, %offload.local_size.1\n  \
             br label %offload.next\n\
             offload.next:\n  \
             %offload.chosen = call i64 @__offload_warp_next(ptr %offload.lanes, i64 %offload.lanes.left)\n  \
             %offload.region = trunc i64 %offload.chosen to i32\n  \
             %offload.active.high = lshr i64 %offload.chosen, 32\n  \
             %offload.active = trunc i64 %offload.active.high to i32\n  \
             switch i32 %offload.region, label %offload.stalled [{cases} ]\n\
             offload.stalled:\n  \
             %offload.warp.next = add nuw i64 %offload.warp, {size}\n  \
             %offload.warp.again = icmp ult i64 %offload.warp.next, %offload.count\n  \
             br i1 %offload.warp.again, label %offload.warps, label %offload.waiting\n\
             offload.waiting:\n  \
             %offload.goes.on = call i32 @__offload_block_next(ptr %offload.due, i64 %offload.count)\n  \
             %offload.ended = icmp eq i32 %offload.goes.on, 0\n  \
             br i1 %offload.ended, label %offload.leave, label %offload.released\n\
             offload.released:\n  br label %offload.warps\n"
        );
    }

    /// Writes region `n` as a loop over the lanes in `%offload.active`, the lowest first. A lane in the row of the one before
    /// needs no division for its position.
    fn write_lane_loop(&mut self, n: usize, nodes: Nodes) {
        let copy = RegionCopy { region: n, suffix: n, chunk: None, is_warp: false };
        let text = write_region(self.plan, copy, nodes, None);
        let _ = write!(
            self.body,
            "offload.some.p{n}:\n{head}  br label %offload.lanes.p{n}\n\
             offload.lanes.p{n}:\n  \
             %offload.left.p{n} = phi i32 [ %offload.active, %offload.some.p{n} ], [ %offload.rest.p{n}, %offload.end.p{n} ]\n  \
             %offload.i.before.p{n} = phi i64 [ %offload.warp, %offload.some.p{n} ], [ %offload.i.p{n}, %offload.end.p{n} ]\n  \
             %offload.x.before.p{n} = phi i64 [ %offload.warp.first, %offload.some.p{n} ], [ %offload.x.p{n}, %offload.end.p{n} ]\n  \
             %offload.y.before.p{n} = phi i64 [ %offload.warp.y, %offload.some.p{n} ], [ %offload.y.p{n}, %offload.end.p{n} ]\n  \
             %offload.z.before.p{n} = phi i64 [ %offload.warp.z, %offload.some.p{n} ], [ %offload.z.p{n}, %offload.end.p{n} ]\n  \
             %offload.lane.p{n} = call i32 @__offload_warp_lane(i32 %offload.left.p{n})\n  \
             %offload.lane.wide.p{n} = zext i32 %offload.lane.p{n} to i64\n  \
             %offload.i.p{n} = add nuw i64 %offload.warp, %offload.lane.wide.p{n}\n  \
             %offload.step.p{n} = sub nuw i64 %offload.i.p{n}, %offload.i.before.p{n}\n  \
             %offload.x.near.p{n} = add nuw i64 %offload.x.before.p{n}, %offload.step.p{n}\n  \
             %offload.is.near.p{n} = icmp ult i64 %offload.x.near.p{n}, %offload.local_size.0\n  \
             br i1 %offload.is.near.p{n}, label %offload.placed.p{n}, label %offload.far.p{n}\n\
             offload.far.p{n}:\n  \
             %offload.i.narrow.p{n} = trunc i64 %offload.i.p{n} to i32\n  \
             %offload.x.narrow.p{n} = urem i32 %offload.i.narrow.p{n}, %offload.width\n  \
             %offload.row.p{n} = udiv i32 %offload.i.narrow.p{n}, %offload.width\n  \
             %offload.y.narrow.p{n} = urem i32 %offload.row.p{n}, %offload.height\n  \
             %offload.z.narrow.p{n} = udiv i32 %offload.row.p{n}, %offload.height\n  \
             %offload.x.far.p{n} = zext i32 %offload.x.narrow.p{n} to i64\n  \
             %offload.y.far.p{n} = zext i32 %offload.y.narrow.p{n} to i64\n  \
             %offload.z.far.p{n} = zext i32 %offload.z.narrow.p{n} to i64\n  \
             br label %offload.placed.p{n}\n\
             offload.placed.p{n}:\n  \
             %offload.x.p{n} = phi i64 [ %offload.x.near.p{n}, %offload.lanes.p{n} ], [ %offload.x.far.p{n}, %offload.far.p{n} ]\n  \
             %offload.y.p{n} = phi i64 [ %offload.y.before.p{n}, %offload.lanes.p{n} ], [ %offload.y.far.p{n}, %offload.far.p{n} ]\n  \
             %offload.z.p{n} = phi i64 [ %offload.z.before.p{n}, %offload.lanes.p{n} ], [ %offload.z.far.p{n}, %offload.far.p{n} ]\n",
            head = text.head,
        );
        self.write_work_item(copy, &text, "");
        let _ = writeln!(self.body, "offload.end.p{n}:");
        self.store_due_code(n, &text.exits, "");
        let _ = write!(
            self.body,
            "{end}  %offload.below.p{n} = sub i32 %offload.left.p{n}, 1\n  \
             %offload.rest.p{n} = and i32 %offload.left.p{n}, %offload.below.p{n}\n  \
             %offload.again.p{n} = icmp ne i32 %offload.rest.p{n}, 0\n  \
             br i1 %offload.again.p{n}, label %offload.lanes.p{n}, label %offload.next\n",
            end = text.end,
        );
    }

    /// Stores the code of the region that is due next for the work-item, by a store with `metadata`.
    pub(super) fn store_due_code(&mut self, n: usize, exits: &[Exit], metadata: &str) {
        // A region without exits is an endless loop.
        if exits.is_empty() {
            return;
        }
        let mut operands = Vec::new();
        for exit in exits {
            operands.push(format!("[ {}, %{} ]", self.plan.due_code(exit.successor), exit.block));
        }
        let _ = writeln!(
            self.body,
            "  %offload.to.p{n} = phi i32 {}\n  \
             %offload.due.at.p{n} = getelementptr inbounds i32, ptr %offload.due, i64 %offload.i.p{n}\n  \
             store i32 %offload.to.p{n}, ptr %offload.due.at.p{n}, align 4{metadata}",
            operands.join(", ")
        );
    }
}
