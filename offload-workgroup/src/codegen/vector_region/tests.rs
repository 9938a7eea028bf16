//! Regions as vectors of work-items.

use crate::{Kernel, Options, generate_work_groups};

/// Counts the steps in which a number of the work-item becomes one.
const STEPS: &str = "\
define void @__offload_work_item_k(ptr %args) #0 {
entry:
  %cell = load ptr, ptr %args, align 8
  %out = load ptr, ptr %cell, align 8
  %id = load i64, ptr @__offload_state_local_id, align 8
  %start = trunc i64 %id to i32
  br label %head
head:
  %n = phi i32 [ %start, %entry ], [ %next, %head ]
  %count = phi i32 [ 0, %entry ], [ %more, %head ]
  %half = lshr i32 %n, 1
  %odd = mul i32 %n, 3
  %bit = and i32 %n, 1
  %even = icmp eq i32 %bit, 0
  %next = select i1 %even, i32 %half, i32 %odd
  %more = add i32 %count, 1
  %done = icmp ult i32 %next, 2
  br i1 %done, label %exit, label %head
exit:
  %to = getelementptr i32, ptr %out, i64 %id
  store i32 %more, ptr %to, align 4
  ret void
}
attributes #0 = { \"target-cpu\"=\"x86-64\" }
";

fn generate(module: &str, bits: u32) -> String {
    generate_work_groups(module, &[Kernel::new("k")], &Options::new(bits)).unwrap()
}

/// The text between the loop over vectors and the one over the rest.
fn vectors(module: &str, bits: u32) -> Option<String> {
    let text = generate(module, bits);
    let (_, behind) = text.split_once("offload.entry.v0:\n")?;
    Some(behind.split_once("offload.rest.v0:")?.0.to_string())
}

fn is_vectorized(module: &str) -> bool {
    vectors(module, 256).is_some()
}

#[test]
fn a_loop_that_work_items_leave_one_by_one_has_masks() {
    let text = vectors(STEPS, 256).unwrap();
    assert!(text.contains("select <16 x i1>"), "{text}");
    assert!(text.contains("call i1 @llvm.vector.reduce.or.v16i1("), "{text}");
    // The count is the same for all that still count, and differs behind the loop.
    assert!(text.contains(" = add i32 "), "{text}");
    assert!(text.contains("offload.vec.more.0.v0"), "{text}");
    // All are together again behind the loop: the store has no mask.
    assert!(text.contains("  store <16 x i32> "), "{text}");
    assert!(!text.contains("masked.store"), "{text}");
}

#[test]
fn lanes_follow_the_vectors_of_the_cpu_and_the_size_of_rows() {
    for (bits, lanes) in [(128, 8), (256, 16), (512, 32)] {
        let text = generate(STEPS, bits);
        assert!(
            text.contains(&format!("%offload.behind.v0 = add nuw nsw i64 %offload.x.v0, {lanes}\n")),
            "{text}"
        );
    }
    let small = Kernel::new("k").with_required_work_group(Some([8, 8, 1]));
    let text = generate_work_groups(STEPS, &[small], &Options::new(256)).unwrap();
    assert!(text.contains("%offload.behind.v0 = add nuw nsw i64 %offload.x.v0, 8\n"), "{text}");
    let tiny = Kernel::new("k").with_required_work_group(Some([2, 64, 1]));
    let text = generate_work_groups(STEPS, &[tiny], &Options::new(256)).unwrap();
    assert!(!text.contains("offload.vector.v0"), "{text}");
}

#[test]
fn short_rows_of_vectors_of_512_bits_have_sixteen_lanes() {
    let sixteen = "%offload.behind.v0 = add nuw nsw i64 %offload.x.v0, 16\n";
    // A row of 48 would leave 16 work-items to the scalar loop.
    for (row, is_short) in [(16, true), (48, true), (64, false), (96, false), (100, false)] {
        let kernel = Kernel::new("k").with_required_work_group(Some([row, 4, 1]));
        let text = generate_work_groups(STEPS, &[kernel], &Options::new(512)).unwrap();
        assert_eq!(text.contains(sixteen), is_short, "{row}: {text}");
    }
    let planar = STEPS.replace(
        "%start = trunc i64 %id to i32",
        "%row = load i64, ptr getelementptr inbounds nuw (i8, ptr @__offload_state_local_id, i64 8), align 8\n  \
         %sum = add i64 %row, %id\n  %start = trunc i64 %sum to i32",
    );
    assert!(generate(&planar, 512).contains(sixteen));
    assert!(generate(&planar, 128).contains("%offload.x.v0, 8\n"));
}

const WIDE: &str = "\"prefer-vector-width\"=\"512\"";

#[test]
fn vectors_are_wide_where_all_lanes_have_two_registers() {
    assert!(generate(STEPS, 512).contains(WIDE));
    assert!(!generate(STEPS, 256).contains(WIDE));
    let kernel = || Kernel::new("k").with_required_work_group(Some([16, 16, 1]));
    let text = generate_work_groups(STEPS, &[kernel()], &Options::new(512)).unwrap();
    assert!(!text.contains(WIDE), "{text}");
    let long = STEPS.replace("i32", "i64").replace("trunc i64 %id to i64", "add i64 %id, 0");
    let text = generate_work_groups(&long, &[kernel()], &Options::new(512)).unwrap();
    assert!(text.contains(WIDE), "{text}");
}

#[test]
fn the_rest_of_a_row_is_scalar() {
    let text = generate(STEPS, 256);
    assert!(text.contains("%offload.x.p0 = phi i64 [ %offload.x.v0, %offload.rest.v0 ]"), "{text}");
    assert!(text.contains("icmp ult i32 %next.p0, 2"), "{text}");
}

#[test]
fn loops_that_work_items_leave_together_stay() {
    let uniform = STEPS.replace("icmp ult i32 %next, 2", "icmp ugt i32 %more, 20");
    assert!(!is_vectorized(&uniform));
    let options = Options::new(256).with_divergent_loops(false);
    let text = generate_work_groups(STEPS, &[Kernel::new("k")], &options).unwrap();
    assert!(!text.contains("offload.vector.v0"));
}

#[test]
fn what_has_no_form_for_vectors_stays_scalar() {
    let declared = format!("{STEPS}declare i32 @other(i32)\n");
    for instruction in [
        "%half = call i32 @other(i32 %n)",
        "%half = load volatile i32, ptr %out, align 4",
        "%half = load atomic i32, ptr %out monotonic, align 4",
        "%half = atomicrmw add ptr %out, i32 %n monotonic, align 4",
    ] {
        assert!(!is_vectorized(&declared.replace("%half = lshr i32 %n, 1", instruction)), "{instruction}");
    }
    let private = STEPS.replace("entry:\n", "entry:\n  %own = alloca [4 x i32], align 4\n");
    let private = private.replace(
        "%half = lshr i32 %n, 1",
        "%at = getelementptr i32, ptr %own, i32 %bit.0\n  %bit.0 = and i32 %n, 3\n  %half = load i32, ptr %at, align 4",
    );
    assert!(!is_vectorized(&private));
}

#[test]
fn divisors_of_inactive_lanes_are_one() {
    let divided = STEPS.replace("%half = lshr i32 %n, 1", "%half = udiv i32 %n, %count");
    let divided = divided.replace("%odd = mul i32 %n, 3", "%o1 = mul i32 %n, 3\n  %o2 = xor i32 %o1, %n\n  %o3 = fptosi float 1.0 to i32\n  %o4 = sitofp i32 %o2 to float\n  %o5 = fdiv float 3.0, %o4\n  %o6 = fdiv float %o5, %o4\n  %o7 = fdiv float %o6, %o4\n  %odd = fptosi float %o7 to i32");
    let text = vectors(&divided, 256).unwrap();
    let (before, _) = text.split_once(" = udiv <16 x i32> ").unwrap();
    let last = before.lines().rev().nth(1).unwrap();
    assert!(last.contains("= select <16 x i1> ") && last.contains("<16 x i32> <i32 1, i32 1,"), "{last}");
}

/// Sums powers of elements from the position on, in strides of the group.
const STRIDES: &str = "\
define void @__offload_work_item_k(ptr %args) #0 {
entry:
  %cell = load ptr, ptr %args, align 8
  %data = load ptr, ptr %cell, align 8
  %id = load i64, ptr @__offload_state_local_id, align 8
  %first = trunc i64 %id to i32
  br label %head
head:
  %i = phi i32 [ %first, %entry ], [ %next, %head ]
  %sum = phi float [ 0.0, %entry ], [ %more, %head ]
  %wide = zext i32 %i to i64
  %from = getelementptr float, ptr %data, i64 %wide
  %value = load float, ptr %from, align 4
  %square = fmul float %value, %value
  %cube = fmul float %square, %value
  %power4 = fmul float %cube, %value
  %power5 = fmul float %power4, %value
  %power6 = fmul float %power5, %value
  %power7 = fmul float %power6, %value
  %power8 = fmul float %power7, %value
  %power9 = fmul float %power8, %value
  %power10 = fmul float %power9, %value
  %power11 = fmul float %power10, %value
  %power12 = fmul float %power11, %value
  %power13 = fmul float %power12, %value
  %power14 = fmul float %power13, %value
  %power15 = fmul float %power14, %value
  %power16 = fmul float %power15, %value
  %power17 = fmul float %power16, %value
  %power18 = fmul float %power17, %value
  %power19 = fmul float %power18, %value
  %power20 = fmul float %power19, %value
  %power21 = fmul float %power20, %value
  %power22 = fmul float %power21, %value
  %power23 = fmul float %power22, %value
  %power24 = fmul float %power23, %value
  %more = fadd float %sum, %power24
  %next = add i32 %i, 256
  %done = icmp ugt i32 %next, 100000
  br i1 %done, label %exit, label %head
exit:
  %to = getelementptr float, ptr %data, i64 %id
  store float %more, ptr %to, align 4
  ret void
}
attributes #0 = { \"target-cpu\"=\"x86-64\" }
";

#[test]
fn neighbours_are_loaded_as_vectors_where_their_positions_do_not_wrap() {
    let text = vectors(STRIDES, 256).unwrap();
    let (condition, _) = text.split_once("icmp ule i32 ").unwrap();
    assert!(condition.contains("zext i32"), "{text}");
    // 2^32 - 1 less the distance of the last lane.
    assert!(text.contains(", 4294967280\n"), "{text}");
    assert!(text.contains("@llvm.masked.load.v16f32.p0("), "{text}");
    // Otherwise each lane loads, and inactive ones from where nothing is.
    assert!(text.contains("<16 x ptr>") && text.contains("%offload.unused.v0"), "{text}");
    // Without masked loads, if all lanes are active.
    let text = vectors(STRIDES, 128).unwrap();
    assert!(text.contains("call i1 @llvm.vector.reduce.and.v8i1("), "{text}");
    assert!(!text.contains("masked.load"), "{text}");
}

#[test]
fn positions_of_64_bits_need_no_condition() {
    let wide = STRIDES.replace("%first = trunc i64 %id to i32\n", "").replace("i32 [ %first,", "i64 [ %id,");
    let wide = wide.replace("  %wide = zext i32 %i to i64\n", "").replace("i64 %wide", "i64 %i");
    let wide = wide.replace("add i32 %i", "add i64 %i").replace("icmp ugt i32 %next", "icmp ugt i64 %next");
    let text = vectors(&wide, 256).unwrap();
    assert!(text.contains("@llvm.masked.load.v16f32.p0(") && !text.contains("offload.far"), "{text}");
}

#[test]
fn loops_with_several_entries_stay() {
    let irreducible = STEPS.replace(
        "  br label %head\nhead:",
        "  %c = icmp eq i64 %id, 0\n  br i1 %c, label %head, label %side\nhead:",
    );
    let irreducible =
        irreducible.replace("[ %start, %entry ], [ %next, %head ]", "[ %start, %entry ], [ %back, %side ]");
    let irreducible = irreducible.replace("[ 0, %entry ], [ %more, %head ]", "[ 0, %entry ], [ 1, %side ]");
    let irreducible = irreducible.replace("label %exit, label %head\n", "label %exit, label %side\nside:\n  %back = phi i32 [ 7, %entry ], [ %next, %head ]\n  br label %head\n");
    assert!(!is_vectorized(&irreducible));
}

/// Sums of structures of four numbers, as clang writes those of CUDA C++.
const STRUCTURES: &str = "\
%struct.float4 = type { float, float, float, float }
define void @__offload_work_item_k(ptr %args) #0 {
entry:
  %cell = load ptr, ptr %args, align 8
  %data = load ptr, ptr %cell, align 8
  %cell1 = getelementptr inbounds nuw i8, ptr %args, i64 8
  %n.cell = load ptr, ptr %cell1, align 8
  %n = load i64, ptr %n.cell, align 8
  %id = load i64, ptr @__offload_state_local_id, align 8
  br label %head
head:
  %i = phi i64 [ %id, %entry ], [ %next, %head ]
  %at = getelementptr inbounds %struct.float4, ptr %data, i64 %i
  %x = load float, ptr %at, align 16
  %at.y = getelementptr inbounds nuw i8, ptr %at, i64 4
  %y = load float, ptr %at.y, align 4
  %at.z = getelementptr inbounds nuw i8, ptr %at, i64 8
  %z = load float, ptr %at.z, align 8
  %at.w = getelementptr inbounds nuw i8, ptr %at, i64 12
  %w = load float, ptr %at.w, align 4
  %xy = fmul float %x, %y
  %zw = fmul float %z, %w
  store float %zw, ptr %at.y, align 4
  store float %xy, ptr %at, align 16
  store float %x, ptr %at.z, align 8
  store float %y, ptr %at.w, align 4
  %next = add i64 %i, 256
  %more = icmp ult i64 %next, %n
  br i1 %more, label %head, label %exit
exit:
  ret void
}
attributes #0 = { \"target-cpu\"=\"x86-64\" }
";

#[test]
fn members_of_structures_are_accessed_together() {
    let text = vectors(STRUCTURES, 256).unwrap();
    assert_eq!(text.matches(" = load <64 x float>, ptr ").count(), 1, "{text}");
    assert_eq!(text.matches("  store <64 x float> ").count(), 1, "{text}");
    assert!(!text.contains("masked.gather") && !text.contains(" = load float, ptr "), "{text}");
}

#[test]
fn members_with_another_access_in_between_stay_apart() {
    // The store may be to the next member.
    let store = "  %z = load float, ptr %at.z, align 8\n";
    let between = STRUCTURES.replace(store, &format!("  store float 1.0, ptr %data, align 4\n{store}"));
    assert_ne!(between, STRUCTURES);
    assert!(vectors(&between, 512).is_none_or(|text| !text.contains(" = load <64 x float>, ptr ")));
    // Half of a structure that is not aligned.
    let unaligned = STRUCTURES.replace("load float, ptr %at, align 16", "load float, ptr %at, align 4");
    assert!(vectors(&unaligned, 512).is_none_or(|text| !text.contains("x float>, ptr %offload.t")));
}
