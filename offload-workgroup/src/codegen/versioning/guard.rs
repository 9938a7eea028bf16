//! What a row is asked for: whether it meets an edge.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Edges;
use super::edge::{Compare, Edge};
use crate::ir::work_items::plan::Plan;
use crate::ir::work_items::state::{self, State};
use crate::ir::work_items::text::Names;

/// The number of the first, of the last, or of all work-items of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    First,
    Last,
    All,
}

impl Edges<'_> {
    /// The text that makes `%offload.inside.pN`, where the loop over a row begins.
    pub(in crate::ir::work_items) fn guard(&self, plan: &Plan<'_>, empty: u64) -> String {
        let mut guard = Guard { edges: self, plan, empty, written: BTreeSet::new(), text: String::new() };
        let n = self.mark;
        // Rows are shorter; longer ones could wrap and come to their beginning again.
        let _ = writeln!(
            guard.text,
            "  %offload.width.p{n} = sub i64 %offload.last.0, %offload.first.0\n  \
             %offload.inside.0.p{n} = icmp ult i64 %offload.width.p{n}, 2147483648"
        );
        for (number, (name, edge)) in self.found.iter().enumerate() {
            let terms = guard.terms(name, edge);
            let next = number.saturating_add(1);
            let _ = writeln!(
                guard.text,
                "{terms}  %offload.inside.{next}.p{n} = and i1 %offload.inside.{number}.p{n}, %offload.beside.{name}.p{n}"
            );
        }
        let last = self.found.len();
        let _ = writeln!(guard.text, "  %offload.inside.p{n} = and i1 %offload.inside.{last}.p{n}, true");
        guard.text
    }
}

/// Writes a guard.
struct Guard<'g, 'f> {
    edges: &'g Edges<'f>,
    plan: &'g Plan<'f>,
    empty: u64,
    written: BTreeSet<(String, At)>,
    text: String,
}

impl Guard<'_, '_> {
    /// The text that makes `%offload.beside.NAME.pN`: the row does not wrap, and its ends are on the same side of the edge.
    /// It is frozen: what no work-item computes may be poison, and says nothing of other edges.
    fn terms(&mut self, name: &str, edge: &Edge) -> String {
        let [moving, fixed] = [edge.moving, 1usize.saturating_sub(edge.moving)]
            .map(|number| edge.operands.get(number).cloned().unwrap_or_default());
        let first = self.operand(&moving, At::First);
        let last = self.operand(&moving, At::Last);
        let edge_at = self.operand(&fixed, At::All);
        let (ty, own) = (&edge.ty, format!("{name}.p{}", self.edges.mark));
        let ascends = if edge.compare.is_signed() { "sle" } else { "ule" };
        let ascending = format!("  %offload.ascends.{own} = icmp {ascends} {ty} {first}, {last}\n");
        let is = |predicate: &str, end: &str| format!("icmp {predicate} {ty} {end}, {edge_at}");
        let passes = match &edge.compare {
            Compare::Equal { .. } => format!(
                "  %offload.after.{own} = {}\n  %offload.before.{own} = {}\n  \
                 %offload.passes.{own} = or i1 %offload.after.{own}, %offload.before.{own}\n",
                is("ugt", &first),
                is("ult", &last)
            ),
            Compare::Order { predicate } => {
                let is = |end: &str| match edge.moving {
                    0 => is(predicate, end),
                    _ => format!("icmp {predicate} {ty} {edge_at}, {end}"),
                };
                format!(
                    "  %offload.at.first.{own} = {}\n  %offload.at.last.{own} = {}\n  \
                     %offload.edge.{own} = freeze i1 %offload.at.first.{own}\n  \
                     %offload.passes.{own} = icmp eq i1 %offload.at.first.{own}, %offload.at.last.{own}\n",
                    is(&first),
                    is(&last)
                )
            }
            Compare::Subtract => format!("  %offload.passes.{own} = {}\n", is("uge", &first)),
            Compare::Bound { function } => {
                let (predicate, end) = match function.as_str() {
                    "umin" => ("ule", &last),
                    "smin" => ("sle", &last),
                    "umax" => ("uge", &first),
                    _ => ("sge", &first),
                };
                format!("  %offload.passes.{own} = {}\n", is(predicate, end))
            }
        };
        format!(
            "{ascending}{passes}  %offload.both.{own} = and i1 %offload.ascends.{own}, %offload.passes.{own}\n  \
             %offload.beside.{own} = freeze i1 %offload.both.{own}\n"
        )
    }

    /// An operand, once all that it is computed from is written.
    fn operand(&mut self, text: &str, at: At) -> String {
        let Some(name) = text.strip_prefix('%') else { return text.to_string() };
        self.compute(name, at);
        Ends { guard: self, at }.value(name)
    }

    fn moves(&self, name: &str) -> bool {
        self.edges.shapes.get(name).is_some_and(|shape| shape.moves)
    }

    fn compute(&mut self, name: &str, at: At) {
        let at = if self.moves(name) { at } else { At::All };
        let Some(definition) = self.plan.facts.definitions.get(name) else { return };
        if !self.written.insert((name.to_string(), at)) {
            return;
        }
        let instruction = definition.instruction;
        for operand in instruction.operands() {
            self.compute(operand, at);
        }
        let names = Ends { guard: self, at };
        let (to, n) = (names.value(name), self.edges.mark);
        let text = match (state::read(instruction), Edge::parse(instruction)) {
            (Some(State::LocalId { dimension: 0 }), _) if at == At::Last => {
                "sub i64 %offload.last.0, 1".to_string()
            }
            (Some(State::LocalId { dimension: 0 }), _) => "add i64 %offload.first.0, 0".to_string(),
            (Some(State::LocalId { dimension }), _) => {
                format!("add i64 %offload.{}.p{n}, 0", state::axis(dimension))
            }
            (Some(State::Group { field, dimension }), _) => {
                format!("add i64 %offload.{}.{dimension}, 0", field.name)
            }
            (None, Some(Edge { compare, ty, operands, .. })) if compare.function().is_some() => {
                let [first, second] = operands.map(|operand| match operand.strip_prefix('%') {
                    Some(name) => names.value(name),
                    None => operand,
                });
                let function = compare.function().unwrap_or_default();
                format!("call {ty} @llvm.{function}.{ty}({ty} {first}, {ty} {second})")
            }
            (None, _) => self.plain(name, &instruction.line.with(&names)),
        };
        let _ = writeln!(self.text, "  {to} = {text}");
    }

    /// The text without what is promised of it: a work-item at the end of a row may not compute it at all.
    fn plain(&self, name: &str, text: &str) -> String {
        const PROMISES: [&str; 6] = [" nuw", " nsw", " nneg", " exact", " disjoint", " samesign"];
        let text = text.split(", !").next().unwrap_or_default();
        if !self.plan.facts.arguments.contains(name) {
            return PROMISES.iter().fold(text.to_string(), |text, promise| text.replace(promise, ""));
        }
        match text.starts_with("load ") {
            true => format!("{text}, !invariant.load !{}", self.empty),
            false => text.to_string(),
        }
    }
}

/// Names of what is computed for a row.
struct Ends<'e, 'g, 'f> {
    guard: &'e Guard<'g, 'f>,
    at: At,
}

impl Names for Ends<'_, '_, '_> {
    fn value(&self, name: &str) -> String {
        if name == self.guard.plan.function.parameter {
            return "%offload.args".to_string();
        }
        let end = match (self.guard.moves(name), self.at) {
            (true, At::First) => "first",
            (true, At::Last) => "last",
            _ => "row",
        };
        format!("%{name}.{end}.p{}", self.guard.edges.mark)
    }

    fn label(&self, name: &str) -> String {
        name.to_string()
    }
}
