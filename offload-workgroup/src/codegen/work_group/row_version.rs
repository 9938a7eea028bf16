//! The copy of a loop over a row for rows that meet no edge.

use std::fmt::Write;

use super::Writer;
use super::ways::GROUP;
use crate::ir::work_items::edges::Edges;
use crate::ir::work_items::piece::{Nodes, PieceText, Place, piece_text};
use crate::ir::work_items::validity::Validity;

/// A copy of a piece without comparisons.
pub(super) struct Inside {
    place: Place,
    accesses: u64,
    pub(super) text: PieceText,
    /// What asks whether a row goes through it.
    guard: String,
}

impl Writer<'_, '_> {
    /// The copy of piece `n`, if it compares with edges.
    pub(super) fn inside(&mut self, n: usize, empty: u64) -> Option<Inside> {
        let plan = self.plan;
        if plan.validity == Validity::Checked {
            return None;
        }
        let edges = Edges::of(plan)?;
        // Behind those of neighbours that go on side by side.
        let pieces = plan.pieces.len();
        let before = pieces.saturating_mul(2).saturating_add(1).saturating_mul(pieces);
        let place = Place { piece: n, mark: before.saturating_add(n), chunk: None };
        let accesses = self.accesses();
        let text = piece_text(plan, place, Nodes { empty, accesses }, Some(&edges));
        Some(Inside { place, accesses, text, guard: edges.guard(plan, empty) })
    }

    /// Goes on to one of the two loops over a row, and writes that of the copy.
    pub(super) fn row_inside(&mut self, n: usize, inside: &Inside) {
        let m = inside.place.mark;
        let _ = writeln!(
            self.body,
            "  %offload.y.p{m} = add i64 %offload.y.p{n}, 0\n  %offload.z.p{m} = add i64 %offload.z.p{n}, 0\n\
             {}  br i1 %offload.inside.p{n}, label %offload.loop.x.p{m}, label %offload.loop.x.p{n}",
            inside.guard
        );
        self.open_loop(m, 0, &format!("offload.loop.y.p{n}"));
        let _ =
            writeln!(self.body, "  %offload.i.p{m} = add nuw nsw i64 %offload.before.p{n}, %offload.x.p{m}");
        self.work_item(inside.place, &inside.text, "");
        let _ = writeln!(self.body, "offload.end.p{m}:");
        self.item_end(m, &inside.text.exits, GROUP);
        let parallel = self.parallel(inside.accesses);
        self.close_loop(m, 0, &parallel);
        let _ = writeln!(self.body, "  br label %offload.done.x.p{n}");
    }
}
