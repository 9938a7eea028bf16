//! Faults: for each condition that makes a transformation legal, an edit of the compiler that drops or weakens it.

/// An edit that makes the compiler wrong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    /// What it is called on the command line.
    pub(super) name: &'static str,
    /// What the compiler wrongly takes for true.
    pub(super) belief: &'static str,
    /// What stands once in the sources of offload-workgroup.
    pub(super) find: &'static str,
    /// What takes its place.
    pub(super) replace: &'static str,
}

const fn fault(name: &'static str, belief: &'static str, find: &'static str, replace: &'static str) -> Fault {
    Fault { name, belief, find, replace }
}

/// Every fault.
pub(super) const FAULTS: [Fault; 34] = [
    fault(
        "barrier-behind-loop",
        "a loop that a barrier follows is left together, even if it can return",
        "for next in successors.iter().filter_map(|successor| self.convergence.get(*successor)) {",
        "if self.post_dominators.dominators(block).any(|one| self.group_barriers.contains(&one)) { return false; }\n\
         let last: BTreeSet<usize> = self.group_barriers.iter().copied().chain([block]).collect();\n\
         for successor in &successors {\n\
         let mut next: BTreeSet<Convergence> = BTreeSet::new();\n\
         for reached in self.reachable(&[*successor], &last) {\n\
         if self.group_barriers.contains(&reached) { next.insert(Convergence::Barrier(reached)); } }",
    ),
    fault(
        "return-is-no-event",
        "a return is no place where work-items have to be together",
        "points.insert(Convergence::Return);",
        "",
    ),
    fault(
        "merge-block-uniform",
        "phis of the merge block are uniform",
        "self.reachable(self.successors(block), &merge)\n    }",
        "let mut found = self.reachable(self.successors(block), &merge);\n\
         found.retain(|block| !merge.contains(block));\nfound\n    }",
    ),
    fault(
        "no-temporal-divergence",
        "phis of the header of a loop that is left one by one are uniform",
        "self.reachable(self.successors(block), &merge)\n    }",
        "let mut found = self.reachable(self.successors(block), &merge);\n\
         for one in self.loops() { if one.blocks.contains(&block) { found.remove(&one.header); } }\nfound\n    }",
    ),
    fault(
        "phi-of-equal-operands",
        "a phi with uniform operands is uniform",
        "Opcode::Phi => has_uniform_operands && !self.divergent_blocks.contains(&definition.block),",
        "Opcode::Phi => has_uniform_operands,",
    ),
    fault(
        "switch-is-uniform",
        "a switch is uniform",
        "Terminator::Branch(line) => line.values().any(|value| !self.uniform.contains(value)),",
        "Terminator::Branch(line) => !line.contains(\"switch \") && line.values().any(|value| !self.uniform.contains(value)),",
    ),
    fault(
        "state-is-uniform",
        "all loads of state are uniform, local ids too",
        "Opcode::Load => matches!(state_load(instruction), Some(StateLoad::Group { .. })),",
        "Opcode::Load => state_load(instruction).is_some(),",
    ),
    fault(
        "loads-recomputed",
        "what was loaded before a barrier can be loaded again behind it",
        "Opcode::Call => is_uniform && is_pure_call(instruction),\n            _ => false,\n        };\n        if !is_repeatable || (!is_uniform && !is_cheap_integer(instruction))",
        "Opcode::Call => is_uniform && is_pure_call(instruction),\n            Opcode::Load => true,\n            _ => false,\n        };\n        if !is_repeatable || (!is_uniform && instruction.opcode != Opcode::Load && !is_cheap_integer(instruction))",
    ),
    fault(
        "nothing-kept",
        "private variables do not live across barriers",
        "live.insert(*name);",
        "let _ = name;",
    ),
    fault(
        "escape-forgotten",
        "a private variable whose address has escaped does not live across barriers",
        "if after.contains(variable) || self.escaped.contains(name) {",
        "if after.contains(variable) {",
    ),
    fault(
        "private-in-parallel",
        "a private variable that all work-items use in turn is independent between them",
        "!self.live_across_barrier.contains(variable)",
        "{ let _ = variable; false }",
    ),
    fault(
        "order-within-iteration",
        "the vectoriser keeps the order of accesses of one work-item",
        "if self.has_conflict(&accesses) {",
        "if { let _ = self.has_conflict(&accesses); false } {",
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
        "if is_entered_together && self.has_uniform_exits(candidate) {",
        "if self.has_uniform_exits(candidate) || is_entered_together || true {",
    ),
    fault(
        "repeated-by-some",
        "all work-items come to a loop whose rounds are repeated",
        "if is_repeatable && is_reached_by_all {",
        "if is_repeatable && (is_reached_by_all || true) {",
    ),
    fault(
        "behind-loop-repeated",
        "what lies between a loop and its merge block can be repeated",
        "if !is_profitable || !exit.between.iter().all(|number| self.is_idempotent(*number)) {",
        "if !is_profitable {\nlet _ = &exit.between;",
    ),
    fault(
        "joins-in-any-order",
        "work-items that wait go on in any order",
        "(ascends && candidate.header < exit && merge_blocks.first() == Some(&exit)).then_some(merge_blocks)",
        "{ let _ = (ascends, exit); merge_blocks.first().is_some().then_some(merge_blocks) }",
    ),
    fault(
        "lanes-outlive-nothing",
        "no value of a chunk is used by the group",
        "if region.scope == BarrierScope::Group {\n                live_in_group.extend(&region.live_in);",
        "if region.scope == BarrierScope::Group && region.start == 0 {\n                live_in_group.extend(&region.live_in);",
    ),
    fault(
        "chunk-begins-late",
        "a chunk begins with what the chunk before it has made",
        "&& live_in.is_some_and(|live_in| live_in.contains(name))",
        "&& live_in.is_some_and(|live_in| live_in.contains(name) && name.is_empty())",
    ),
    fault(
        "done-goes-on",
        "work-items that wait elsewhere execute a region, too",
        "%offload.is.due.p{m} = icmp eq i32 %offload.due.p{m}, {region}\\n",
        "%offload.is.due.p{m} = icmp ne i32 %offload.due.p{m}, -{region}\\n",
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
        "icmp ugt {ty} {first}, {bound}",
        "icmp uge {ty} {first}, {bound}",
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
        "first.is_consecutive && is_minuend && rest.iter().all(|shape| !shape.is_consecutive)",
        "(first.is_consecutive || rest.iter().any(|shape| shape.is_consecutive)) && (is_minuend || !is_minuend)",
    ),
    fault(
        "phis-of-both-ways",
        "values do not differ where a store is passed over",
        "has_equal_operands.then_some(ThenBlock {",
        "(has_equal_operands || true).then_some(ThenBlock {",
    ),
    fault(
        "global-as-local",
        "no other thread accesses memory behind a pointer",
        "(kind == ArgumentKind::Local).then_some(Provenance::LocalMemory)",
        "(kind == ArgumentKind::Local || kind == ArgumentKind::Global).then_some(Provenance::LocalMemory)",
    ),
    fault(
        "position-not-given",
        "functions that are called do not read positions",
        "self.text.needs_local_id |= may_call_reader || uses_local_id_address(instruction);",
        "self.text.needs_local_id |= (may_call_reader && false) || uses_local_id_address(instruction);",
    ),
    fault(
        "counters-behind-loops",
        "what is the same for all lanes in a loop is so behind it",
        "Some(if self.is_temporal(order, name, Some(at)) { Shape::Varying } else { shape })",
        "Some(if self.is_temporal(order, name, Some(at)) && false { Shape::Varying } else { shape })",
    ),
    fault(
        "lanes-come-together",
        "a phi with operands that are the same for all lanes is so",
        "if self.joins.contains(&at) && shape.is_some() { Some(Shape::Varying) } else { shape }",
        "if self.joins.contains(&at) && shape.is_none() { Some(Shape::Varying) } else { shape }",
    ),
    fault("lanes-never-wait", "all lanes execute every block", "self.partial.extend(apart);", "drop(apart);"),
    fault(
        "inactive-lanes-divide",
        "divisors of inactive lanes are not zero",
        "divisors.iter().map(|divisor| self.select(&mask.bits, ty, divisor, &one)).collect()",
        "{ let _ = (&mask, &one, &ty); divisors.to_vec() }",
    ),
];
