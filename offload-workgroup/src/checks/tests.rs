//! The instrumented text of small modules.

use super::access::{AccessSize, accesses};
use super::sites::AccessKind;
use super::*;

/// Pointer, size and kind of the accesses of a line.
fn found(line: &str) -> Vec<(String, String, AccessKind)> {
    let mut found = Vec::new();
    for access in accesses(line) {
        let size = match &access.size {
            AccessSize::OfType(ty) => ty.clone(),
            AccessSize::Bytes(operand) => operand.clone(),
            AccessSize::Elements(count, element) => format!("{count} * {element}"),
        };
        found.push((access.pointer.to_string(), size, access.kind));
    }
    found
}

#[test]
fn functions_of_numbers_have_no_access() {
    for name in ["_ZL4fmodff", "_Z8_cl_fmodff"] {
        let line = format!("  %3 = call noundef float @{name}(float noundef %1, float noundef %2) #5");
        assert!(accesses(&line).is_empty(), "{line}");
    }
}

#[test]
fn instructions_and_functions_have_accesses() {
    use AccessKind::{Atomic, AtomicWrite, Copy, GroupRead, GroupWrite, Read, Write};
    let part = "getelementptr inbounds (i8, ptr @k.tile, i64 20)";
    for (line, pointer, size, kind) in [
        ("  %15 = load float, ptr %14, align 4, !dbg !37, !tbaa !39", "%14", "float", Read),
        ("  %1 = load volatile <4 x i32>, ptr %p, align 16, !dbg !1", "%p", "<4 x i32>", Read),
        (&format!("  %1 = load float, ptr {part}, align 4, !dbg !1"), part, "float", Read),
        ("  store <4 x float> %28, ptr %26, align 16, !dbg !49", "%26", "<4 x float>", Write),
        ("  store <2 x i32> <i32 1, i32 2>, ptr %26, align 8", "%26", "<2 x i32>", Write),
        ("  store { i32, [2 x i8] } %0, ptr %a.b, align 4", "%a.b", "{ i32, [2 x i8] }", Write),
        ("  store ptr %0, ptr %5, align 8", "%5", "ptr", Write),
        ("  store atomic i32 %0, ptr %5 seq_cst, align 4", "%5", "i32", AtomicWrite),
        ("  %o = atomicrmw volatile add ptr %p, i64 %v seq_cst, align 8", "%p", "i64", Atomic),
        ("  %o = cmpxchg ptr %p, i32 %a, i32 %b seq_cst seq_cst, align 4", "%p", "i32", Atomic),
        (
            "  %32 = call i32 @_Z14_cl_atomic_addPU8CLglobalVii(ptr noundef %31, i32 noundef 2) #5, !dbg !54",
            "%31",
            "i32",
            Atomic,
        ),
        (
            "  %3 = call <3 x float> @_Z10_cl_vload3mPU8CLglobalKf(i64 noundef %1, ptr noundef %2) #5",
            "%2",
            "12",
            Read,
        ),
        (
            "  %3 = call <4 x float> @_Z10_cl_sincosDv4_fPU7CLlocalS_(<4 x float> noundef %1, ptr noundef %2) #5",
            "%2",
            "<4 x float>",
            Write,
        ),
        (
            "  %3 = call noundef float @_Z9_cl_fractfPU7CLlocalf(float noundef %1, ptr noundef %2) #5",
            "%2",
            "float",
            Write,
        ),
        (
            "  call void @_Z22_cl_vstore_half4_rteDv4_fmPU8CLglobalDh(<4 x float> %1, i64 %2, ptr noundef %3)",
            "%3",
            "8",
            Write,
        ),
    ] {
        assert_eq!(found(line), [(pointer.to_string(), size.to_string(), kind)], "{line}");
    }
    let copy =
        "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %2, ptr align 4 %1, i64 12, i1 false), !dbg !3";
    assert_eq!(found(copy), read_and_write(Copy, Write, "12"));
    let copy = "  %3 = call ptr @_Z25_cl_async_work_group_copyPU7CLlocalDv3_fPU8CLglobalKS_m9ocl_event(ptr noundef %2, ptr noundef %1, i64 noundef %4, ptr null) #7";
    assert_eq!(found(copy), read_and_write(GroupRead, GroupWrite, "%4 * 16"));
    let strided = "  %3 = call ptr @_Z33_cl_async_work_group_strided_copyPU8CLglobaliPU7CLlocalKimm9ocl_event(ptr noundef %2, ptr noundef %1, i64 noundef 5, i64 noundef 2, ptr null) #7";
    assert_eq!(found(strided), read_and_write(GroupRead, GroupWrite, "5 * 4")[..1]);
    let member = "  call void @_ZNK4cuda10atomic_refIiE5storeEi(ptr noundef %1, i32 noundef %0)";
    for line in [member, "  %4 = add i32 %1, %2", "  call void @f(ptr %p)", "  br label %1", "  ret void"] {
        assert!(found(line).is_empty(), "{line}");
    }
}

/// A read through `%1` and a write through `%2`.
fn read_and_write(read: AccessKind, write: AccessKind, size: &str) -> [(String, String, AccessKind); 2] {
    [("%1".to_string(), size.to_string(), read), ("%2".to_string(), size.to_string(), write)]
}

/// A function of a module with debug information for line 8.
fn module(body: &str) -> String {
    format!(
        "@k.tile = internal global [4 x [8 x float]] undef, align 16\n\
         define void @f(ptr noundef %0, i32 %1) #0 !dbg !4 {{\n{body}  ret void\n}}\n\
         !3 = !DIFile(filename: \"./kernels/a.cl\", directory: \".\")\n\
         !4 = distinct !DISubprogram(name: \"f\", scope: !3, file: !3, line: 7)\n\
         !5 = !DILocation(line: 8, column: 3, scope: !4)\n\
         !6 = !DILocalVariable(name: \"sums\", scope: !4)\n"
    )
}

/// The checks of `body`, without debug locations.
fn checks(body: &str) -> Vec<String> {
    let text = add_checks(&module(body));
    let mut checks = Vec::new();
    for line in text.lines().filter(|line| line.contains("call ") && line.contains("@__offload_")) {
        let line = line.trim_start().split(", !dbg").next().unwrap_or_default();
        let line = line.replace("ptrtoint (ptr getelementptr ", "sizeof ");
        checks.push(line.replace(", ptr null, i64 1) to i64)", ")"));
    }
    checks
}

#[test]
fn accesses_take_the_address_that_is_returned() {
    let text = add_checks(&module(
        "  %2 = alloca ptr, align 8\n  store ptr %0, ptr %2, align 8\n  %3 = load ptr, ptr %2, align 8, !dbg !5\n  %4 = load float, ptr %3, align 4, !dbg !5\n  store float %4, ptr %3, align 4\n",
    ));
    let size = "ptrtoint (ptr getelementptr (float, ptr null, i64 1) to i64)";
    let call = format!(
        "  %offload.checked.0 = call ptr @__offload_access(ptr %3, ptr %offload.base.3, i64 {size}, ptr @__offload_site_0), !dbg !5\n  %4 = load float, ptr %offload.checked.0, align 4"
    );
    assert!(text.contains(&call), "{text}");
    assert!(text.contains("  store ptr %0, ptr %offload.second.2, align 8\n"), "{text}");
    let site = "@__offload_site_0 = private constant <{ i32, i32, i32, [13 x i8] }> <{ i32 8, i32 0, i32 4, [13 x i8] c\"kernels/a.cl\\00\" }>\n";
    assert!(text.contains(site), "{text}");
    // Instructions without a debug location are not checked.
    assert!(text.contains("  store float %4, ptr %3, align 4\n"), "{text}");
}

#[test]
fn functions_of_the_runtime_are_not_instrumented() {
    let line = "  %2 = load ptr, ptr %0, align 8, !dbg !5\n";
    let module = module(line).replace("@f(", "@__offload_work_item_f(");
    assert!(!add_checks(&module).contains("call "));
}

#[test]
fn pointers_are_followed_to_their_origins() {
    assert_eq!(
        checks(
            "  %2 = getelementptr inbounds float, ptr %0, i64 7\n  %3 = getelementptr inbounds nuw i8, ptr %2, i64 4\n  %4 = load float, ptr %3, align 4, !dbg !5\n"
        ),
        [
            "%offload.checked.0 = call ptr @__offload_access(ptr %3, ptr %0, i64 sizeof (float), ptr @__offload_site_0)"
        ]
    );
    // The address of the pointer escapes.
    assert_eq!(
        checks(
            "  %2 = alloca ptr, align 8\n  call void @g(ptr %2)\n  %3 = load ptr, ptr %2, align 8\n  %4 = load float, ptr %3, align 4, !dbg !5\n"
        ),
        [
            "%offload.checked.0 = call ptr @__offload_access(ptr %3, ptr %3, i64 sizeof (float), ptr @__offload_site_0)"
        ]
    );
}

#[test]
fn accesses_of_variables_are_compared_with_their_sizes() {
    assert_eq!(
        checks(
            "  %2 = alloca [8 x float], align 16\n    #dbg_declare(ptr %2, !6, !DIExpression(), !5)\n  %3 = getelementptr inbounds [8 x float], ptr %2, i64 0, i64 9\n  store float 0.0, ptr %3, align 4, !dbg !5\n  store float 0.0, ptr %2, align 4, !dbg !5\n"
        ),
        [
            "%offload.checked.0 = call ptr @__offload_inside(ptr %3, ptr %2, i64 sizeof ([8 x float]), i64 sizeof (float), ptr @__offload_name_0, ptr @__offload_site_0)"
        ]
    );
}

#[test]
fn local_arrays_lie_between_redzones_and_have_rows() {
    let body = "  %2 = getelementptr inbounds [4 x [8 x float]], ptr @k.tile, i64 0, i64 3\n  %3 = getelementptr inbounds [8 x float], ptr %2, i64 0, i64 8\n  %4 = load float, ptr %3, align 4, !dbg !5\n";
    let tile = "getelementptr (i8, ptr @k.tile, i64 128)";
    assert_eq!(
        checks(body),
        [
            format!("call void @__offload_array(ptr {tile}, i64 sizeof ([4 x [8 x float]]), ptr @__offload_name_0)"),
            format!("%offload.checked.0 = call ptr @__offload_access(ptr %3, ptr {tile}, i64 sizeof (float), ptr @__offload_site_0)"),
            "%offload.row.0 = call ptr @__offload_in_row(ptr %offload.checked.0, ptr %3, ptr %2, i64 sizeof ([8 x float]), i64 sizeof (float), ptr @__offload_site_0)".to_string(),
        ]
    );
    let named = add_checks(&module(&format!("entry:\n{body}")));
    assert!(named.contains("{\nentry:\n  call void @__offload_array("), "{named}");
    let text = add_checks(&module(body));
    assert!(
        text.contains(
            "@k.tile = internal global <{ [128 x i8], [4 x [8 x float]], [128 x i8] }> undef, align 128\n"
        ),
        "{text}"
    );
    assert!(text.contains("c\"tile\\00\""), "{text}");
}

#[test]
fn arithmetic_is_checked_where_it_becomes_an_index() {
    let body = "  %2 = alloca i32, align 4\n  %3 = mul nsw i32 %1, 3, !dbg !5\n  store i32 %3, ptr %2, align 4, !dbg !5\n  %4 = load i32, ptr %2, align 4, !dbg !5\n  %5 = sext i32 %4 to i64\n  %6 = getelementptr inbounds float, ptr %0, i64 %5\n  %7 = mul nsw i32 %1, 5, !dbg !5\n";
    assert_eq!(
        checks(body),
        ["call void @__offload_mul(i64 %offload.left.0, i64 %offload.right.0, i32 0, ptr @__offload_site_0)"]
    );
    let text = add_checks(&module(body));
    assert!(text.contains("  %3 = mul i32 %1, 3") && text.contains("  %7 = mul nsw i32 %1, 5"), "{text}");
}

#[test]
fn indices_are_followed_through_calls() {
    let module = "define i32 @at(i32 %0) {\n  %2 = add nsw i32 %0, 1, !dbg !5\n  ret i32 %2\n}\n\
        define i32 @hash(i32 %0) {\n  %2 = add nsw i32 %0, 1, !dbg !5\n  ret i32 %2\n}\n\
        define void @f(ptr %0, i32 %1) {\n  %3 = mul nsw i32 %1, 7, !dbg !5\n  %4 = call i32 @at(i32 %3), !dbg !5\n  %5 = call i32 @hash(i32 %1), !dbg !5\n  %6 = getelementptr float, ptr %0, i32 %4\n  ret void\n}\n";
    let text = add_checks(module);
    assert_eq!(text.matches("call void @__offload_add(").count(), 1, "{text}");
    assert_eq!(text.matches("call void @__offload_mul(").count(), 1, "{text}");
}

#[test]
fn barriers_have_the_flags_of_their_memory() {
    assert_eq!(
        checks(
            "  call void @_Z7barrierj(i32 noundef 1) #7, !dbg !5\n  call void @_Z21_cl_wait_group_eventsiPU9CLprivate9ocl_event(i32 noundef 1, ptr noundef %0) #7, !dbg !5\n"
        ),
        [
            "call void @__offload_waits(i32 1, ptr @__offload_site_0)",
            "call void @__offload_waits(i32 4294967295, ptr @__offload_site_0)",
        ]
    );
}

#[test]
fn a_component_is_written_and_not_read() {
    let lines = [
        "  %10 = load <4 x float>, ptr %9, align 16, !dbg !1",
        "  %11 = insertelement <4 x float> %10, float %8, i64 1, !dbg !1",
        "  store <4 x float> %11, ptr %9, align 16, !dbg !1",
    ];
    assert!(access::starts_element_update(&lines));
    let write = access::ends_element_update(&lines).unwrap();
    assert_eq!((write.pointer, write.kind), ("%9", AccessKind::Write));
    assert_eq!(write.offset, Some(access::Offset { index: "1", element: 4 }));
    // Stored elsewhere, or loaded for something else.
    let elsewhere = [lines[0], lines[1], "  store <4 x float> %11, ptr %7, align 16, !dbg !1"];
    assert!(!access::starts_element_update(&elsewhere) && access::ends_element_update(&elsewhere).is_none());
    let read = [lines[0], "  %11 = extractelement <4 x float> %10, i64 1, !dbg !1", lines[2]];
    assert!(!access::starts_element_update(&read) && access::ends_element_update(&read).is_none());
}
