//! Sub-groups of OpenCL C: the size as a constant, and implicit barriers in loops, so that the lanes that call a function
//! together are those that are active.
//!
//! The result of a function such as `sub_group_non_uniform_reduce_add` depends on which work-items execute the call. A
//! lane comes to such a call with those that are in the same iteration of every loop around it: a loop whose branches
//! diverge gets a barrier at its header, where lanes wait for those that are still in the iteration before. Within an
//! iteration the order of regions does the rest (`ControlFlowGraph::convergence_order`).
//!
//! Work-items of a loop without divergent branches execute the same blocks, and stay together by data flow.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::analysis::control_flow::{ControlFlowGraph, Loop};
use crate::analysis::values::Values;
use crate::analysis::work_item_state::SUB_GROUP_SIZE;
use crate::ir::function::{BarrierScope, Function, Terminator};
use crate::options::Validity;

/// Whether `module` has the variable with the size of sub-groups.
pub(crate) fn has_size_variable(module: &str) -> bool {
    let start = format!("@{SUB_GROUP_SIZE} = ");
    module.lines().any(|line| line.starts_with(&start))
}

/// The lines of a work-item function in which loads of the size of sub-groups are the constant `size`.
pub(crate) fn with_constant_size<'m>(body: &[&'m str], size: u32) -> Vec<Cow<'m, str>> {
    let load = format!(" = load i64, ptr @{SUB_GROUP_SIZE},");
    let mut lines = Vec::with_capacity(body.len());
    for line in body {
        lines.push(match line.split_once(&load) {
            Some((result, _)) => Cow::Owned(format!("{result} = add i64 {size}, 0")),
            None => Cow::Borrowed(*line),
        });
    }
    lines
}

/// Inserts barriers at the headers of divergent loops around calls whose result depends on the active lanes.
pub(crate) fn insert_loop_barriers(function: &mut Function) {
    if !function.has_barrier_of(BarrierScope::Lanes) || !function.has_backward_branch() {
        return;
    }
    let cfg = ControlFlowGraph::new(function, Validity::Checked);
    let values = Values::new(function, &cfg);
    let mut barriers = BTreeMap::new();
    for one in cfg.loops() {
        if is_divergent_around_lanes(&one, function, &values) {
            barriers.insert(one.header, BarrierScope::Lanes);
        }
    }
    function.insert_barriers_after_phis(&barriers);
}

fn is_divergent_around_lanes(one: &Loop, function: &Function, values: &Values<'_>) -> bool {
    let blocks = || one.blocks.iter().filter_map(|number| function.blocks.get(*number));
    let has_call = blocks()
        .any(|block| matches!(block.terminator, Terminator::Barrier { scope: BarrierScope::Lanes, .. }));
    has_call && blocks().any(|block| values.is_divergent(&block.terminator))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Types;

    #[test]
    fn the_size_is_a_constant_of_the_kernel() {
        let body = [
            "  %1 = load i64, ptr @__offload_state_sub_group_size, align 8, !invariant.load !3",
            "  ret void",
        ];
        assert_eq!(with_constant_size(&body, 16), ["  %1 = add i64 16, 0", "  ret void"]);
        assert!(has_size_variable("\n@__offload_state_sub_group_size = hidden global i64 32, align 8\n"));
        assert!(!has_size_variable("  %1 = load i64, ptr @__offload_state_sub_group_size, align 8\n"));
    }

    fn barriers(condition: &str) -> usize {
        let text = format!(
            "define void @f(ptr %args) {{\n  %id = load i64, ptr @__offload_state_local_id, align 8\n  br label %head\n\
             head:\n  %i = phi i64 [ 0, %0 ], [ %next, %head ]\n  call void @__offload_wait_lanes()\n  \
             %next = add i64 %i, 1\n  %more = icmp ult i64 %i, {condition}\n  br i1 %more, label %head, label %end\n\
             end:\n  ret void"
        );
        let lines: Vec<&str> = text.lines().collect();
        let mut function = Function::parse(&lines, &Types::new("")).unwrap();
        insert_loop_barriers(&mut function);
        function.blocks.iter().filter(|block| matches!(block.terminator, Terminator::Barrier { .. })).count()
    }

    #[test]
    fn divergent_loops_have_a_barrier_at_the_header() {
        assert_eq!(barriers("%id"), 2);
        assert_eq!(barriers("4"), 1);
    }
}
