//! Loops with and without cuts.

use super::*;
use crate::ir::types::Types;

/// Sums what lies `step` apart, from the work-item's position.
const SUM: &str = "\
define void @f(ptr %args) {
  %1 = load ptr, ptr %args
  %2 = load ptr, ptr %1
  %3 = load i64, ptr @__offload_state_local_id
  %4 = load i64, ptr @__offload_state_local_size
  br label %5
5:
  %6 = phi i64 [ 0, %0 ], [ %9, %5 ]
  %7 = phi float [ 0.0, %0 ], [ %12, %5 ]
  %8 = add i64 %6, %3
  %9 = add i64 %6, 1
  %10 = getelementptr float, ptr %2, i64 %8
  %11 = load float, ptr %10
  %12 = fadd float %7, %11
  %13 = icmp eq i64 %9, %4
  br i1 %13, label %14, label %5
14:
  store float %12, ptr %2
  ret void";

fn cut_function(text: &str) -> Function {
    let lines: Vec<&str> = text.lines().collect();
    let mut function = Function::parse(&lines, &Types::of("")).unwrap();
    cut(&mut function);
    function
}

fn waits(text: &str) -> usize {
    let blocks = cut_function(text).blocks;
    blocks.iter().filter(|block| matches!(block.end, End::Wait { .. })).count()
}

#[test]
fn each_round_of_a_loop_with_one_count_for_all_is_cut_after_its_phis() {
    let function = cut_function(SUM);
    let blocks: Vec<(&str, usize)> =
        function.blocks.iter().map(|block| (block.name.as_str(), block.instructions.len())).collect();
    assert_eq!(blocks, [("v0", 4), ("v5", 2), ("v5.r1", 6), ("v14", 1)]);
    let phi = &function.blocks[1].instructions[0];
    let from: Vec<&str> = phi.incoming.iter().map(|incoming| incoming.from.as_str()).collect();
    assert_eq!(from, ["v0", "v5.r1"]);
}

#[test]
fn who_has_left_a_loop_that_reads_side_by_side_is_passed_over() {
    let passed_over = [Rounds::Some, Rounds::Equal].map(Wait::Lanes);
    for condition in ["icmp eq i64 %9, %3", "fcmp olt float %12, 1.0"] {
        let own = SUM.replace("icmp eq i64 %9, %4", condition);
        assert_eq!(kinds(&own), passed_over);
        // Rows, and places that data tells.
        assert_eq!(waits(&own.replace("%8 = add i64 %6, %3", "%8 = mul i64 %3, %4")), 0);
        assert_eq!(waits(&own.replace("%8 = add i64 %6, %3", "%8 = load i64, ptr %2")), 0);
    }
    // `for (i = id; i < n; i += size) a[i] += 1`
    let strided = SUM.replace("[ 0, %0 ]", "[ %s, %0 ]").replace(
        "  br label %5\n5:",
        "  %s = and i64 %3, 32767\n  %c = icmp ult i64 %s, %4\n  br i1 %c, label %5, label %17\n5:",
    );
    let strided = strided
        .replace("%8 = add i64 %6, %3", "%8 = add i64 %6, 0")
        .replace("%9 = add i64 %6, 1", "%9 = add i64 %6, 512");
    let strided = strided
        .replace("  %13 =", "  store float %12, ptr %10\n  %13 =")
        .replace("icmp eq i64 %9, %4", "icmp uge i64 %9, %4");
    let strided =
        strided.replace("label %14,", "label %17,").replace("14:\n  store float %12, ptr %2\n", "17:\n");
    assert_eq!(kinds(&strided), passed_over);
}

#[test]
fn loops_that_read_where_data_tells_and_some_do_not_come_to_stay() {
    let guarded =
        SUM.replace("  br label %5\n5:", "  %c = icmp eq i64 %3, 0\n  br i1 %c, label %14, label %5\n5:");
    let guarded =
        guarded.replace("store float %12", "%r = phi float [ 0.0, %0 ], [ %12, %5 ]\n  store float %r");
    assert_eq!(waits(&guarded.replace("%8 = add i64 %6, %3", "%8 = load i64, ptr %2")), 0);
}

#[test]
fn loops_over_private_arrays_stay() {
    let array = SUM.replace("load ptr, ptr %1", "alloca [64 x float]");
    assert_eq!(waits(&array), 0);
}

#[test]
fn loops_with_calls_vectors_or_order_stay() {
    assert_eq!(waits(&SUM.replace("load float, ptr %10", "call float @expf(float %7)")), 0);
    assert_eq!(waits(&SUM.replace("load float, ptr %10", "load volatile float, ptr %10")), 0);
    assert_eq!(waits(&SUM.replace("load float, ptr %10", "atomicrmw fadd ptr %10, float 1.0 monotonic")), 0);
    let vectors = SUM.replace(
        "%11 = load float, ptr %10",
        "%v = load <4 x float>, ptr %10\n  %11 = extractelement <4 x float> %v, i64 0",
    );
    assert_eq!(waits(&vectors), 0);
    // A vector that is the same for all work-items is read once.
    let equal = vectors.replace("i64 %8", "i64 %6");
    assert_eq!(waits(&equal), 1);
}

/// Halves a number of the work-item's own until it is small.
const HALVES: &str = "\
define void @f(ptr %args) {
  %1 = load ptr, ptr %args
  %2 = load ptr, ptr %1
  %3 = load i64, ptr @__offload_state_local_id
  br label %4
4:
  %5 = phi i64 [ %3, %0 ], [ %6, %4 ]
  %6 = lshr i64 %5, 1
  %7 = icmp ugt i64 %6, 3
  br i1 %7, label %4, label %8
8:
  store i64 %6, ptr %2
  ret void";

fn kinds(text: &str) -> Vec<Wait> {
    let blocks = cut_function(text).blocks;
    let wait = |block: &Block| match block.end {
        End::Wait { wait, .. } => Some(wait),
        _ => None,
    };
    blocks.iter().filter_map(wait).collect()
}

#[test]
fn neighbours_wait_behind_a_loop_that_they_leave_one_by_one() {
    let [own, some, equal] = [Rounds::Own, Rounds::Some, Rounds::Equal].map(Wait::Lanes);
    assert_eq!(kinds(HALVES), [own, equal]);
    let entered = "  br label %4\n4:";
    let guard = "  %g = icmp ugt i64 %3, 9\n  br i1 %g, label %4, label %8\n4:";
    assert_eq!(kinds(&HALVES.replace(entered, guard)), [some, equal]);
    // Those who return before the loop wait at the end of the function.
    let guard = guard.replace("%8", "%end");
    let returns = HALVES.replace(entered, &guard).replace("  ret void", "  br label %end\nend:\n  ret void");
    assert_eq!(kinds(&returns), [some, equal, equal]);
    // Where some come another way to the loop, all come.
    let way = "  %g = icmp ugt i64 %3, 9\n  br i1 %g, label %4, label %way\nway:\n  br label %4\n4:";
    assert_eq!(
        kinds(&HALVES.replace(entered, way).replace("[ %3, %0 ]", "[ %3, %0 ], [ 5, %way ]")),
        [own, equal]
    );
}

#[test]
fn loops_with_effects_are_not_left_one_by_one() {
    assert_eq!(kinds(&HALVES.replace("  %7 =", "  store i64 %6, ptr %2\n  %7 =")), []);
    assert_eq!(kinds(&HALVES.replace("lshr i64 %5, 1", "udiv i64 %5, %3")), []);
    let read = "  %at = getelementptr i64, ptr %2, i64 %5\n  %6 = load i64, ptr %at";
    assert_eq!(kinds(&HALVES.replace("  %6 = lshr i64 %5, 1", read)), []);
    let equal = "  %x = load i64, ptr %2\n  %6 = lshr i64 %5, %x";
    assert_eq!(kinds(&HALVES.replace("  %6 = lshr i64 %5, 1", equal)).len(), 2);
}

/// What neighbours keep would be in memory, and the loop may be short.
#[test]
fn loops_in_others_are_left_one_by_one_only_between_barriers() {
    let outer = HALVES.replace("  br label %4\n4:", "  br label %outer\nouter:\n  br label %4\n4:");
    let outer = outer.replace("[ %3, %0 ]", "[ %3, %outer ]");
    let again = "  %o = phi i64 [ 0, %0 ], [ %o.next, %8 ]";
    let outer = outer.replace("outer:\n", &format!("outer:\n{again}\n")).replace(
        "  ret void",
        "  %o.next = add i64 %o, 1\n  %c = icmp ult i64 %o, 9\n  br i1 %c, label %outer, label %end\nend:\n  ret void",
    );
    assert_eq!(kinds(&outer), []);
    let waits = outer.replace("8:\n", "8:\n  call void @__offload_wait()\n");
    let lanes = [Rounds::Own, Rounds::Equal].map(Wait::Lanes);
    assert_eq!(kinds(&waits), [lanes[0], lanes[1], Wait::Group]);
}

#[test]
fn neighbours_that_read_far_apart_are_few() {
    let far = [Wait::Lanes(Rounds::Equal)];
    assert_eq!(kinds(SUM), [Wait::Group]);
    let rows =
        |row: &str| SUM.replace("  %8 = add i64 %6, %3", &format!("  %m = {row}\n  %8 = add i64 %6, %m"));
    assert_eq!(kinds(&rows("mul i64 %3, %4")), far);
    assert_eq!(kinds(&rows("shl i64 %3, 9")), far);
    assert_eq!(kinds(&rows("shl i64 %3, 1")), [Wait::Group]);
    // Equal for neighbours in the first dimension.
    let row = rows("mul i64 %y, %4").replace(
        "  %3 = load",
        "  %y = load i64, ptr getelementptr inbounds (i8, ptr @__offload_state_local_id, i64 8)\n  %3 = load",
    );
    assert_eq!(kinds(&row), [Wait::Group]);
    // Vectors gain more where much is computed.
    let much: String = (0..9).map(|n| format!("  %s{n} = fmul float %11, %7\n")).collect();
    let much = rows("mul i64 %3, %4").replace("  %12 =", &format!("{much}  %12 ="));
    assert_eq!(kinds(&much), [Wait::Group]);
    // One read that is close together is enough for vectors.
    let both = rows("mul i64 %3, %4").replace(
        "  %12 =",
        "  %at = getelementptr float, ptr %2, i64 %3\n  %near = load float, ptr %at\n  %12 =",
    );
    assert_eq!(kinds(&both), [Wait::Group]);
}
