//! The loops over chunks of neighbours in the first dimension, which execute an interchanged loop in registers, one chunk
//! after the other.
//!
//! ```text
//! offload.chunk.cN       the loop header: as many neighbours as are left, or the next kind of chunk
//! offload.start.cN       uniform values are restored to those before the first chunk
//! offload.begin.pM ...   the regions (`chunk_copy`)
//! offload.next.cN        the latch
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;

use super::FunctionWriter;
use super::chunk_region::{ChunkRegion, Scheduling, region_copy};
use super::successors::{GROUP_SCOPE, Successors};
use crate::codegen::region::{Chunk, memory_type};

/// The edges of a loop over chunks.
struct ChunkLoopEdges {
    /// The first position.
    first: String,
    /// The block that enters the loop.
    predecessor: String,
    /// The block behind the loop.
    exit: String,
}

impl FunctionWriter<'_, '_> {
    /// Writes the allocas of values that are live across barriers of chunks.
    pub(super) fn write_chunk_allocas(&mut self) {
        let plan = self.plan;
        for number in (0..plan.regions.len()).filter(|number| !plan.begins_in_chunk(*number)) {
            let Some(chunk_region) = ChunkRegion::starting_at(plan, number) else { continue };
            let live = chunk_region.live_values(plan);
            for Chunk { suffix, lanes } in [chunk_region.wide, chunk_region.single] {
                if chunk_region.scheduling == Scheduling::Scheduled {
                    let _ = writeln!(self.body, "  %offload.due.c{suffix} = alloca [{lanes} x i32]");
                }
                for slot in &live {
                    let name = slot.name;
                    let ty = slot.ty.as_deref().map_or("i8", memory_type);
                    let _ =
                        writeln!(self.body, "  %offload.lanes.{name}.c{suffix} = alloca [{lanes} x {ty}]");
                }
            }
        }
    }

    /// Writes the loops over wide chunks and over the remainder.
    pub(super) fn write_chunk_loops(&mut self, chunk_region: &ChunkRegion, empty: u64) {
        let n = chunk_region.first;
        let _ = writeln!(self.body, "offload.begin.p{n}:");
        let restore = self.save_group_values(chunk_region);
        self.reset_successors(&chunk_region.successors, GROUP_SCOPE);
        self.open_rows(n);
        let wide = chunk_region.wide.suffix;
        let single = chunk_region.single.suffix;
        let _ = writeln!(self.body, "  br label %offload.chunk.c{wide}");
        let edges = ChunkLoopEdges {
            first: "%offload.first.0".to_string(),
            predecessor: format!("offload.loop.y.p{n}"),
            exit: format!("offload.chunk.c{single}"),
        };
        self.open_chunk_loop(chunk_region.wide, &edges);
        self.write_chunk(chunk_region, chunk_region.wide, &restore, empty);
        let edges = ChunkLoopEdges {
            first: format!("%offload.from.c{wide}"),
            predecessor: format!("offload.chunk.c{wide}"),
            exit: format!("offload.done.x.p{n}"),
        };
        self.open_chunk_loop(chunk_region.single, &edges);
        self.write_chunk(chunk_region, chunk_region.single, &restore, empty);
        let _ = writeln!(self.body, "offload.done.x.p{n}:");
        // Chunks reuse the variables of those before them: the loops over rows carry dependences.
        self.close_loop(n, 1, "");
        self.close_loop(n, 2, "");
        self.branch_to_successor(n, &Successors::for_group(&chunk_region.successors), GROUP_SCOPE);
    }

    /// Saves the uniform values that the regions define. The returned text restores them at the start of a chunk.
    fn save_group_values(&mut self, chunk_region: &ChunkRegion) -> String {
        let plan = self.plan;
        let n = chunk_region.first;
        let mut defined: BTreeSet<&str> = BTreeSet::new();
        for region in chunk_region.regions().filter_map(|number| plan.regions.get(number)) {
            defined.extend(&region.defined);
        }
        let live_in = plan.regions.get(n).map(|region| &region.live_in);
        let mut restore = String::new();
        for name in defined {
            if let Some(ty) = plan.group_values.get(name)
                && live_in.is_some_and(|live_in| live_in.contains(name))
            {
                let saved = format!("%offload.saved.{name}.p{n}");
                let _ = writeln!(self.body, "  {saved} = load {ty}, ptr %offload.once.{name}");
                let _ = writeln!(restore, "  store {ty} {saved}, ptr %offload.once.{name}");
            }
        }
        restore
    }

    fn open_chunk_loop(&mut self, Chunk { suffix: c, lanes }: Chunk, edges: &ChunkLoopEdges) {
        let ChunkLoopEdges { first, predecessor, exit } = edges;
        let _ = writeln!(
            self.body,
            "offload.chunk.c{c}:\n  %offload.from.c{c} = phi i64 [ {first}, %{predecessor} ], [ %offload.behind.c{c}, %offload.next.c{c} ]\n  \
             %offload.behind.c{c} = add nuw nsw i64 %offload.from.c{c}, {lanes}\n  \
             %offload.fits.c{c} = icmp ule i64 %offload.behind.c{c}, %offload.last.0\n  \
             br i1 %offload.fits.c{c}, label %offload.start.c{c}, label %{exit}"
        );
    }

    /// Writes the body of a loop over chunks.
    fn write_chunk(&mut self, chunk_region: &ChunkRegion, chunk: Chunk, restore: &str, empty: u64) {
        let c = chunk.suffix;
        let first = region_copy(self.plan, chunk, chunk_region.first).suffix;
        let _ = writeln!(self.body, "offload.start.c{c}:\n{restore}  br label %offload.begin.p{first}");
        for region in chunk_region.regions() {
            self.write_chunk_copy(chunk_region, region_copy(self.plan, chunk, region), empty);
        }
        let _ = writeln!(self.body, "offload.next.c{c}:\n  br label %offload.chunk.c{c}");
    }
}
