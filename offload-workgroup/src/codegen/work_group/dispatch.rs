//! Dispatch to the next parallel region, with the check that all work-items agree on it.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::FunctionWriter;
use super::successors::{Successors, first_block, switch_cases};
use crate::codegen::region::Exit;

/// The flag in the result of a group whose work-items diverge at a barrier; the rest is the line of the barrier.
const BARRIER_DIVERGENCE: u32 = 1 << 31;

impl FunctionWriter<'_, '_> {
    /// Writes the end of a work-item's region, which records the code of the successor.
    pub(super) fn record_successor(&mut self, n: usize, exits: &[Exit], scope: &str) {
        let successors: BTreeSet<usize> = exits.iter().map(|exit| exit.successor).collect();
        if successors.len() < 2 {
            return;
        }
        let operands: Vec<String> =
            exits.iter().map(|exit| format!("[ {}, %{} ]", exit.successor, exit.block)).collect();
        let _ = writeln!(self.body, "  %offload.to.p{n} = phi i32 {}", operands.join(", "));
        self.merge_successor(&format!("%offload.to.p{n}"), &format!("p{n}"), scope);
    }

    /// Resets the least and the greatest successor, if there are several.
    pub(super) fn reset_successors(&mut self, successors: &BTreeSet<usize>, scope: &str) {
        if successors.len() > 1 {
            let _ = writeln!(
                self.body,
                "  store i32 -1, ptr %offload.{scope}least\n  store i32 0, ptr %offload.{scope}most"
            );
        }
    }

    /// Merges the code `successor` into the least and the greatest one.
    pub(super) fn merge_successor(&mut self, successor: &str, suffix: &str, scope: &str) {
        self.body.push_str(&merge_text(successor, suffix, scope));
    }

    /// Makes the uniform values that region `number` defines the ones that later regions load.
    pub(super) fn publish_group_values(&mut self, number: usize, n: usize) {
        let Some(region) = self.plan.regions.get(number) else { return };
        for name in &region.defined {
            let Some(ty) = self.plan.group_values.get(name) else { continue };
            let _ = writeln!(
                self.body,
                "  %{name}.p{n}.then = load {ty}, ptr %offload.next.{name}\n  store {ty} %{name}.p{n}.then, ptr %offload.once.{name}"
            );
        }
    }

    /// Branches to the successor on which all work-items agree.
    pub(super) fn branch_to_successor(&mut self, n: usize, successors: &Successors, scope: &str) {
        if successors.blocks.len() < 2 {
            let leave = first_block(0);
            let only = successors.blocks.values().next().unwrap_or(&leave);
            let _ = writeln!(self.body, "  br label %{only}");
            return;
        }
        let _ = writeln!(
            self.body,
            "  %offload.from.p{n} = load i32, ptr %offload.{scope}least\n  %offload.next.p{n} = load i32, ptr %offload.{scope}most\n  \
             %offload.together.p{n} = icmp eq i32 %offload.from.p{n}, %offload.next.p{n}\n  \
             br i1 %offload.together.p{n}, label %offload.onward.p{n}, label %offload.parted.p{n}\n\
             offload.onward.p{n}:\n  switch i32 %offload.next.p{n}, label %offload.leave [ {} ]\n\
             offload.parted.p{n}:",
            switch_cases(&successors.blocks)
        );
        self.report_divergence(n, successors);
    }

    /// Returns the line of a barrier that some work-items have come to, and others not.
    fn report_divergence(&mut self, n: usize, successors: &Successors) {
        let mut last = BARRIER_DIVERGENCE.to_string();
        for code in successors.blocks.keys().filter(|code| **code != successors.end) {
            let location = self.plan.location(code.saturating_sub(successors.end));
            let line = location.and_then(|node| self.context.lines.get(node)).copied().unwrap_or(0);
            let result = BARRIER_DIVERGENCE | line;
            let _ = writeln!(
                self.body,
                "  %offload.is{code}.p{n} = icmp eq i32 %offload.next.p{n}, {code}\n  \
                 %offload.line{code}.p{n} = select i1 %offload.is{code}.p{n}, i32 {result}, i32 {last}"
            );
            last = format!("%offload.line{code}.p{n}");
        }
        let _ = writeln!(self.body, "  store i32 {last}, ptr %offload.status\n  br label %offload.leave");
    }
}

/// The text that merges the code `successor` into the least and the greatest one.
pub(crate) fn merge_text(successor: &str, suffix: &str, scope: &str) -> String {
    let mut text = String::new();
    for (name, predicate) in [("least", "ult"), ("most", "ugt")] {
        let _ = writeln!(
            text,
            "  %offload.{name}.{suffix} = load i32, ptr %offload.{scope}{name}\n  \
             %offload.{name}.is.{suffix} = icmp {predicate} i32 {successor}, %offload.{name}.{suffix}\n  \
             %offload.{name}.now.{suffix} = select i1 %offload.{name}.is.{suffix}, i32 {successor}, i32 %offload.{name}.{suffix}\n  \
             store i32 %offload.{name}.now.{suffix}, ptr %offload.{scope}{name}"
        );
    }
    text
}
