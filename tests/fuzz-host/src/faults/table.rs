//! Faults: for each condition that makes a transformation legal, an edit of the compiler that drops or weakens it.

/// An edit that makes the compiler wrong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    /// What it is called on the command line.
    pub(super) name: &'static str,
    /// What the compiler wrongly takes for true.
    pub(super) belief: &'static str,
    /// What stands once in the sources of `ir`.
    pub(super) find: &'static str,
    /// What takes its place.
    pub(super) replace: &'static str,
}

const fn fault(name: &'static str, belief: &'static str, find: &'static str, replace: &'static str) -> Fault {
    Fault { name, belief, find, replace }
}

/// Every fault.
pub(super) const FAULTS: [Fault; 30] = [
    fault(
        "barrier-behind-loop",
        "a loop that a barrier follows is left together, even if it can return",
        "let next = self.next_convergence(successor);",
        "if self.post_dominators.dominators(block).any(|one| self.barriers.contains(&one)) { return false; }\n\
         let last: BTreeSet<usize> = self.barriers.iter().copied().chain([block]).collect();\n\
         let mut next: BTreeSet<Convergence> = BTreeSet::new();\n\
         for reached in self.reached(&[successor], &last) {\n\
         if self.barriers.contains(&reached) { next.insert(Convergence::Barrier(reached)); } }",
    ),
    fault(
        "return-is-no-event",
        "a return is no place where work-items have to be together",
        "found.insert(Convergence::Return);",
        "",
    ),
    fault(
        "merge-block-uniform",
        "phis of the merge block are uniform",
        "self.reached(self.successors(block), &meeting)\n    }",
        "let mut found = self.reached(self.successors(block), &meeting);\n\
         found.retain(|block| !meeting.contains(block));\nfound\n    }",
    ),
    fault(
        "no-temporal-divergence",
        "phis of the header of a loop that is left one by one are uniform",
        "self.reached(self.successors(block), &meeting)\n    }",
        "let mut found = self.reached(self.successors(block), &meeting);\n\
         for one in self.loops() { if one.blocks.contains(&block) { found.remove(&one.header); } }\nfound\n    }",
    ),
    fault(
        "phi-of-equal-operands",
        "a phi with uniform operands is uniform",
        "Kind::Phi => equal && !self.parted.contains(&definition.block),",
        "Kind::Phi => equal,",
    ),
    fault(
        "switch-is-uniform",
        "a switch is uniform",
        "End::Jump(line) => line.values().any(|value| !self.uniform.contains(value)),",
        "End::Jump(line) => !line.contains(\"switch \") && line.values().any(|value| !self.uniform.contains(value)),",
    ),
    fault(
        "state-is-uniform",
        "all loads of state are uniform, local ids too",
        "Kind::Load => matches!(state::read(instruction), Some(State::Group { .. })),",
        "Kind::Load => state::read(instruction).is_some(),",
    ),
    fault(
        "loads-recomputed",
        "what was loaded before a barrier can be loaded again behind it",
        "Kind::Call => is_uniform && calls_pure(instruction),\n            _ => false,\n        };\n        if !again || (!is_uniform && !is_integer_step(instruction))",
        "Kind::Call => is_uniform && calls_pure(instruction),\n            Kind::Load => true,\n            _ => false,\n        };\n        if !again || (!is_uniform && instruction.kind != Kind::Load && !is_integer_step(instruction))",
    ),
    fault(
        "nothing-kept",
        "private variables do not live across barriers",
        "memory.kept.extend(kept);",
        "drop(kept);",
    ),
    fault(
        "escape-forgotten",
        "a private variable whose address has escaped does not live across barriers",
        "|variable: &&&str| after.contains(**variable) || memory.escaped.contains(**variable);",
        "|variable: &&&str| after.contains(**variable);",
    ),
    fault(
        "private-in-parallel",
        "a private variable that all work-items use in turn is independent between them",
        "self.escaped.iter().any(once) || self.of_operands(instruction).iter().any(once)",
        "{ let _ = (once, instruction); false }",
    ),
    fault(
        "order-within-iteration",
        "the vectoriser keeps the order of accesses of one work-item",
        "|| self.exist(&accesses) {",
        "|| { let _ = self.exist(&accesses); false } {",
    ),
    fault(
        "arguments-are-restrict",
        "pointers from different roots do not overlap",
        "return !self.are_different_objects(&first.root, &second.root);",
        "return { let _ = self.are_different_objects(&first.root, &second.root); false };",
    ),
    fault(
        "restrict-at-barriers",
        "`restrict` is a promise of other work-items, too",
        "line.replace(\" noalias \", \" \")",
        "line.to_string()",
    ),
    fault(
        "position-behind-phi",
        "positions are loaded from addresses that stand in the instruction",
        "is_incoming || instruction.line.contains(NAME)",
        "is_incoming && false || instruction.line.contains(NAME)",
    ),
    fault(
        "rounds-are-equal",
        "all work-items come to a loop, and leave it in the same round",
        "if !self.facts.parted.contains(&found.header) && self.leaves_together(found) {",
        "if self.leaves_together(found) || true {",
    ),
    fault(
        "repeated-by-some",
        "all work-items come to a loop whose rounds are repeated",
        "let rounds = if alone && joins.len() == 1 { Rounds::Own } else { Rounds::Some };",
        "let rounds = if alone { Rounds::Own } else { Rounds::Some };",
    ),
    fault(
        "behind-loop-repeated",
        "what lies between a loop and its merge block can be repeated",
        "if !is_worth_it || !between.iter().all(|number| self.computes_alone(*number)) {",
        "if !is_worth_it {\nlet _ = between;",
    ),
    fault(
        "joins-in-any-order",
        "work-items that wait go on in any order",
        "(ascend && found.header < exit && joins.first() == Some(&exit)).then_some(joins)",
        "{ let _ = (ascend, exit); joins.first().is_some().then_some(joins) }",
    ),
    fault(
        "lanes-outlive-nothing",
        "no value of a chunk is used by the group",
        "if of_group.any(|piece| piece.live.contains(name)) { Holder::Frame } else { Holder::Lanes }",
        "if of_group.any(|piece| piece.live.contains(name) && piece.start == 0) { Holder::Frame } else { Holder::Lanes }",
    ),
    fault(
        "chunk-begins-late",
        "a chunk begins with what the chunk before it has made",
        "if live.is_some_and(|live| live.contains(name)) {",
        "if live.is_some_and(|live| live.contains(name) && name.is_empty()) {",
    ),
    fault(
        "done-goes-on",
        "work-items that wait elsewhere execute a region, too",
        "%offload.is.due.p{m} = icmp eq i32 %offload.due.p{m}, {piece}\\n",
        "%offload.is.due.p{m} = icmp ne i32 %offload.due.p{m}, -{piece}\\n",
    ),
    fault(
        "rows-never-wrap",
        "no number wraps within a row",
        "%offload.both.{own} = and i1 %offload.ascends.{own}, %offload.passes.{own}\\n  \\",
        "%offload.both.{own} = and i1 true, %offload.passes.{own}\\n  \\",
    ),
    fault(
        "edge-at-first",
        "the first of a row does not equal an edge",
        "is(\"ugt\", &first),",
        "is(\"uge\", &first),",
    ),
    fault(
        "edge-at-last",
        "the last of a row compares as the first",
        "%offload.passes.{own} = icmp eq i1 %offload.at.first.{own}, %offload.at.last.{own}\\n",
        "%offload.passes.{own} = icmp ule i1 %offload.at.first.{own}, %offload.at.last.{own}\\n",
    ),
    fault(
        "bound-at-first",
        "a row whose first is below a bound is below it",
        "\"umin\" => (\"ule\", &last),",
        "\"umin\" => (\"ule\", &first),",
    ),
    fault(
        "descends-as-ascends",
        "a number less a position grows with the position",
        "first.moves && is_first && rest.iter().all(|shape| !shape.moves)",
        "(first.moves || rest.iter().any(|shape| shape.moves)) && (is_first || !is_first)",
    ),
    fault(
        "phis-of-both-ways",
        "values do not differ where a store is passed over",
        "phis.all(is_equal).then(|| PassedOver {",
        "(phis.all(is_equal) || true).then(|| PassedOver {",
    ),
    fault(
        "global-as-local",
        "no other thread accesses memory behind a pointer",
        "(kind == ArgKind::Local).then_some(Reach::Local)",
        "(kind == ArgKind::Local || kind == ArgKind::Global).then_some(Reach::Local)",
    ),
    fault(
        "position-not-told",
        "functions that are called do not read positions",
        "self.text.asks_position |= calls || state::mentions_local_id(instruction);",
        "self.text.asks_position |= (calls && false) || state::mentions_local_id(instruction);",
    ),
];
