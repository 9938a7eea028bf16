//! Pieces that neighbours in the first dimension go through side by side: a loop of the source goes on in registers for
//! a few of them, and then for the next few.
//!
//! ```text
//! offload.chunk.cN       so many neighbours as are left, or the next kind of chunk
//! offload.start.cN       what is equal for all is as it was before the first chunk
//! offload.begin.pM ...   the pieces (`copy`), one after the other
//! offload.next.cN        the next neighbours
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Writer;
use super::region::{Region, Waiting, place};
use super::ways::{GROUP, Ways};
use crate::ir::work_items::piece::{Chunk, stored};
use crate::ir::work_items::plan::Holder;

/// Where a loop over chunks is entered and left.
struct Around {
    /// The first position, and the block that it comes from.
    first: String,
    before: String,
    behind: String,
}

impl Writer<'_, '_> {
    /// Variables for what neighbours keep.
    pub(super) fn lanes(&mut self) {
        let plan = self.plan;
        let groups = (0..plan.pieces.len()).filter(|number| !plan.is_of_lanes(*number));
        for region in groups.filter_map(|number| Region::of(plan, number)).collect::<Vec<_>>() {
            for Chunk { mark, lanes } in [region.wide, region.single] {
                if region.waiting == Waiting::Apart {
                    let _ = writeln!(self.body, "  %offload.due.c{mark} = alloca [{lanes} x i32]");
                }
                let slots = plan.slots.iter().filter(|slot| slot.holder == Holder::Lanes);
                for slot in slots.filter(|slot| region.keeps(plan, slot.name)) {
                    let (name, ty) = (slot.name, slot.ty.as_deref().map(stored).unwrap_or("i8"));
                    let _ = writeln!(self.body, "  %offload.lanes.{name}.c{mark} = alloca [{lanes} x {ty}]");
                }
            }
        }
    }

    /// A piece of the group, and those that neighbours go through before the group is together again.
    pub(super) fn chunks(&mut self, region: &Region, empty: u64) {
        let n = region.first;
        let _ = writeln!(self.body, "offload.begin.p{n}:");
        let renewed = self.saved_once(region);
        self.expect(&region.next, GROUP);
        self.open_rows(n);
        let (wide, single) = (region.wide.mark, region.single.mark);
        let _ = writeln!(self.body, "  br label %offload.chunk.c{wide}");
        let (before, behind) = (format!("offload.loop.y.p{n}"), format!("offload.chunk.c{single}"));
        let around = Around { first: "%offload.first.0".to_string(), before, behind };
        self.open_chunk(region.wide, &around);
        self.chunk(region, region.wide, &renewed, empty);
        let (before, behind) = (format!("offload.chunk.c{wide}"), format!("offload.done.x.p{n}"));
        let around = Around { first: format!("%offload.from.c{wide}"), before, behind };
        self.open_chunk(region.single, &around);
        self.chunk(region, region.single, &renewed, empty);
        let _ = writeln!(self.body, "offload.done.x.p{n}:");
        // Neighbours use the variables of those before them: the loops over rows go on in order.
        self.close_loop(n, 1, "");
        self.close_loop(n, 2, "");
        self.onward(n, &Ways::of_group(&region.next), GROUP);
    }

    /// Every chunk begins with what was valid for all before the first; gives the text for that.
    fn saved_once(&mut self, region: &Region) -> String {
        let (plan, n) = (self.plan, region.first);
        let pieces = region.pieces().filter_map(|number| plan.pieces.get(number));
        let made: BTreeSet<&str> = pieces.flat_map(|piece| piece.made.iter().copied()).collect();
        let live = plan.pieces.get(n).map(|piece| &piece.live);
        let mut renewed = String::new();
        for (name, ty) in plan.once.iter().filter(|(name, _)| made.contains(**name)) {
            if live.is_some_and(|live| live.contains(name)) {
                let saved = format!("%offload.saved.{name}.p{n}");
                let _ = writeln!(self.body, "  {saved} = load {ty}, ptr %offload.once.{name}");
                let _ = writeln!(renewed, "  store {ty} {saved}, ptr %offload.once.{name}");
            }
        }
        renewed
    }

    /// The head of the loop over chunks.
    fn open_chunk(&mut self, Chunk { mark: c, lanes }: Chunk, around: &Around) {
        let Around { first, before, behind } = around;
        let _ = writeln!(
            self.body,
            "offload.chunk.c{c}:\n  %offload.from.c{c} = phi i64 [ {first}, %{before} ], [ %offload.behind.c{c}, %offload.next.c{c} ]\n  \
             %offload.behind.c{c} = add nuw nsw i64 %offload.from.c{c}, {lanes}\n  \
             %offload.fits.c{c} = icmp ule i64 %offload.behind.c{c}, %offload.last.0\n  \
             br i1 %offload.fits.c{c}, label %offload.start.c{c}, label %{behind}"
        );
    }

    /// What a chunk does.
    fn chunk(&mut self, region: &Region, chunk: Chunk, renewed: &str, empty: u64) {
        let c = chunk.mark;
        let first = place(self.plan, chunk, region.first).mark;
        let _ = writeln!(self.body, "offload.start.c{c}:\n{renewed}  br label %offload.begin.p{first}");
        for piece in region.pieces() {
            self.copy(region, place(self.plan, chunk, piece), empty);
        }
        let _ = writeln!(self.body, "offload.next.c{c}:\n  br label %offload.chunk.c{c}");
    }
}
