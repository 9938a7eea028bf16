//! A piece for a few neighbours: a loop over them, and where they go on.
//!
//! Where work-items leave a loop one by one, and all come to it, those that are done repeat their last round until all
//! are: it changes nothing, because such loops write nothing. Where some do not come to it, each remembers where it waits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Writer;
use super::region::{Region, VECTOR_LANES, Waiting, place};
use super::ways::{GROUP, LANES, Ways, switched};
use crate::ir::work_items::function::Rounds;
use crate::ir::work_items::piece::{Chunk, Exit, Nodes, Place, piece_text};

/// One of the copies of a piece.
struct Copy<'r> {
    region: &'r Region,
    piece: usize,
    chunk: Chunk,
    /// The mark of its place.
    m: usize,
    /// The group of its accesses.
    accesses: u64,
}

impl Writer<'_, '_> {
    pub(super) fn copy(&mut self, region: &Region, place: Place, empty: u64) {
        let Some(chunk) = place.chunk else { return };
        let (plan, n, m) = (self.plan, region.first, place.mark);
        let (accesses, Chunk { mark: c, lanes }) = (self.accesses(), chunk);
        let copy = Copy { region, piece: place.piece, chunk, m, accesses };
        let text = piece_text(plan, place, Nodes { empty, accesses }, None);
        let _ = write!(self.body, "offload.begin.p{m}:\n{}", text.head);
        let told = self.told(&copy);
        self.expect(&told, LANES);
        let _ = writeln!(
            self.body,
            "  br label %offload.lanes.p{m}\noffload.lanes.p{m}:\n  \
             %offload.lane.p{m} = phi i64 [ 0, %offload.begin.p{m} ], [ %offload.lane.next.p{m}, %offload.end.p{m} ]\n  \
             %offload.x.p{m} = add nuw nsw i64 %offload.from.c{c}, %offload.lane.p{m}\n  \
             %offload.y.p{m} = add i64 %offload.y.p{n}, 0\n  %offload.z.p{m} = add i64 %offload.z.p{n}, 0\n  \
             %offload.i.p{m} = add nuw nsw i64 %offload.before.p{n}, %offload.x.p{m}"
        );
        let due = self.due(&copy);
        self.work_item(place, &text, &due);
        let _ = writeln!(self.body, "offload.end.p{m}:");
        match region.waiting {
            Waiting::Together => self.item_end(m, &text.exits, LANES),
            Waiting::Apart => self.remember(&copy, &text.exits),
        }
        let properties = self.properties(&copy);
        let node = self.loop_node(&properties);
        let _ = writeln!(
            self.body,
            "{}  %offload.lane.next.p{m} = add nuw nsw i64 %offload.lane.p{m}, 1\n  \
             %offload.lane.again.p{m} = icmp ult i64 %offload.lane.next.p{m}, {lanes}\n  \
             br i1 %offload.lane.again.p{m}, label %offload.lanes.p{m}, label %offload.then.p{m}, !llvm.loop !{node}\n\
             offload.then.p{m}:",
            text.end
        );
        self.keep_once(copy.piece, m);
        match region.waiting {
            Waiting::Together => self.go_on(&copy),
            Waiting::Apart => self.choose(&copy),
        }
    }

    /// The numbers with which neighbours may tell what is next.
    fn told(&self, copy: &Copy<'_>) -> BTreeSet<usize> {
        let (plan, region) = (self.plan, copy.region);
        match (region.waiting, plan.pieces.get(copy.piece)) {
            (Waiting::Together, Some(piece)) => piece.next.clone(),
            _ => region
                .pieces()
                .chain(region.next.iter().copied())
                .map(|next| region.code(plan, next))
                .collect(),
        }
    }

    /// The text that passes over a neighbour who waits elsewhere.
    fn due(&mut self, &Copy { region, piece, m, chunk, accesses }: &Copy<'_>) -> String {
        if region.waiting == Waiting::Together {
            return String::new();
        }
        let _ = writeln!(
            self.body,
            "  %offload.due.at.p{m} = getelementptr inbounds i32, ptr %offload.due.c{}, i64 %offload.lane.p{m}",
            chunk.mark
        );
        // With the first piece all begin.
        if piece == region.first {
            return String::new();
        }
        format!(
            "  %offload.due.p{m} = load i32, ptr %offload.due.at.p{m}, !llvm.access.group !{accesses}\n  \
             %offload.is.due.p{m} = icmp eq i32 %offload.due.p{m}, {piece}\n  \
             br i1 %offload.is.due.p{m}, label %offload.go.p{m}, label %offload.end.p{m}\noffload.go.p{m}:\n"
        )
    }

    /// A neighbour remembers where it waits.
    fn remember(&mut self, &Copy { region, piece, m, accesses, .. }: &Copy<'_>, exits: &[Exit]) {
        let code = |exit: &Exit| format!("[ {}, %{} ]", region.code(self.plan, exit.next), exit.block);
        let mut ways: Vec<String> = exits.iter().map(code).collect();
        if piece != region.first {
            ways.push(format!("[ %offload.due.p{m}, %offload.lanes.p{m} ]"));
        }
        let to = match ways.is_empty() {
            // It never ends.
            true => "add i32 0, 0".to_string(),
            false => format!("phi i32 {}", ways.join(", ")),
        };
        let _ = writeln!(
            self.body,
            "  %offload.to.p{m} = {to}\n  store i32 %offload.to.p{m}, ptr %offload.due.at.p{m}, !llvm.access.group !{accesses}"
        );
        self.count_in(&format!("%offload.to.p{m}"), &format!("p{m}"), LANES);
    }

    /// How the loop over neighbours is compiled.
    fn properties(&mut self, copy: &Copy<'_>) -> String {
        let mut properties = self.parallel(copy.accesses);
        let bits = u64::from(self.run.vector_bits.min(256));
        let width = bits.checked_div(32).unwrap_or(1).max(1);
        let together = VECTOR_LANES.checked_div(width).unwrap_or(1);
        let wanted = match copy.chunk.lanes {
            1 => vec![],
            VECTOR_LANES => vec![
                format!("\"llvm.loop.vectorize.width\", i32 {width}"),
                format!("\"llvm.loop.interleave.count\", i32 {together}"),
                // Vectors are made later, and of loops.
                "\"llvm.loop.unroll.disable\"".to_string(),
            ],
            _ => vec![
                "\"llvm.loop.vectorize.enable\", i1 false".to_string(),
                "\"llvm.loop.unroll.full\"".to_string(),
            ],
        };
        for text in wanted {
            let node = self.new_node();
            let _ = writeln!(self.metadata, "!{node} = !{{!{text}}}");
            let _ = write!(properties, ", !{node}");
        }
        properties
    }

    /// Neighbours that are together go on to their next piece, or out of the chunk.
    fn go_on(&mut self, copy: &Copy<'_>) {
        let (plan, m) = (self.plan, copy.m);
        let Some(piece) = plan.pieces.get(copy.piece) else { return };
        let way = |next: usize| match plan.is_of_lanes(next) {
            true => format!("offload.begin.p{}", place(plan, copy.chunk, next).mark),
            false => copy.way_out(next),
        };
        let blocks: BTreeMap<usize, String> = piece.next.iter().map(|next| (*next, way(*next))).collect();
        if plan.rounds(copy.piece) == Rounds::Own && blocks.len() > 1 {
            // The loop has a lower number than what comes behind it.
            let _ = writeln!(
                self.body,
                "  %offload.next.p{m} = load i32, ptr %offload.{LANES}least\n  \
                 switch i32 %offload.next.p{m}, label %offload.leave [ {} ]",
                switched(&blocks)
            );
        } else {
            self.onward(m, &Ways { blocks, end: 0 }, LANES);
        }
        self.ways_out(copy, piece.next.iter().filter(|next| !plan.is_of_lanes(**next)));
    }

    /// The neighbours that wait in the first place go on; if all wait for the group, they leave the chunk.
    fn choose(&mut self, copy: &Copy<'_>) {
        let (plan, region, m) = (self.plan, copy.region, copy.m);
        let way = |piece: &usize| format!("offload.begin.p{}", place(plan, copy.chunk, *piece).mark);
        let inner = region.inner.iter().map(|piece| (*piece, way(piece))).collect();
        let _ = writeln!(
            self.body,
            "  %offload.first.p{m} = load i32, ptr %offload.{LANES}least\n  \
             switch i32 %offload.first.p{m}, label %offload.all.p{m} [ {} ]\noffload.all.p{m}:",
            switched(&inner)
        );
        let out = |next: &usize| (region.code(plan, *next), copy.way_out(*next));
        let blocks = region.next.iter().map(out).collect();
        self.onward(m, &Ways { blocks, end: plan.pieces.len() }, LANES);
        self.ways_out(copy, region.next.iter());
    }

    /// The blocks through which neighbours leave the chunk for pieces of the group, where there are several.
    fn ways_out<'n>(&mut self, copy: &Copy<'_>, next: impl Iterator<Item = &'n usize>) {
        let m = copy.m;
        for next in next.filter(|_| copy.region.next.len() > 1) {
            let _ = writeln!(self.body, "offload.out{next}.p{m}:");
            self.count_in(&next.to_string(), &format!("out{next}.p{m}"), GROUP);
            let _ = writeln!(self.body, "  br label %offload.next.c{}", copy.chunk.mark);
        }
    }
}

impl Copy<'_> {
    /// The block through which neighbours leave the chunk for piece `next`.
    fn way_out(&self, next: usize) -> String {
        match self.region.next.len() > 1 {
            true => format!("offload.out{next}.p{}", self.m),
            false => format!("offload.next.c{}", self.chunk.mark),
        }
    }
}
