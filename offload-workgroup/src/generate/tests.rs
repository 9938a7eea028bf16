//! Small functions of one work-item, cut.

use super::*;

fn kernel(name: &str) -> Kernel {
    Kernel { name: name.into(), args: Vec::new(), required_work_group: None }
}

fn cut(module: &str) -> String {
    run_groups(module, &[&kernel("k")], 128, Validity::Assumed).unwrap()
}

/// Reverses a group: two pieces, and a position that is computed again.
const REVERSE: &str = "\
@tile = hidden global [256 x i32] undef, align 4
@__offload_state_local_id = hidden global { i64, i64, i64 } zeroinitializer
define hidden void @__offload_work_item_k(ptr noundef %0) #3 {
  %2 = load ptr, ptr %0, align 8
  %3 = load ptr, ptr %2, align 8
  %4 = load i64, ptr @__offload_state_local_id, align 8, !invariant.load !9
  %5 = getelementptr inbounds i32, ptr %3, i64 %4
  %6 = load i32, ptr %5, align 4
  %7 = getelementptr inbounds i32, ptr @tile, i64 %4
  store i32 %6, ptr %7, align 4
  tail call void @__offload_wait() #4, !dbg !8
  %8 = mul i32 %6, 3
  store i32 %8, ptr %5, align 4
  ret void
}
declare void @__offload_wait()
define internal void @helper() #3 {
  call void @__offload_wait()
  ret void
}
attributes #3 = { norecurse nounwind memory(argmem: read) \"target-cpu\"=\"x86-64\" }
!7 = !{}
!8 = !DILocation(line: 12, column: 3, scope: !7)
!9 = !{}
";

#[test]
fn a_wait_makes_two_loops() {
    let text = cut(REVERSE);
    assert!(text.contains("@__offload_frame_k = constant i64 4, align 8"), "{text}");
    assert!(text.contains("define i32 @__offload_run_k(ptr noundef %offload.group"), "{text}");
    assert!(text.contains("attributes #4 = { nounwind \"target-cpu\"=\"x86-64\" }"), "{text}");
    // What one work-item has read is kept; where it reads is computed again, and the argument is loaded once.
    assert!(text.contains("store i32 %v6.p0, ptr %offload.to.v6.p0, align 4"), "{text}");
    assert!(text.contains("%v6.p1 = load i32, ptr %offload.at.v6.p1, align 4"), "{text}");
    assert!(text.contains("%v5.p1 = getelementptr inbounds i32, ptr %v3.p1, i64 %v4.p1"), "{text}");
    // Also where it is loaded for each work-item: stores do not change it.
    assert!(text.contains("%v3.p0 = load ptr, ptr %v2.p0, align 8, !invariant.load !10"), "{text}");
    let (_, second) = text.split_once("offload.begin.p1:\n").unwrap();
    let (head, _) = second.split_once("offload.loop.z.p1:").unwrap();
    assert!(head.contains("%v3.p1 = load ptr, ptr %v2.p1, align 8, !invariant.load !10"), "{head}");
    assert!(!text.contains("call void @__offload_wait") && !text.contains("@helper"), "{text}");
    assert!(
        text.contains("!llvm.loop.parallel_accesses") || text.contains("llvm.loop.parallel_accesses"),
        "{text}"
    );
}

#[test]
fn many_values_of_a_kernel_with_vectors_lie_together() {
    let values: String = (10..20).map(|n| format!("  %{n} = load float, ptr %5, align 4\n")).collect();
    let uses: String = (10..20).map(|n| format!("  store volatile float %{n}, ptr %5, align 4\n")).collect();
    let module = REVERSE.replace(
        "  tail call void @__offload_wait()",
        &format!("{values}  tail call void @__offload_wait()"),
    );
    let module = module.replace("  ret void\n}\ndeclare", &format!("{uses}  ret void\n}}\ndeclare"));
    let apart = cut(&module);
    assert!(apart.contains("getelementptr inbounds [4 x i8], ptr %offload.slot.v10"), "{apart}");
    assert!(apart.contains("%offload.offset.v11 = mul nuw i64 8, %offload.count"), "{apart}");
    let vectors = module.replace("  %8 = mul", "  %v = load <4 x float>, ptr %5, align 4\n  %8 = mul");
    let together = cut(&vectors);
    assert!(together.contains("getelementptr inbounds [44 x i8], ptr %offload.slot.v10"), "{together}");
    assert!(together.contains("%offload.offset.v11 = mul nuw i64 8, 1"), "{together}");
}

#[test]
fn a_switch_ends_where_its_bracket_does() {
    let types = Types::of("");
    let text = "define void @f(ptr %args) {\n  switch i32 0, label %one [\n    i32 0, label %two\n  ], !dbg !3\n\n\
                one:\n  ret void\n\ntwo:\n  ret void";
    let function = Function::parse(&text.lines().collect::<Vec<_>>(), &types).unwrap();
    assert_eq!(function.blocks.len(), 3);
    assert_eq!(function.successors(0), [1, 2]);
}

/// `for (i = 0; i < n; i++) { sum += i; barrier(); }`, then `sum` is written.
const LOOP: &str = "\
@__offload_state_local_id = hidden global { i64, i64, i64 } zeroinitializer
define hidden void @__offload_work_item_k(ptr %args) {
entry:
  %n.at = load ptr, ptr %args, align 8
  %n = load i32, ptr %n.at, align 4
  %id = load i64, ptr @__offload_state_local_id, align 8
  %id32 = trunc i64 %id to i32
  br label %head
head:                                             ; preds = %entry, %body
  %i = phi i32 [ 0, %entry ], [ %i.next, %body ]
  %sum = phi i32 [ %id32, %entry ], [ %sum.next, %body ]
  %more = icmp ult i32 %i, %n
  br i1 %more, label %body, label %end

body:                                             ; No predecessors!
  %sum.next = add i32 %sum, %i
  call void @__offload_wait(), !dbg !8
  %i.next = add i32 %i, 1
  br label %head

end:
  %out.cell = getelementptr i8, ptr %args, i64 8
  %out.at = load ptr, ptr %out.cell, align 8
  %out = load ptr, ptr %out.at, align 8
  %to = getelementptr i32, ptr %out, i64 %id
  store i32 %sum, ptr %to, align 4
  ret void
}
!8 = !DILocation(line: 12, column: 3, scope: !7)
";

#[test]
fn a_count_is_kept_once_and_a_sum_for_each_work_item() {
    let text = cut(LOOP);
    assert!(text.contains("%offload.once.i = alloca i32"), "{text}");
    assert!(text.contains("%offload.slot.sum.next = "), "{text}");
    assert!(!text.contains("offload.once.sum"), "{text}");
    // A piece that can wait again or end says which, and the line of the barrier if not all agree.
    assert!(text.contains("%offload.to.p0 = phi i32 [ 1, %body.p0 ], [ 0, %end.p0 ]"), "{text}");
    assert!(text.contains(&format!("i32 {}, i32 {}", (1u32 << 31) + 12, 1u32 << 31)), "{text}");
    // The phi of the second piece comes from the part of the block after the wait alone.
    assert!(text.contains("%sum.p1 = phi i32 [ %sum.next.from.body.w"), "{text}");
}

#[test]
fn arguments_are_loaded_before_the_loops_also_if_only_some_work_items_use_them() {
    let text = cut(LOOP);
    let (head, _) = text.split_once("offload.loop.z.p0:").unwrap();
    assert!(head.contains("%out.p0 = load ptr, ptr %out.at.p0, align 8, !invariant.load"), "{head}");
    assert_eq!(text.matches("%out.p0 = load").count(), 1, "{text}");
}

#[test]
fn values_lie_by_themselves_for_loops_that_were_cut() {
    let values: String = (0..10).map(|n| format!("  %x{n} = load float, ptr %own, align 4\n")).collect();
    let uses: String = (0..10).map(|n| format!("  store volatile float %x{n}, ptr %to, align 4\n")).collect();
    let own =
        "  %own = getelementptr float, ptr %n.at, i64 %id\n  %v = load <4 x float>, ptr %own, align 4\n";
    let waits = LOOP.replace("  br label %head\nhead", &format!("{own}{values}  br label %head\nhead"));
    let waits = waits.replace("  store i32 %sum", &format!("{uses}  store i32 %sum"));
    assert!(cut(&waits).contains("mul nuw i64 8, 1"));
    let cut_loop = cut(&waits.replace("  call void @__offload_wait(), !dbg !8\n", ""));
    assert!(cut_loop.contains("mul nuw i64 8, %offload.count"), "{cut_loop}");
}

#[test]
fn calls_that_wait_and_were_not_inlined_are_refused() {
    let module = REVERSE.replace("  %8 = mul", "  call void @helper()\n  %8 = mul");
    let error = run_groups(&module, &[&kernel("k")], 128, Validity::Assumed).unwrap_err().to_string();
    assert!(error.contains("kernel `k`") && error.contains("`helper`") && error.contains("hint:"), "{error}");
}

/// Halves each work-item's position until it is small, behind a barrier.
const HALVES: &str = "\
@__offload_state_local_id = hidden global { i64, i64, i64 } zeroinitializer
define hidden void @__offload_work_item_k(ptr %args) {
entry:
  %out.at = load ptr, ptr %args, align 8
  %out = load ptr, ptr %out.at, align 8
  %id = load i64, ptr @__offload_state_local_id, align 8
  call void @__offload_wait(), !dbg !8
  br label %head
head:
  %x = phi i64 [ %id, %entry ], [ %x.next, %head ]
  %odd = trunc i64 %x to i1
  %x.next = lshr i64 %x, 1
  %more = icmp ugt i64 %x.next, 3
  br i1 %more, label %head, label %end
end:
  %to = getelementptr i64, ptr %out, i64 %id
  store i64 %x.next, ptr %to, align 8
  ret void
}
!8 = !DILocation(line: 12, column: 3, scope: !7)
";

#[test]
fn neighbours_keep_what_a_loop_needs_in_variables_of_theirs() {
    let text = cut(HALVES);
    // Sixteen at once, and one by one those that are left.
    assert!(text.contains("%offload.lanes.x.c2 = alloca [16 x i64]"), "{text}");
    assert!(text.contains("%offload.lanes.x.c3 = alloca [1 x i64]"), "{text}");
    assert!(text.contains("@__offload_frame_k = constant i64 0, align 8"), "{text}");
    assert!(text.contains("!\"llvm.loop.vectorize.width\", i32 4}"), "{text}");
    // Whoever is done goes round until all are, and writes to memory behind the loop alone.
    assert_eq!(text.matches("switch i32 %offload.next.p").count(), 2, "{text}");
    assert!(!text.contains("offload.due"), "{text}");
    assert_eq!(text.matches("ptr %to.p").count(), 2, "{text}");
}

#[test]
fn neighbours_that_wait_in_different_places_remember_where() {
    let guard = "  %some = icmp ugt i64 %id, 9\n  br i1 %some, label %head, label %end\nhead:";
    let guarded = HALVES.replace("  br label %head\nhead:", guard);
    let guarded = guarded.replace("end:\n", "end:\n  %last = phi i64 [ %id, %entry ], [ %x.next, %head ]\n");
    let text = cut(&guarded.replace("store i64 %x.next", "store i64 %last"));
    assert!(text.contains("%offload.due.c2 = alloca [16 x i32]"), "{text}");
    // The piece of the loop has number 2, the one behind it 3; numbers of pieces of the group come behind those.
    assert!(text.contains(" = icmp eq i32 %offload.due.p14, 2\n"), "{text}");
    assert!(
        text.contains("phi i32 [ 2, %head.p14 ], [ 3, %end.p14 ], [ %offload.due.p14, %offload.lanes.p14 ]"),
        "{text}"
    );
    assert_eq!(text.matches("phi i32 [ 4, %end").count(), 2, "{text}");
}
