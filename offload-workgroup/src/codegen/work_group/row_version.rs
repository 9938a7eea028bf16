//! The versioned loop over a row: a second loop for rows in which comparisons are invariant.

use std::fmt::Write;

use super::FunctionWriter;
use super::successors::GROUP_SCOPE;
use crate::codegen::region::{Nodes, RegionCopy, RegionText, write_region};
use crate::codegen::versioning::RowVersion;
use crate::options::Validity;

/// The version of a region without comparisons.
pub(super) struct RowVersionText {
    copy: RegionCopy,
    accesses: u64,
    pub(super) text: RegionText,
    /// The run-time check that selects it.
    guard: String,
}

impl FunctionWriter<'_, '_> {
    /// The version of region `n`, whose text for one work-item is `text`, if there is one.
    pub(super) fn row_version(&mut self, n: usize, text: &RegionText, empty: u64) -> Option<RowVersionText> {
        let plan = self.plan;
        if plan.validity != Validity::Assumed {
            return None;
        }
        let version = RowVersion::new(plan, n, &text.rematerialized)?;
        // Suffixes behind those of chunks.
        let regions = plan.regions.len();
        let used = regions.saturating_mul(2).saturating_add(1).saturating_mul(regions);
        let copy = RegionCopy { region: n, suffix: used.saturating_add(n), chunk: None, is_warp: false };
        let accesses = self.new_access_group();
        let text = write_region(plan, copy, Nodes { empty, accesses }, Some(&version));
        Some(RowVersionText { copy, accesses, text, guard: version.guard(plan, empty) })
    }

    /// Writes the guard, the branch to one of the two loops over a row, and the loop of the version.
    pub(super) fn write_row_version(&mut self, n: usize, version: &RowVersionText) {
        let m = version.copy.suffix;
        let _ = writeln!(
            self.body,
            "  %offload.y.p{m} = add i64 %offload.y.p{n}, 0\n  %offload.z.p{m} = add i64 %offload.z.p{n}, 0\n\
             {}  br i1 %offload.inside.p{n}, label %offload.loop.x.p{m}, label %offload.loop.x.p{n}",
            version.guard
        );
        self.open_loop(m, 0, &format!("offload.loop.y.p{n}"));
        let _ =
            writeln!(self.body, "  %offload.i.p{m} = add nuw nsw i64 %offload.before.p{n}, %offload.x.p{m}");
        self.write_work_item(version.copy, &version.text, "");
        let _ = writeln!(self.body, "offload.end.p{m}:");
        self.record_successor(m, &version.text.exits, GROUP_SCOPE);
        let parallel = self.parallel_accesses(version.accesses);
        let unrolling = self.unrolling_property(n);
        self.close_loop(m, 0, &format!("{parallel}{unrolling}"));
        let _ = writeln!(self.body, "  br label %offload.done.x.p{n}");
    }
}
