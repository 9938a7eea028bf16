//! Loops with and without implicit barriers.

use super::*;
use crate::ir::Types;

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

fn interchanged(text: &str) -> Function {
    let lines: Vec<&str> = text.lines().collect();
    let mut function = Function::parse(&lines, &Types::new("")).unwrap();
    insert_barriers(&mut function, Loops::All);
    function
}

fn barriers(text: &str) -> usize {
    let blocks = interchanged(text).blocks;
    blocks.iter().filter(|block| matches!(block.terminator, Terminator::Barrier { .. })).count()
}

#[test]
fn a_loop_with_a_uniform_trip_count_has_a_barrier_behind_its_phis() {
    let function = interchanged(SUM);
    let blocks: Vec<(&str, usize)> =
        function.blocks.iter().map(|block| (block.name.as_str(), block.instructions.len())).collect();
    assert_eq!(blocks, [("v0", 4), ("v5", 2), ("v5.r1", 6), ("v14", 1)]);
    let phi = &function.blocks[1].instructions[0];
    let from: Vec<&str> = phi.incoming.iter().map(|incoming| incoming.from.as_str()).collect();
    assert_eq!(from, ["v0", "v5.r1"]);
}

#[test]
fn work_items_that_have_left_a_loop_with_unit_strides_are_masked() {
    let masked = [Iterations::Scheduled, Iterations::Uniform].map(BarrierScope::Chunk);
    for condition in ["icmp eq i64 %9, %3", "fcmp olt float %12, 1.0"] {
        let own = SUM.replace("icmp eq i64 %9, %4", condition);
        assert_eq!(scopes(&own), masked);
        // Large strides, and addresses that depend on data.
        assert_eq!(barriers(&own.replace("%8 = add i64 %6, %3", "%8 = mul i64 %3, %4")), 0);
        assert_eq!(barriers(&own.replace("%8 = add i64 %6, %3", "%8 = load i64, ptr %2")), 0);
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
    assert_eq!(scopes(&strided), masked);
}

#[test]
fn loops_with_irregular_accesses_that_work_items_bypass_stay() {
    let guarded =
        SUM.replace("  br label %5\n5:", "  %c = icmp eq i64 %3, 0\n  br i1 %c, label %14, label %5\n5:");
    let guarded =
        guarded.replace("store float %12", "%r = phi float [ 0.0, %0 ], [ %12, %5 ]\n  store float %r");
    assert_eq!(barriers(&guarded.replace("%8 = add i64 %6, %3", "%8 = load i64, ptr %2")), 0);
}

#[test]
fn loops_over_private_arrays_stay() {
    let array = SUM.replace("load ptr, ptr %1", "alloca [64 x float]");
    assert_eq!(barriers(&array), 0);
}

#[test]
fn loops_with_calls_vectors_atomic_or_volatile_accesses_stay() {
    assert_eq!(barriers(&SUM.replace("load float, ptr %10", "call float @expf(float %7)")), 0);
    assert_eq!(barriers(&SUM.replace("load float, ptr %10", "load volatile float, ptr %10")), 0);
    assert_eq!(
        barriers(&SUM.replace("load float, ptr %10", "atomicrmw fadd ptr %10, float 1.0 monotonic")),
        0
    );
    let vectors = SUM.replace(
        "%11 = load float, ptr %10",
        "%v = load <4 x float>, ptr %10\n  %11 = extractelement <4 x float> %v, i64 0",
    );
    assert_eq!(barriers(&vectors), 0);
    // A uniform vector needs no vector of vectors.
    let equal = vectors.replace("i64 %8", "i64 %6");
    assert_eq!(barriers(&equal), 1);
}

/// Halves a varying number until it is small.
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

fn scopes(text: &str) -> Vec<BarrierScope> {
    let blocks = interchanged(text).blocks;
    let mut scopes = Vec::new();
    for block in blocks {
        if let Terminator::Barrier { scope, .. } = block.terminator {
            scopes.push(scope);
        }
    }
    scopes
}

#[test]
fn chunks_have_a_barrier_behind_a_loop_with_divergent_exits() {
    let [repeated, scheduled, uniform] =
        [Iterations::Repeated, Iterations::Scheduled, Iterations::Uniform].map(BarrierScope::Chunk);
    assert_eq!(scopes(HALVES), [repeated, uniform]);
    let entered = "  br label %4\n4:";
    let guard = "  %g = icmp ugt i64 %3, 9\n  br i1 %g, label %4, label %8\n4:";
    assert_eq!(scopes(&HALVES.replace(entered, guard)), [scheduled, uniform]);
    // Work-items that return before the loop wait at the end of the function.
    let guard = guard.replace("%8", "%end");
    let returns = HALVES.replace(entered, &guard).replace("  ret void", "  br label %end\nend:\n  ret void");
    assert_eq!(scopes(&returns), [scheduled, uniform, uniform]);
    // A divergent branch whose sides both enter the loop is no bypass.
    let way = "  %g = icmp ugt i64 %3, 9\n  br i1 %g, label %4, label %way\nway:\n  br label %4\n4:";
    assert_eq!(
        scopes(&HALVES.replace(entered, way).replace("[ %3, %0 ]", "[ %3, %0 ], [ 5, %way ]")),
        [repeated, uniform]
    );
}

#[test]
fn loops_with_side_effects_stay() {
    assert_eq!(scopes(&HALVES.replace("  %7 =", "  store i64 %6, ptr %2\n  %7 =")), []);
    assert_eq!(scopes(&HALVES.replace("lshr i64 %5, 1", "udiv i64 %5, %3")), []);
    let read = "  %at = getelementptr i64, ptr %2, i64 %5\n  %6 = load i64, ptr %at";
    assert_eq!(scopes(&HALVES.replace("  %6 = lshr i64 %5, 1", read)), []);
    let equal = "  %x = load i64, ptr %2\n  %6 = lshr i64 %5, %x";
    assert_eq!(scopes(&HALVES.replace("  %6 = lshr i64 %5, 1", equal)).len(), 2);
}

/// The values of the chunk would be in memory, and the loop may be short.
#[test]
fn nested_loops_with_divergent_exits_are_interchanged_only_between_barriers() {
    let outer = HALVES.replace("  br label %4\n4:", "  br label %outer\nouter:\n  br label %4\n4:");
    let outer = outer.replace("[ %3, %0 ]", "[ %3, %outer ]");
    let again = "  %o = phi i64 [ 0, %0 ], [ %o.next, %8 ]";
    let outer = outer.replace("outer:\n", &format!("outer:\n{again}\n")).replace(
        "  ret void",
        "  %o.next = add i64 %o, 1\n  %c = icmp ult i64 %o, 9\n  br i1 %c, label %outer, label %end\nend:\n  ret void",
    );
    assert_eq!(scopes(&outer), []);
    let with_barrier = outer.replace("8:\n", "8:\n  call void @__offload_wait()\n");
    let chunk = [Iterations::Repeated, Iterations::Uniform].map(BarrierScope::Chunk);
    assert_eq!(scopes(&with_barrier), [chunk[0], chunk[1], BarrierScope::Group]);
}

/// Sums with another start of the row.
fn rows(row: &str) -> String {
    SUM.replace("  %8 = add i64 %6, %3", &format!("  %m = {row}\n  %8 = add i64 %6, %m"))
}

#[test]
fn loops_with_large_strides_have_barriers_of_small_chunks() {
    let chunk = [BarrierScope::Chunk(Iterations::Uniform)];
    assert_eq!(scopes(SUM), [BarrierScope::Group]);
    assert_eq!(scopes(&rows("mul i64 %3, %4")), chunk);
    assert_eq!(scopes(&rows("shl i64 %3, 9")), chunk);
    assert_eq!(scopes(&rows("shl i64 %3, 1")), [BarrierScope::Group]);
    // Uniform in the first dimension.
    let row = rows("mul i64 %y, %4").replace(
        "  %3 = load",
        "  %y = load i64, ptr getelementptr inbounds (i8, ptr @__offload_state_local_id, i64 8)\n  %3 = load",
    );
    assert_eq!(scopes(&row), [BarrierScope::Group]);
    // Vectors gain more with many computations.
    let much: String = (0..9).map(|n| format!("  %s{n} = fmul float %11, %7\n")).collect();
    let much = rows("mul i64 %3, %4").replace("  %12 =", &format!("{much}  %12 ="));
    assert_eq!(scopes(&much), [BarrierScope::Group]);
    // One access with a unit stride is enough for vectors.
    let both = rows("mul i64 %3, %4").replace(
        "  %12 =",
        "  %at = getelementptr float, ptr %2, i64 %3\n  %near = load float, ptr %at\n  %12 =",
    );
    assert_eq!(scopes(&both), [BarrierScope::Group]);
}
