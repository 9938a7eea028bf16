//! The copy of a region for a chunk: a loop over its lanes, and the branch to the next region.
//!
//! Where work-items leave a loop one by one, and all come to it, those that have left repeat the last iteration until all
//! have left: it is idempotent. Where some bypass the loop, each work-item remembers the region in which it is due.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::FunctionWriter;
use super::chunk_region::{ChunkRegion, Scheduling, VECTOR_LANES, region_copy};
use super::successors::{CHUNK_SCOPE, GROUP_SCOPE, Successors, switch_cases};
use crate::codegen::region::{Chunk, Exit, Nodes, RegionCopy, write_region};
use crate::ir::function::Iterations;

/// The copy of a region for a chunk.
struct ChunkCopy<'r> {
    chunk_region: &'r ChunkRegion,
    region: usize,
    chunk: Chunk,
    /// The suffix of the copy.
    suffix: usize,
    /// Its access group.
    accesses: u64,
}

impl FunctionWriter<'_, '_> {
    pub(super) fn write_chunk_copy(&mut self, chunk_region: &ChunkRegion, copy: RegionCopy, empty: u64) {
        let Some(chunk) = copy.chunk else { return };
        let plan = self.plan;
        let n = chunk_region.first;
        let m = copy.suffix;
        let c = chunk.suffix;
        let lanes = chunk.lanes;
        let accesses = self.new_access_group();
        let chunk_copy = ChunkCopy { chunk_region, region: copy.region, chunk, suffix: m, accesses };
        let text = write_region(plan, copy, Nodes { empty, accesses }, None);
        let _ = write!(self.body, "offload.begin.p{m}:\n{}", text.head);
        let codes = self.successor_codes(&chunk_copy);
        self.reset_successors(&codes, CHUNK_SCOPE);
        let _ = writeln!(
            self.body,
            "  br label %offload.lanes.p{m}\noffload.lanes.p{m}:\n  \
             %offload.lane.p{m} = phi i64 [ 0, %offload.begin.p{m} ], [ %offload.lane.next.p{m}, %offload.end.p{m} ]\n  \
             %offload.x.p{m} = add nuw nsw i64 %offload.from.c{c}, %offload.lane.p{m}\n  \
             %offload.y.p{m} = add i64 %offload.y.p{n}, 0\n  %offload.z.p{m} = add i64 %offload.z.p{n}, 0\n  \
             %offload.i.p{m} = add nuw nsw i64 %offload.before.p{n}, %offload.x.p{m}"
        );
        let mask = self.write_due_address(&chunk_copy);
        self.write_work_item(copy, &text, &mask);
        let _ = writeln!(self.body, "offload.end.p{m}:");
        match chunk_region.scheduling {
            Scheduling::Lockstep => self.record_successor(m, &text.exits, CHUNK_SCOPE),
            Scheduling::Scheduled => self.store_due_region(&chunk_copy, &text.exits),
        }
        let properties = self.loop_properties(&chunk_copy);
        let node = self.new_loop_node(&properties);
        let _ = writeln!(
            self.body,
            "{}  %offload.lane.next.p{m} = add nuw nsw i64 %offload.lane.p{m}, 1\n  \
             %offload.lane.again.p{m} = icmp ult i64 %offload.lane.next.p{m}, {lanes}\n  \
             br i1 %offload.lane.again.p{m}, label %offload.lanes.p{m}, label %offload.then.p{m}, !llvm.loop !{node}\n\
             offload.then.p{m}:",
            text.end
        );
        self.publish_group_values(chunk_copy.region, m);
        match chunk_region.scheduling {
            Scheduling::Lockstep => self.branch_in_lockstep(&chunk_copy),
            Scheduling::Scheduled => self.branch_to_due_region(&chunk_copy),
        }
    }

    /// The codes that work-items may record.
    fn successor_codes(&self, copy: &ChunkCopy<'_>) -> BTreeSet<usize> {
        let plan = self.plan;
        let chunk_region = copy.chunk_region;
        match (chunk_region.scheduling, plan.regions.get(copy.region)) {
            (Scheduling::Lockstep, Some(region)) => region.successors.clone(),
            _ => {
                let successors = chunk_region.regions().chain(chunk_region.successors.iter().copied());
                successors.map(|region| chunk_region.successor_code(plan, region)).collect()
            }
        }
    }

    /// Writes the address of the lane's due region. The returned text skips work-items that are due in another one.
    fn write_due_address(&mut self, copy: &ChunkCopy<'_>) -> String {
        if copy.chunk_region.scheduling == Scheduling::Lockstep {
            return String::new();
        }
        let m = copy.suffix;
        let region = copy.region;
        let _ = writeln!(
            self.body,
            "  %offload.due.at.p{m} = getelementptr inbounds i32, ptr %offload.due.c{}, i64 %offload.lane.p{m}",
            copy.chunk.suffix
        );
        // All begin with the first region.
        if region == copy.chunk_region.first {
            return String::new();
        }
        format!(
            "  %offload.due.p{m} = load i32, ptr %offload.due.at.p{m}, !llvm.access.group !{}\n  \
             %offload.is.due.p{m} = icmp eq i32 %offload.due.p{m}, {region}\n  \
             br i1 %offload.is.due.p{m}, label %offload.go.p{m}, label %offload.end.p{m}\noffload.go.p{m}:\n",
            copy.accesses
        )
    }

    /// Stores the region in which the lane is due next.
    fn store_due_region(&mut self, copy: &ChunkCopy<'_>, exits: &[Exit]) {
        let m = copy.suffix;
        let mut operands = Vec::new();
        for exit in exits {
            let code = copy.chunk_region.successor_code(self.plan, exit.successor);
            operands.push(format!("[ {code}, %{} ]", exit.block));
        }
        if copy.region != copy.chunk_region.first {
            operands.push(format!("[ %offload.due.p{m}, %offload.lanes.p{m} ]"));
        }
        // A region without exits is an endless loop.
        let successor = if operands.is_empty() {
            "add i32 0, 0".to_string()
        } else {
            format!("phi i32 {}", operands.join(", "))
        };
        let _ = writeln!(
            self.body,
            "  %offload.to.p{m} = {successor}\n  store i32 %offload.to.p{m}, ptr %offload.due.at.p{m}, !llvm.access.group !{}",
            copy.accesses
        );
        self.merge_successor(&format!("%offload.to.p{m}"), &format!("p{m}"), CHUNK_SCOPE);
    }

    /// The properties of the loop over lanes.
    fn loop_properties(&mut self, copy: &ChunkCopy<'_>) -> String {
        let mut properties = self.parallel_accesses(copy.accesses);
        let bits = u64::from(self.context.vector_bits.min(256));
        let width = bits.checked_div(32).unwrap_or(1).max(1);
        let interleave_count = VECTOR_LANES.checked_div(width).unwrap_or(1);
        let hints = match copy.chunk.lanes {
            1 => vec![],
            VECTOR_LANES => vec![
                format!("\"llvm.loop.vectorize.width\", i32 {width}"),
                format!("\"llvm.loop.interleave.count\", i32 {interleave_count}"),
                // The vectoriser runs later, and needs a loop.
                "\"llvm.loop.unroll.disable\"".to_string(),
            ],
            _ => vec![
                "\"llvm.loop.vectorize.enable\", i1 false".to_string(),
                "\"llvm.loop.unroll.full\"".to_string(),
            ],
        };
        for hint in hints {
            let node = self.new_node();
            let _ = writeln!(self.metadata, "!{node} = !{{!{hint}}}");
            let _ = write!(properties, ", !{node}");
        }
        properties
    }

    /// Branches to the next region of the chunk, or out of it.
    fn branch_in_lockstep(&mut self, copy: &ChunkCopy<'_>) {
        let plan = self.plan;
        let m = copy.suffix;
        let Some(region) = plan.regions.get(copy.region) else { return };
        let mut blocks = BTreeMap::new();
        for successor in &region.successors {
            let block = if plan.begins_in_chunk(*successor) {
                format!("offload.begin.p{}", region_copy(plan, copy.chunk, *successor).suffix)
            } else {
                copy.exit_block(*successor)
            };
            blocks.insert(*successor, block);
        }
        if plan.iterations(copy.region) == Iterations::Repeated && blocks.len() > 1 {
            // The loop has a lower code than the region behind it.
            let _ = writeln!(
                self.body,
                "  %offload.next.p{m} = load i32, ptr %offload.{CHUNK_SCOPE}least\n  \
                 switch i32 %offload.next.p{m}, label %offload.leave [ {} ]",
                switch_cases(&blocks)
            );
        } else {
            self.branch_to_successor(m, &Successors { blocks, end: 0 }, CHUNK_SCOPE);
        }
        let exits = region.successors.iter().copied().filter(|successor| !plan.begins_in_chunk(*successor));
        self.write_exit_blocks(copy, exits);
    }

    /// Branches to the due region with the lowest code; if all lanes are due in the group, they leave the chunk.
    fn branch_to_due_region(&mut self, copy: &ChunkCopy<'_>) {
        let plan = self.plan;
        let chunk_region = copy.chunk_region;
        let m = copy.suffix;
        let mut inner = BTreeMap::new();
        for region in &chunk_region.inner {
            inner
                .insert(*region, format!("offload.begin.p{}", region_copy(plan, copy.chunk, *region).suffix));
        }
        let _ = writeln!(
            self.body,
            "  %offload.first.p{m} = load i32, ptr %offload.{CHUNK_SCOPE}least\n  \
             switch i32 %offload.first.p{m}, label %offload.all.p{m} [ {} ]\noffload.all.p{m}:",
            switch_cases(&inner)
        );
        let mut blocks = BTreeMap::new();
        for successor in &chunk_region.successors {
            blocks.insert(chunk_region.successor_code(plan, *successor), copy.exit_block(*successor));
        }
        self.branch_to_successor(m, &Successors { blocks, end: plan.regions.len() }, CHUNK_SCOPE);
        self.write_exit_blocks(copy, chunk_region.successors.iter().copied());
    }

    /// Writes the blocks that leave the chunk for regions of the group, where there are several.
    fn write_exit_blocks(&mut self, copy: &ChunkCopy<'_>, successors: impl Iterator<Item = usize>) {
        if copy.chunk_region.successors.len() < 2 {
            return;
        }
        let m = copy.suffix;
        for successor in successors {
            let _ = writeln!(self.body, "offload.out{successor}.p{m}:");
            self.merge_successor(&successor.to_string(), &format!("out{successor}.p{m}"), GROUP_SCOPE);
            let _ = writeln!(self.body, "  br label %offload.next.c{}", copy.chunk.suffix);
        }
    }
}

impl ChunkCopy<'_> {
    /// The block that leaves the chunk for region `successor`.
    fn exit_block(&self, successor: usize) -> String {
        if self.chunk_region.successors.len() > 1 {
            format!("offload.out{successor}.p{}", self.suffix)
        } else {
            format!("offload.next.c{}", self.chunk.suffix)
        }
    }
}
