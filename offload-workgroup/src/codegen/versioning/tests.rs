//! Kernels with comparisons that are invariant along rows, and with others.

use crate::generate_work_groups;
use crate::kernel::Kernel;
use crate::options::Options;

/// Stores at the position `%9` of all groups, if `%11` holds, which `COMPARISON` defines.
const KERNEL: &str = "\
@__offload_state_local_id = hidden global { i64, i64, i64 } zeroinitializer
define hidden void @__offload_work_item_k(ptr noundef %0) #3 {
  %2 = load ptr, ptr %0, align 8
  %3 = load ptr, ptr %2, align 8
  %4 = getelementptr i8, ptr %0, i64 8
  %5 = load ptr, ptr %4, align 8
  %6 = load i32, ptr %5, align 4
  %7 = load i64, ptr @__offload_state_local_id, align 8
  %8 = load i64, ptr @__offload_state_group_id, align 8
  %9 = add nuw i64 %7, %8
  %10 = trunc nuw i64 %9 to i32
COMPARISON
  %12 = getelementptr i32, ptr %3, i64 %7
  br i1 %11, label %13, label %14
13:
  store i32 1, ptr %12, align 4
  br label %14
14:
  ret void
}
attributes #3 = { nounwind }
!7 = !{}
";

/// The work-group function of the kernel with this instruction.
fn generate(comparison: &str) -> String {
    let module = KERNEL.replace("COMPARISON", comparison);
    generate_work_groups(&module, &[Kernel::new("k")], &Options::new(128)).unwrap()
}

/// The version of the loop without comparisons.
fn version(text: &str) -> &str {
    let (_, copy) = text.split_once("offload.loop.x.p3:\n").unwrap();
    copy.split_once("offload.done.x.p3:").unwrap().0
}

#[test]
fn rows_with_an_invariant_comparison_have_a_version_of_the_loop() {
    let text = generate("  %11 = icmp ult i32 %10, %6");
    assert!(text.contains(
        "br i1 %offload.inside.p0, label %offload.loop.x.p3, label %offload.loop.x.p0\noffload.loop.x.p3:"
    ));
    assert!(version(&text).contains("%v11.p3 = add i1 %offload.edge.v11.p0, false"), "{text}");
    assert!(text.contains("offload.done.x.p3:\n  br label %offload.done.x.p0"), "{text}");
    // The original loop compares, and both use the loads before the loops.
    assert!(text.contains("%v11.p0 = icmp ult i32 %v10.p0, %v6.p0"), "{text}");
    // The guard computes both ends, without flags that make a number that wraps poison.
    assert!(text.contains("%v7.last.p0 = sub i64 %offload.last.0, 1"), "{text}");
    assert!(text.contains("%v9.last.p0 = add i64 %v7.last.p0, %v8.row.p0"), "{text}");
    assert!(text.contains("%v10.first.p0 = trunc i64 %v9.first.p0 to i32"), "{text}");
    assert!(text.contains("%offload.at.first.v11.p0 = icmp ult i32 %v10.first.p0, %v6.row.p0"), "{text}");
    assert!(text.contains("%offload.ascends.v11.p0 = icmp ule i32 %v10.first.p0, %v10.last.p0"), "{text}");
}

/// The work-group function of a kernel that compares the result of an intrinsic.
fn intrinsic(call: &str) -> String {
    generate(&format!("  %e = {call}\n  %11 = icmp eq i32 %e, 7"))
}

#[test]
fn every_kind_of_comparison_has_a_guard() {
    let text = generate("  %11 = icmp ne i32 %6, %10");
    assert!(version(&text).contains("%v11.p3 = add i1 true, false"), "{text}");
    assert!(text.contains("%offload.after.v11.p0 = icmp ugt i32 %v10.first.p0, %v6.row.p0"), "{text}");
    assert!(text.contains("%offload.before.v11.p0 = icmp ult i32 %v10.last.p0, %v6.row.p0"), "{text}");
    let text = generate("  %11 = icmp samesign sgt i32 %6, %10, !dbg !7");
    assert!(text.contains("%offload.at.last.v11.p0 = icmp sgt i32 %v6.row.p0, %v10.last.p0"), "{text}");
    assert!(text.contains("%offload.ascends.v11.p0 = icmp sle i32"), "{text}");
    let text = intrinsic("tail call i32 @llvm.usub.sat.i32(i32 %10, i32 range(i32 0, 9) %6)");
    assert!(version(&text).contains("%e.p3 = sub i32 %v10.p3, %v6.p3"), "{text}");
    assert!(text.contains("%offload.passes.e.p0 = icmp uge i32 %v10.first.p0, %v6.row.p0"), "{text}");
    // The difference is consecutive, too.
    assert!(text.contains("%offload.after.v11.p0 = icmp ugt i32 %e.first.p0, 7"), "{text}");
    assert!(
        text.contains("%e.last.p0 = call i32 @llvm.usub.sat.i32(i32 %v10.last.p0, i32 %v6.row.p0)"),
        "{text}"
    );
    for (function, check) in [
        ("smin", "icmp sle i32 %v10.last.p0, 5"),
        ("umin", "icmp ule i32 %v10.last.p0, 5"),
        ("smax", "icmp sge i32 %v10.first.p0, 5"),
        ("umax", "icmp uge i32 %v10.first.p0, 5"),
    ] {
        let text = intrinsic(&format!("call i32 @llvm.{function}.i32(i32 %10, i32 5)"));
        assert!(text.contains(&format!("%offload.passes.e.p0 = {check}")), "{text}");
        assert!(version(&text).contains("%e.p3 = add i32 %v10.p3, 0"), "{text}");
    }
}

#[test]
fn every_region_has_a_version_for_its_comparisons() {
    let text = generate(
        "  %11 = icmp ult i32 %10, %6\n  %e = icmp ne i32 %10, 0\n  %f = sext i1 %e to i64\n  \
         %h = sub i64 %9, %f\n  %i = getelementptr i32, ptr %3, i64 %h\n  store i32 2, ptr %i\n  \
         call void @__offload_wait()\n  store i32 3, ptr %i",
    );
    // The address is computed in both regions, of both versions; nothing is stored in the context.
    assert!(text.contains("@__offload_frame_k = constant i64 0,"), "{text}");
    assert!(
        text.contains("br i1 %offload.inside.p0, label %offload.loop.x.p10, label %offload.loop.x.p0"),
        "{text}"
    );
    assert!(
        text.contains("br i1 %offload.inside.p1, label %offload.loop.x.p11, label %offload.loop.x.p1"),
        "{text}"
    );
    assert!(text.contains("%e.p1 = icmp ne i32 %v10.p1, 0"), "{text}");
    assert!(text.contains("%e.p11 = add i1 true, false"), "{text}");
    // Numbers of the row are those of the loops around the region.
    assert!(text.contains("%v10.first.p1 = trunc i64 %v9.first.p1 to i32"), "{text}");
    assert!(text.contains("%offload.edge.v11.p1 = freeze i1 %offload.at.first.v11.p1"), "{text}");
    assert!(text.contains("%v11.p11 = add i1 %offload.edge.v11.p1, false"), "{text}");
}

#[test]
fn other_comparisons_have_no_version() {
    for comparison in [
        // It varies in every group.
        "  %11 = icmp eq i64 %7, 0",
        // It is uniform.
        "  %11 = icmp eq i64 %8, 0",
        // Neighbours differ by more than one, or by an unknown number.
        "  %e = shl i32 %10, 1\n  %11 = icmp eq i32 %e, 8",
        "  %e = add i32 %10, %10\n  %11 = icmp eq i32 %e, 8",
        "  %e = sub i32 8, %10\n  %11 = icmp eq i32 %e, 8",
        "  %e = sext i32 %10 to i64\n  %11 = icmp slt i64 %e, 8",
        "  %e = load i32, ptr %3\n  %11 = icmp ult i32 %e, %10",
        "  %e = call i32 @llvm.usub.sat.i32(i32 %6, i32 %10)\n  %11 = icmp eq i32 %e, 8",
        // Both are consecutive.
        "  %e = add i32 %10, 1\n  %11 = icmp ult i32 %e, %10",
        // The result of another work-item's load, which is live across a barrier.
        "  %e = load i32, ptr %3\n  call void @__offload_wait()\n  %11 = icmp ult i32 %e, 8",
    ] {
        let text = generate(comparison);
        assert!(!text.contains("%offload.inside"), "{comparison}: {text}");
    }
}
