//! Which piece is next, and whether all work-items agree.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Writer;
use super::ways::{Ways, begin, switched};
use crate::ir::work_items::piece::Exit;

/// Set in what the function returns for a group whose work-items parted; the rest is the line of the barrier.
const PARTED: u32 = 1 << 31;
impl Writer<'_, '_> {
    /// Where a work-item's piece ends, with the number of its next one.
    pub(super) fn item_end(&mut self, n: usize, exits: &[Exit], among: &str) {
        let next: BTreeSet<usize> = exits.iter().map(|exit| exit.next).collect();
        if next.len() < 2 {
            return;
        }
        let exits: Vec<String> =
            exits.iter().map(|exit| format!("[ {}, %{} ]", exit.next, exit.block)).collect();
        let _ = writeln!(self.body, "  %offload.to.p{n} = phi i32 {}", exits.join(", "));
        self.count_in(&format!("%offload.to.p{n}"), &format!("p{n}"), among);
    }

    /// Before anybody tells which of several pieces is its next.
    pub(super) fn expect(&mut self, next: &BTreeSet<usize>, among: &str) {
        if next.len() > 1 {
            let _ = writeln!(
                self.body,
                "  store i32 -1, ptr %offload.{among}least\n  store i32 0, ptr %offload.{among}most"
            );
        }
    }

    /// Tells that piece `next` follows.
    pub(super) fn count_in(&mut self, next: &str, mark: &str, among: &str) {
        for (name, compare) in [("least", "ult"), ("most", "ugt")] {
            let _ = writeln!(
                self.body,
                "  %offload.{name}.{mark} = load i32, ptr %offload.{among}{name}\n  \
                 %offload.{name}.is.{mark} = icmp {compare} i32 {next}, %offload.{name}.{mark}\n  \
                 %offload.{name}.now.{mark} = select i1 %offload.{name}.is.{mark}, i32 {next}, i32 %offload.{name}.{mark}\n  \
                 store i32 %offload.{name}.now.{mark}, ptr %offload.{among}{name}"
            );
        }
    }

    /// What piece `number` has made for all work-items becomes valid.
    pub(super) fn keep_once(&mut self, number: usize, n: usize) {
        let Some(piece) = self.plan.pieces.get(number) else { return };
        for name in piece.made.iter().filter(|name| self.plan.once.contains_key(*name)) {
            let Some(ty) = self.plan.once.get(name) else { continue };
            let _ = writeln!(
                self.body,
                "  %{name}.p{n}.then = load {ty}, ptr %offload.next.{name}\n  store {ty} %{name}.p{n}.then, ptr %offload.once.{name}"
            );
        }
    }

    /// Goes on to the next piece, by the block that each begins with, if all work-items go there.
    pub(super) fn onward(&mut self, n: usize, ways: &Ways, among: &str) {
        if ways.blocks.len() < 2 {
            let leave = begin(0);
            let only = ways.blocks.values().next().unwrap_or(&leave);
            let _ = writeln!(self.body, "  br label %{only}");
            return;
        }
        let _ = writeln!(
            self.body,
            "  %offload.from.p{n} = load i32, ptr %offload.{among}least\n  %offload.next.p{n} = load i32, ptr %offload.{among}most\n  \
             %offload.together.p{n} = icmp eq i32 %offload.from.p{n}, %offload.next.p{n}\n  \
             br i1 %offload.together.p{n}, label %offload.onward.p{n}, label %offload.parted.p{n}\n\
             offload.onward.p{n}:\n  switch i32 %offload.next.p{n}, label %offload.leave [ {} ]\n\
             offload.parted.p{n}:",
            switched(&ways.blocks)
        );
        self.parted(n, ways);
    }

    /// Some work-items have come to a barrier, and others to another one or to the end.
    fn parted(&mut self, n: usize, ways: &Ways) {
        let mut last = PARTED.to_string();
        for next in ways.blocks.keys().filter(|next| **next != ways.end) {
            let location = self.plan.location(next.saturating_sub(ways.end));
            let line = location.and_then(|node| self.run.lines.get(node)).copied().unwrap_or(0);
            let code = PARTED | line;
            let _ = writeln!(
                self.body,
                "  %offload.is{next}.p{n} = icmp eq i32 %offload.next.p{n}, {next}\n  \
                 %offload.line{next}.p{n} = select i1 %offload.is{next}.p{n}, i32 {code}, i32 {last}"
            );
            last = format!("%offload.line{next}.p{n}");
        }
        let _ = writeln!(self.body, "  store i32 {last}, ptr %offload.status\n  br label %offload.leave");
    }
}
