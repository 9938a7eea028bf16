//! Work-group functions of small kernels.

use super::*;

fn generate(module: &str) -> String {
    // What divergent loops become is in the tests of `vector_region`.
    let options = Options::new(128).with_divergent_loops(false);
    generate_work_groups(module, &[Kernel::new("k")], &options).unwrap()
}

/// Reverses a group: two parallel regions, and a position that is rematerialised.
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
fn a_barrier_makes_two_work_item_loops() {
    let text = generate(REVERSE);
    assert!(text.contains("@__offload_frame_k = constant i64 4, align 8"), "{text}");
    assert!(text.contains("define i32 @__offload_run_k(ptr noundef %offload.group"), "{text}");
    assert!(text.contains("attributes #4 = { nounwind \"target-cpu\"=\"x86-64\" }"), "{text}");
    // The loaded value is stored in the context; its address is rematerialised, and the argument is loaded once.
    assert!(text.contains("store i32 %v6.p0, ptr %offload.to.v6.p0, align 4"), "{text}");
    assert!(text.contains("%v6.p1 = load i32, ptr %offload.at.v6.p1, align 4"), "{text}");
    assert!(text.contains("%v5.p1 = getelementptr inbounds i32, ptr %v3.p1, i64 %v4.p1"), "{text}");
    // The load of an argument is invariant: stores do not change it.
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

/// The property of a loop that LLVM does not unroll it.
const UNROLL_DISABLE: &str = " = !{!\"llvm.loop.unroll.disable\"}";

/// [`REVERSE`] with a store that some work-items execute.
fn divergent_reverse(address: &str) -> String {
    let store = format!(
        "  %c = icmp ult i32 %6, 100\n  br i1 %c, label %on, label %off\non:\n  store i32 1, ptr {address}, align 4\n  \
         br label %off\noff:\n"
    );
    REVERSE.replace("  store i32 %6, ptr %7, align 4\n", &store)
}

/// [`REVERSE`] with a store of some work-items to one element, and an address of all others that `lines` computes.
fn with_address(lines: &str) -> String {
    let module = divergent_reverse("@tile");
    let replaced = module.replace("  %5 = getelementptr inbounds i32, ptr %3, i64 %4\n", lines);
    assert_ne!(replaced, module);
    replaced
}

fn generate_row(module: &str, size: u32) -> String {
    let kernel = Kernel::new("k").with_required_work_group(Some([size, 4, 1]));
    let options = Options::new(128).with_divergent_loops(false);
    generate_work_groups(module, &[kernel], &options).unwrap()
}

/// LLVM unrolls loops of known lengths before it vectorizes, and blocks under a condition would stay scalar.
#[test]
fn short_rows_with_divergent_branches_are_not_unrolled() {
    let divergent = divergent_reverse("%7");
    let text = generate_row(&divergent, 16);
    let (node, _) = text.split_once(UNROLL_DISABLE).unwrap();
    let node = node.rsplit('\n').next().unwrap();
    // Of the first region, the loop over rows alone.
    assert_eq!(text.matches(&format!(", {node}}}")).count(), 1, "{text}");
    assert!(!generate_row(REVERSE, 16).contains(UNROLL_DISABLE));
    assert!(!generate_row(&divergent, 256).contains(UNROLL_DISABLE));
    assert!(!generate(&divergent).contains(UNROLL_DISABLE));
}

#[test]
fn short_rows_without_accesses_of_neighbours_are_unrolled() {
    // A column of a matrix, which vectors gather.
    let column = "  %row = mul i64 %4, 1024\n  %5 = getelementptr inbounds i32, ptr %3, i64 %row\n";
    assert!(!generate_row(&with_address(column), 16).contains(UNROLL_DISABLE));
}

#[test]
fn narrow_positions_are_indices_of_64_bits_where_the_size_is_required() {
    // `(int)get_local_id(0) - 1`, as a number of bytes.
    let west = "  %west = add i64 %4, -1\n  %high = shl i64 %west, 32\n  %bytes = ashr exact i64 %high, 30\n  \
                %5 = getelementptr inbounds i8, ptr %3, i64 %bytes\n";
    let module = with_address(west);
    let text = generate_row(&module, 16);
    assert!(text.contains(" = shl nsw i64 %west") && text.contains(UNROLL_DISABLE), "{text}");
    assert!(generate(&module).contains(" = ashr exact i64 %high"));
}

/// The sum of a row of a matrix for each work-item.
const ROW_SUMS: &str = "\
@__offload_state_local_id = hidden global { i64, i64, i64 } zeroinitializer
define hidden void @__offload_work_item_k(ptr noundef %0) #3 {
  %2 = load ptr, ptr %0, align 8
  %3 = load ptr, ptr %2, align 8
  %4 = getelementptr i8, ptr %0, i64 8
  %5 = load ptr, ptr %4, align 8
  %6 = load i64, ptr %5, align 8
  %7 = load i64, ptr @__offload_state_local_id, align 8
  %8 = mul i64 %7, %6
  br label %9
9:
  %10 = phi i64 [ 0, %1 ], [ %15, %9 ]
  %11 = phi float [ 0.0, %1 ], [ %14, %9 ]
  %12 = add i64 %8, %10
  %13 = getelementptr float, ptr %3, i64 %12
  %16 = load float, ptr %13, align 4
  %14 = fadd float %11, %16
  %15 = add i64 %10, 1
  %17 = icmp ult i64 %15, %6
  br i1 %17, label %9, label %18
18:
  %19 = getelementptr float, ptr %3, i64 %7
  store float %14, ptr %19, align 4
  ret void
}
attributes #3 = { nounwind }
";

#[test]
fn chunks_have_as_many_lanes_as_their_cache_lines_permit() {
    let text = generate(ROW_SUMS);
    assert!(text.contains(" = alloca [8 x float]"), "{text}");
    let two = ROW_SUMS.replace(
        "  %14 = fadd float %11, %16\n",
        "  %20 = getelementptr float, ptr %13, i64 %8\n  %21 = load float, ptr %20, align 4\n  \
         %22 = fmul float %16, %21\n  %14 = fadd float %11, %22\n",
    );
    assert_ne!(two, ROW_SUMS);
    let text = generate(&two);
    assert!(text.contains(" = alloca [4 x float]"), "{text}");
}

#[test]
fn barriers_of_warps_and_blocks_make_a_scheduler() {
    let module = REVERSE.replace("__offload_wait(", "__offload_wait_warp(");
    let text = generate(&module);
    // The loaded value, and the code of the region that is due.
    assert!(text.contains("@__offload_frame_k = constant i64 8, align 8"), "{text}");
    assert!(text.contains("call i64 @__offload_warp_next(ptr %offload.lanes,"), "{text}");
    assert!(text.contains("[ i32 0, label %offload.begin.p0 i32 1, label %offload.begin.p1 ]"), "{text}");
    // The second region is due behind the barrier of the warp, and then the work-item has returned.
    assert!(text.contains("%offload.to.p0 = phi i32 [ 1073741825,"), "{text}");
    assert!(text.contains("%offload.to.p1 = phi i32 [ 3221225472,"), "{text}");
    // No rule holds that would let the vectoriser exchange accesses.
    assert!(!text.contains("llvm.loop.parallel_accesses"), "{text}");
}

/// A barrier of CUDA that all work-items come to needs no scheduler.
#[test]
fn whole_warps_go_from_one_region_to_the_next() {
    let module = REVERSE.replace("__offload_wait(", "__offload_wait_warp(");
    let generate =
        |module: &str, options: &Options| generate_work_groups(module, &[Kernel::new("k")], options).unwrap();
    let options = Options::new(128);
    let text = generate(&module, &options);
    let (_, whole) = text.split_once("offload.whole.p0:\n").unwrap();
    let (whole, _) = whole.split_once("offload.some.p0:\n").unwrap();
    // Neighbours, whose accesses are independent.
    assert!(whole.contains("%offload.x.p2 = or disjoint i64 %offload.warp.x, %offload.lane.p2"), "{whole}");
    assert!(whole.contains("%v6.p2 = load i32, ptr %v5.p2, align 4, !llvm.access.group"), "{whole}");
    // The barrier of the warp needs no scheduler.
    assert!(whole.contains("call void @__offload_warp_pass()\n  br label %offload.whole.p1\n"), "{whole}");
    assert!(!whole.contains("%offload.to.p2 = phi"), "{whole}");
    // All lanes have returned behind the last region.
    assert!(text.contains("offload.to0.p3:\n  store <32 x i32> splat (i32 -1073741824), ptr %offload.lanes"));
    // The order of lanes matters to functions on sub-groups, and builds that check rely on nothing.
    let sub_groups = format!("@__offload_state_sub_group_size = hidden global i64 32\n{module}");
    assert!(!generate(&sub_groups, &options).contains("offload.whole."));
    assert!(!generate(&module, &options.with_validity(Validity::Checked)).contains("offload.whole."));
}

#[test]
fn lanes_that_part_are_scheduled() {
    let branch = "  %c = icmp ult i64 %4, 100\n  br i1 %c, label %on, label %off\non:\n  tail call void @__offload_wait_warp() #4\n  br label %off\noff:\n";
    let module = REVERSE.replace("  tail call void @__offload_wait() #4, !dbg !8\n", branch);
    let module = module.replace("__offload_wait(", "__offload_wait_warp(");
    let text = generate_work_groups(&module, &[Kernel::new("k")], &Options::new(128)).unwrap();
    let (_, end) = text.split_once("offload.done.p2:\n").unwrap();
    assert!(
        end.contains("br i1 %offload.code.same.p2, label %offload.same.p2, label %offload.next\n"),
        "{end}"
    );
    assert!(end.contains("switch i32 %offload.code.p2, label %offload.next"), "{end}");
    assert!(text.contains("store i32 %offload.to.p2, ptr %offload.due.at.p2, align 4, !llvm.access.group"));
}

#[test]
fn the_usual_size_of_work_groups_has_a_version() {
    let usual = Kernel::new("k").with_usual_work_group(Some([64, 1, 1]));
    let module = REVERSE.replace(", !dbg !8", "");
    let generate = |kernel: &Kernel| {
        generate_work_groups(&module, std::slice::from_ref(kernel), &Options::new(128)).unwrap()
    };
    let text = generate(&usual);
    let (usual_version, rest) = text.split_once("define internal i32 @__offload_other_k(").unwrap();
    let (other_version, choice) = rest.split_once("define i32 @__offload_run_k(").unwrap();
    assert!(usual_version.contains("%offload.last.0 = add i64 64, 0"), "{usual_version}");
    assert!(other_version.contains("%offload.last.0 = load i64"), "{other_version}");
    assert_eq!(choice.matches(" = icmp eq i64 ").count(), 9, "{choice}");
    assert_eq!(text.matches("@__offload_frame_k = constant").count(), 1);
    // A required size is the only one.
    assert!(!generate(&usual.with_required_work_group(Some([64, 1, 1]))).contains("@__offload_other_k"));
}

#[test]
fn barriers_of_blocks_that_are_aligned_are_those_of_a_group() {
    let block = REVERSE.replace("__offload_wait(", "__offload_wait_block(");
    let text = generate(&block);
    assert!(!text.contains("@__offload_warp_next(") && text.contains("offload.loop.x.p1:"), "{text}");
    // Some return early.
    let early = block.replace(
        "  store i32 %6, ptr %7, align 4\n",
        "  %c = icmp ult i64 %4, 100\n  br i1 %c, label %on, label %off\noff:\n  ret void\non:\n  store i32 %6, ptr %7, align 4\n",
    );
    assert_ne!(early, block);
    let text = generate(&early);
    assert!(text.contains("@__offload_warp_next("), "{text}");
    assert!(text.contains("[ 2147483649, %"), "{text}");
    // Some wait inside of a branch that comes together behind it.
    let inside = block.replace(
        "  tail call void @__offload_wait_block() #4, !dbg !8\n",
        "  %c = icmp ult i64 %4, 100\n  br i1 %c, label %on, label %off\non:\n  tail call void @__offload_wait_block() #4, !dbg !8\n  br label %off\noff:\n",
    );
    assert_ne!(inside, block);
    assert!(generate(&inside).contains("@__offload_warp_next("));
    // One that decides about a store alone.
    let store = block.replace(
        "  store i32 %6, ptr %7, align 4\n",
        "  %c = icmp ult i64 %4, 100\n  br i1 %c, label %on, label %off\non:\n  store i32 %6, ptr %7, align 4\n  br label %off\noff:\n",
    );
    assert_ne!(store, block);
    assert!(!generate(&store).contains("@__offload_warp_next("));
}

#[test]
fn loops_around_barriers_of_cuda_are_not_unrolled() {
    let module = "define void @__offload_work_item_k(ptr %args) #3 {\n  br label %1\n1:\n  \
                  call void @__offload_wait_warp()\n  br i1 true, label %1, label %2, !llvm.loop !4\n2:\n  ret void\n}\n\
                  declare void @__offload_wait_warp()\nattributes #3 = { nounwind }\n!4 = distinct !{!4}\n";
    assert!(!crate::prepare_work_items(module).contains("!llvm.loop"));
    let lockstep = module.replace("__offload_wait_warp", "__offload_wait");
    assert!(crate::prepare_work_items(&lockstep).contains("!llvm.loop !4"));
}

#[test]
fn the_context_of_a_kernel_with_vectors_is_an_array_of_structs() {
    let values: String = (10..20).map(|n| format!("  %{n} = load float, ptr %5, align 4\n")).collect();
    let uses: String = (10..20).map(|n| format!("  store volatile float %{n}, ptr %5, align 4\n")).collect();
    let module = REVERSE.replace(
        "  tail call void @__offload_wait()",
        &format!("{values}  tail call void @__offload_wait()"),
    );
    let module = module.replace("  ret void\n}\ndeclare", &format!("{uses}  ret void\n}}\ndeclare"));
    let apart = generate(&module);
    assert!(apart.contains("getelementptr inbounds [4 x i8], ptr %offload.slot.v10"), "{apart}");
    assert!(apart.contains("%offload.offset.v11 = mul nuw i64 8, %offload.count"), "{apart}");
    let vectors = module.replace("  %8 = mul", "  %v = load <4 x float>, ptr %5, align 4\n  %8 = mul");
    let together = generate(&vectors);
    assert!(together.contains("getelementptr inbounds [44 x i8], ptr %offload.slot.v10"), "{together}");
    assert!(together.contains("%offload.offset.v11 = mul nuw i64 8, 1"), "{together}");
}

#[test]
fn a_switch_ends_at_its_bracket() {
    let types = Types::new("");
    let text = "define void @f(ptr %args) {\n  switch i32 0, label %one [\n    i32 0, label %two\n  ], !dbg !3\n\n\
                one:\n  ret void\n\ntwo:\n  ret void";
    let function = Function::parse(&text.lines().collect::<Vec<_>>(), &types).unwrap();
    assert_eq!(function.blocks.len(), 3);
    assert_eq!(function.all_successors()[0], [1, 2]);
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
fn a_loop_counter_is_uniform_and_a_sum_has_a_context_slot() {
    let text = generate(LOOP);
    assert!(text.contains("%offload.once.i = alloca i32"), "{text}");
    assert!(text.contains("%offload.slot.sum.next = "), "{text}");
    assert!(!text.contains("offload.once.sum"), "{text}");
    // A region with two successors records one, and the line of the barrier if work-items diverge.
    assert!(text.contains("%offload.to.p0 = phi i32 [ 1, %body.p0 ], [ 0, %end.p0 ]"), "{text}");
    assert!(text.contains(&format!("i32 {}, i32 {}", (1u32 << 31) + 12, 1u32 << 31)), "{text}");
    // The phi of the second region has the block behind the barrier as its only predecessor.
    assert!(text.contains("%sum.p1 = phi i32 [ %sum.next.from.body.w"), "{text}");
}

#[test]
fn arguments_of_conditional_uses_are_loaded_before_the_loops() {
    let text = generate(LOOP);
    let (head, _) = text.split_once("offload.loop.z.p0:").unwrap();
    assert!(head.contains("%out.p0 = load ptr, ptr %out.at.p0, align 8, !invariant.load"), "{head}");
    assert_eq!(text.matches("%out.p0 = load").count(), 1, "{text}");
}

#[test]
fn the_context_of_interchanged_loops_is_a_struct_of_arrays() {
    let values: String = (0..10).map(|n| format!("  %x{n} = load float, ptr %own, align 4\n")).collect();
    let uses: String = (0..10).map(|n| format!("  store volatile float %x{n}, ptr %to, align 4\n")).collect();
    let own =
        "  %own = getelementptr float, ptr %n.at, i64 %id\n  %v = load <4 x float>, ptr %own, align 4\n";
    let waits = LOOP.replace("  br label %head\nhead", &format!("{own}{values}  br label %head\nhead"));
    let waits = waits.replace("  store i32 %sum", &format!("{uses}  store i32 %sum"));
    assert!(generate(&waits).contains("mul nuw i64 8, 1"));
    let interchanged = generate(&waits.replace("  call void @__offload_wait(), !dbg !8\n", ""));
    assert!(interchanged.contains("mul nuw i64 8, %offload.count"), "{interchanged}");
}

#[test]
fn calls_with_barriers_that_were_not_inlined_are_refused() {
    let module = REVERSE.replace("  %8 = mul", "  call void @helper()\n  %8 = mul");
    let error = generate_work_groups(&module, &[], &Options::new(128)).unwrap_err().to_string();
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
fn a_chunk_stores_values_of_an_interchanged_loop_in_variables_of_its_own() {
    let text = generate(HALVES);
    // Chunks of sixteen work-items, and of one for the remainder.
    assert!(text.contains("%offload.lanes.x.c2 = alloca [16 x i64]"), "{text}");
    assert!(text.contains("%offload.lanes.x.c3 = alloca [1 x i64]"), "{text}");
    assert!(text.contains("@__offload_frame_k = constant i64 0, align 8"), "{text}");
    assert!(text.contains("!\"llvm.loop.vectorize.width\", i32 4}"), "{text}");
    // Work-items repeat the last iteration until all have left, and store behind the loop.
    assert_eq!(text.matches("switch i32 %offload.next.p").count(), 2, "{text}");
    assert!(!text.contains("offload.due"), "{text}");
    assert_eq!(text.matches("ptr %to.p").count(), 2, "{text}");
}

#[test]
fn work_items_that_bypass_a_loop_remember_their_due_region() {
    let guard = "  %some = icmp ugt i64 %id, 9\n  br i1 %some, label %head, label %end\nhead:";
    let guarded = HALVES.replace("  br label %head\nhead:", guard);
    let guarded = guarded.replace("end:\n", "end:\n  %last = phi i64 [ %id, %entry ], [ %x.next, %head ]\n");
    let text = generate(&guarded.replace("store i64 %x.next", "store i64 %last"));
    assert!(text.contains("%offload.due.c2 = alloca [16 x i32]"), "{text}");
    // The region of the loop has number 2, the one behind it 3; codes of regions of the group are higher.
    assert!(text.contains(" = icmp eq i32 %offload.due.p14, 2\n"), "{text}");
    assert!(
        text.contains("phi i32 [ 2, %head.p14 ], [ 3, %end.p14 ], [ %offload.due.p14, %offload.lanes.p14 ]"),
        "{text}"
    );
    assert_eq!(text.matches("phi i32 [ 4, %end").count(), 2, "{text}");
}

/// A kernel with one line, and attributes of a call in it.
fn with_line(line: &str, attributes: &str) -> String {
    format!(
        "define void @__offload_work_item_k(ptr noundef %0) #0 {{\n  {line}\n  ret void\n}}\n\
         declare void @f(ptr)\nattributes #0 = {{ nounwind \"target-cpu\"=\"x86-64\" }}\n\
         attributes #1 = {{ {attributes} }}\n"
    )
}

#[test]
fn ir_of_a_later_release_is_refused_by_name() {
    for (line, attributes, named) in [
        ("%2 = frobnicate i32 1, 2", "nounwind", "the instruction `frobnicate`"),
        ("%2 = load frob i32, ptr %0", "nounwind", "the attribute or flag `frob`"),
        ("call void @f(ptr frob(3) %0)", "nounwind", "the attribute or flag `frob`"),
        ("call void @f(ptr %0) #1", "frob nounwind", "the attribute or flag `frob`"),
        ("%2 = load i32, ptr %0, !frob !{}", "nounwind", "the metadata `!frob`"),
        ("#dbg_frob(ptr %0, !1, !2)", "nounwind", "the debug record `#dbg_frob`"),
        ("call void @llvm.frob(ptr %0)", "nounwind", "the intrinsic `llvm.frob`"),
        ("call void @llvm.frob(ptr %0), !dbg !8", "nounwind", "line 12: it has the intrinsic `llvm.frob`"),
    ] {
        let kernels = [Kernel::new("k")];
        let module = with_line(line, attributes) + "!8 = !DILocation(line: 12, column: 3, scope: !7)\n";
        let refused = generate_work_groups(&module, &kernels, &Options::new(128));
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("kernel `k`") && message.contains(named), "{line}: {message}");
    }
    // Other functions are passed on as they are.
    let other = with_line("call void @f(ptr %0)", "frob");
    assert!(generate(&other).contains("attributes #1 = { frob }"));
    generate(&with_line("call void @f(ptr captures(none) %0) #1", "nofree \"frob\"=\"1\""));
}

#[test]
fn the_treatment_of_denormal_numbers_is_kept() {
    let module = with_line("call void @f(ptr %0)", "nounwind");
    let module = module.replace("{ nounwind \"", "{ nounwind denormal_fpenv(preservesign) \"");
    let groups = generate(&module);
    assert!(groups.contains("{ nounwind denormal_fpenv(preservesign) \"target-cpu\""), "{groups}");
}
