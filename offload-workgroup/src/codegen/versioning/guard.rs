//! The guard of a version: the run-time check that comparisons are invariant in a row.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::RowVersion;
use super::comparison::{ComparisonKind, RowComparison};
use crate::analysis::work_item_state::{StateLoad, axis, state_load};
use crate::codegen::plan::Plan;
use crate::ir::line::NameMap;

/// The work-items of a row that a value of the guard is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RowEnd {
    First,
    Last,
    /// A value that is fixed along the row.
    Fixed,
}

impl RowVersion<'_> {
    /// The text that computes `%offload.inside.pN` before the loops over a row.
    pub(crate) fn guard(&self, plan: &Plan<'_>, empty: u64) -> String {
        let mut guard =
            GuardWriter { version: self, plan, empty, written: BTreeSet::new(), text: String::new() };
        let n = self.suffix;
        // Longer rows could wrap and come to their beginning again.
        let _ = writeln!(
            guard.text,
            "  %offload.width.p{n} = sub i64 %offload.last.0, %offload.first.0\n  \
             %offload.inside.0.p{n} = icmp ult i64 %offload.width.p{n}, 2147483648"
        );
        for (number, (name, comparison)) in self.comparisons.iter().enumerate() {
            let check = guard.comparison_check(name, comparison);
            let next = number.saturating_add(1);
            let _ = writeln!(
                guard.text,
                "{check}  %offload.inside.{next}.p{n} = and i1 %offload.inside.{number}.p{n}, %offload.beside.{name}.p{n}"
            );
        }
        let last = self.comparisons.len();
        let _ = writeln!(guard.text, "  %offload.inside.p{n} = and i1 %offload.inside.{last}.p{n}, true");
        guard.text
    }
}

/// Writes a guard.
struct GuardWriter<'g, 'f> {
    version: &'g RowVersion<'f>,
    plan: &'g Plan<'f>,
    empty: u64,
    written: BTreeSet<(String, RowEnd)>,
    text: String,
}

impl GuardWriter<'_, '_> {
    /// The text that computes `%offload.beside.NAME.pN`: the position does not wrap, and the comparison has one result at
    /// both ends. It is frozen: a value that no work-item computes may be poison, which must not spread to other checks.
    fn comparison_check(&mut self, name: &str, comparison: &RowComparison) -> String {
        let fixed = 1usize.saturating_sub(comparison.consecutive);
        let first = self.operand(comparison, comparison.consecutive, RowEnd::First);
        let last = self.operand(comparison, comparison.consecutive, RowEnd::Last);
        let bound = self.operand(comparison, fixed, RowEnd::Fixed);
        let ty = &comparison.ty;
        let own = format!("{name}.p{}", self.version.suffix);
        let ascends = if comparison.kind.is_signed() { "sle" } else { "ule" };
        let ascending = format!("  %offload.ascends.{own} = icmp {ascends} {ty} {first}, {last}\n");
        let passes = match &comparison.kind {
            ComparisonKind::Equality { .. } => format!(
                "  %offload.after.{own} = icmp ugt {ty} {first}, {bound}\n  %offload.before.{own} = icmp ult {ty} {last}, {bound}\n  \
                 %offload.passes.{own} = or i1 %offload.after.{own}, %offload.before.{own}\n"
            ),
            ComparisonKind::Order { predicate } => {
                let [at_first, at_last] = [&first, &last].map(|end| match comparison.consecutive {
                    0 => format!("icmp {predicate} {ty} {end}, {bound}"),
                    _ => format!("icmp {predicate} {ty} {bound}, {end}"),
                });
                format!(
                    "  %offload.at.first.{own} = {at_first}\n  %offload.at.last.{own} = {at_last}\n  \
                     %offload.edge.{own} = freeze i1 %offload.at.first.{own}\n  \
                     %offload.passes.{own} = icmp eq i1 %offload.at.first.{own}, %offload.at.last.{own}\n"
                )
            }
            ComparisonKind::SaturatingSubtraction => {
                format!("  %offload.passes.{own} = icmp uge {ty} {first}, {bound}\n")
            }
            ComparisonKind::MinMax { function } => {
                let (predicate, end) = match function.as_str() {
                    "umin" => ("ule", &last),
                    "smin" => ("sle", &last),
                    "umax" => ("uge", &first),
                    _ => ("sge", &first),
                };
                format!("  %offload.passes.{own} = icmp {predicate} {ty} {end}, {bound}\n")
            }
        };
        format!(
            "{ascending}{passes}  %offload.both.{own} = and i1 %offload.ascends.{own}, %offload.passes.{own}\n  \
             %offload.beside.{own} = freeze i1 %offload.both.{own}\n"
        )
    }

    /// An operand of a comparison, once all that it is computed from is written.
    fn operand(&mut self, comparison: &RowComparison, number: usize, end: RowEnd) -> String {
        let text = comparison.operands.get(number).map(String::as_str).unwrap_or_default();
        if let Some(name) = text.strip_prefix('%') {
            self.write_value(name, end);
        }
        comparison.operand(number, &RowEndNames { guard: self, end })
    }

    fn is_consecutive(&self, name: &str) -> bool {
        self.version.shapes.get(name).is_some_and(|shape| shape.is_consecutive)
    }

    /// Writes the instruction that defines `name` for one end of the row, after its operands.
    fn write_value(&mut self, name: &str, end: RowEnd) {
        let end = if self.is_consecutive(name) { end } else { RowEnd::Fixed };
        let Some(definition) = self.plan.values.definitions.get(name) else { return };
        if !self.written.insert((name.to_string(), end)) {
            return;
        }
        let instruction = definition.instruction;
        for operand in instruction.operands() {
            self.write_value(operand, end);
        }
        let names = RowEndNames { guard: self, end };
        let to = names.value(name);
        let text = match state_load(instruction) {
            Some(StateLoad::LocalId { dimension: 0 }) if end == RowEnd::Last => {
                "sub i64 %offload.last.0, 1".to_string()
            }
            Some(StateLoad::LocalId { dimension: 0 }) => "add i64 %offload.first.0, 0".to_string(),
            Some(StateLoad::LocalId { dimension }) => {
                format!("add i64 %offload.{}.p{}, 0", axis(dimension), self.version.suffix)
            }
            Some(StateLoad::Group { field, dimension }) => {
                format!("add i64 %offload.{}.{dimension}, 0", field.name)
            }
            None => {
                let comparison = RowComparison::parse(instruction);
                let intrinsic = comparison.as_ref().and_then(|one| Some((one, one.kind.intrinsic()?)));
                match intrinsic {
                    Some((comparison, function)) => {
                        let ty = &comparison.ty;
                        let first = comparison.operand(0, &names);
                        let second = comparison.operand(1, &names);
                        format!("call {ty} @llvm.{function}.{ty}({ty} {first}, {ty} {second})")
                    }
                    None => self.without_flags(name, &instruction.line.render(&names)),
                }
            }
        };
        let _ = writeln!(self.text, "  {to} = {text}");
    }

    /// The text of an instruction without flags that make its result poison: a work-item at the end of a row may not
    /// execute it at all.
    fn without_flags(&self, name: &str, text: &str) -> String {
        const FLAGS: [&str; 6] = [" nuw", " nsw", " nneg", " exact", " disjoint", " samesign"];
        let text = text.split(", !").next().unwrap_or_default();
        if !self.plan.values.arguments.contains(name) {
            let mut text = text.to_string();
            for flag in FLAGS {
                text = text.replace(flag, "");
            }
            return text;
        }
        if text.starts_with("load ") {
            format!("{text}, !invariant.load !{}", self.empty)
        } else {
            text.to_string()
        }
    }
}

/// Names of values in the guard.
struct RowEndNames<'e, 'g, 'f> {
    guard: &'e GuardWriter<'g, 'f>,
    end: RowEnd,
}

impl NameMap for RowEndNames<'_, '_, '_> {
    fn value(&self, name: &str) -> String {
        if name == self.guard.plan.function.parameter {
            return "%offload.args".to_string();
        }
        let end = match (self.guard.is_consecutive(name), self.end) {
            (true, RowEnd::First) => "first",
            (true, RowEnd::Last) => "last",
            _ => "row",
        };
        format!("%{name}.{end}.p{}", self.guard.version.suffix)
    }

    fn label(&self, name: &str) -> String {
        name.to_string()
    }
}
