//! Atomic functions of OpenCL C: the scopes and orders of the instructions, and a driver that runs them.

use std::process::Command;

use super::opencl_c::{C11, project};

/// Functions without an order, on memory of the device; functions with one, for a scope.
const ORDERS: &str = "
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
__kernel void relaxed(volatile __global int *p, volatile __global long *q, __global long *r) {
  r[0] = atomic_add(p, 5) + atomic_sub(p, 5) + atomic_xchg(p, 5) + atomic_inc(p) + atomic_dec(p) +
         atomic_cmpxchg(p, 5, 6) + atomic_min(p, 5) + atomic_max(p, 5) + atomic_and(p, 5) + atomic_or(p, 5) + atomic_xor(p, 5);
  r[1] = atom_add(q, 5) + atom_sub(q, 5) + atom_xchg(q, 5) + atom_inc(q) + atom_dec(q) +
         atom_cmpxchg(q, 5, 6) + atom_min(q, 5) + atom_max(q, 5) + atom_and(q, 5) + atom_or(q, 5) + atom_xor(q, 5);
}
#define ALL(f, s, p, x, ...)                                                                                        \\
  f(exchange##s)(p, x, ##__VA_ARGS__) + f(fetch_add##s)(p, x, ##__VA_ARGS__) + f(fetch_sub##s)(p, x, ##__VA_ARGS__) + \\
  f(fetch_or##s)(p, x, ##__VA_ARGS__) + f(fetch_xor##s)(p, x, ##__VA_ARGS__) + f(fetch_and##s)(p, x, ##__VA_ARGS__) + \\
  f(fetch_min##s)(p, x, ##__VA_ARGS__) + f(fetch_max##s)(p, x, ##__VA_ARGS__)
#define NAME(name) atomic_##name
__kernel void ordered(__global atomic_int *p, __global atomic_ulong *q, __global atomic_float *f, __global long *r) {
  r[0] = atomic_load(p) + ALL(NAME, , p, 5); r[1] = atomic_load(q) + ALL(NAME, , q, (ulong)5);
  r[2] = atomic_load(f) + atomic_exchange(f, 1.0f);
  atomic_store(p, 5); atomic_store(q, (ulong)5); atomic_store(f, 5.0f);
}
__kernel void acquiring(__global atomic_int *p, __global atomic_ulong *q, __global long *r) {
  r[0] = atomic_load_explicit(p, memory_order_acquire) + ALL(NAME, _explicit, p, 5, memory_order_acquire);
  r[1] = atomic_load_explicit(q, memory_order_acquire, memory_scope_device) +
         ALL(NAME, _explicit, q, (ulong)5, memory_order_acquire, memory_scope_device);
}
__kernel void releasing(__global atomic_int *p, __global atomic_ulong *q, __global long *r) {
  r[0] = ALL(NAME, _explicit, p, 5, memory_order_release, memory_scope_work_group);
  atomic_store_explicit(p, 5, memory_order_release, memory_scope_work_group);
  atomic_store_explicit(q, (ulong)5, memory_order_release, memory_scope_work_group);
}
";

#[test]
fn spirv_has_the_orders_and_scopes_of_the_source() {
    if offload_tests::require("spirv-dis").is_none() {
        return;
    }
    let project = project(ORDERS, "\"spirv64\"");
    project.write("offload.toml", "targets = [\"spirv64\"]\n[modules.square]\nstd = \"3.0\"\n");
    let program = project.program();
    // Scope 1 is the device, 2 the work-group; semantics 2 acquire, 4 release, 16 are sequentially consistent.
    for (kernel, count, operands) in [
        ("relaxed", 22, " %uint_1 "),
        ("ordered", 23, " %uint_1 %uint_16"),
        ("acquiring", 18, " %uint_1 %uint_2"),
        ("releasing", 10, " %uint_2 %uint_4"),
    ] {
        let outcome = project.offload(&["asm", &program.display().to_string(), kernel]);
        assert!(outcome.success, "{}", outcome.text);
        let lines: Vec<&str> = outcome.text.lines().filter(|line| line.contains("OpAtomic")).collect();
        let other: Vec<_> = lines.iter().filter(|line| !line.contains(operands)).collect();
        assert!(lines.len() == count && other.is_empty(), "{kernel}: {} {other:#?}", lines.len());
    }
}

/// Alone in its module: other operations on 64 bits would declare what it needs.
#[test]
fn a_weak_comparison_of_64_bits_is_valid_spirv() {
    let kernel = "__kernel void run(__global atomic_ulong *p, __global ulong *r) {
  ulong e = 3;
  r[0] = atomic_compare_exchange_weak(p, &e, (ulong)4);
}
";
    let project = project(kernel, "\"spirv64\"");
    project.write("offload.toml", "targets = [\"spirv64\"]\n[modules.square]\nstd = \"3.0\"\n");
    let outcome = project.cargo(&["build"]);
    assert!(outcome.success, "{}", outcome.text);
}

/// Intel's runtime for CPUs has atomic functions on generic pointers only for programs of a later version of OpenCL C.
#[test]
fn atomic_functions_with_orders_run_from_spirv() {
    let Some(prefix) = offload_tests::require_intel_runtime() else { return };
    let lib = prefix.join("lib");
    let project = project(C11, "\"spirv64\"");
    project.write("offload.toml", "targets = [\"spirv64\"]\n[modules.square]\nstd = \"3.0\"\n");
    let mut command = Command::new(project.program());
    command.env("OCL_ICD_VENDORS", "/nonexistent").env("OCL_ICD_FILENAMES", lib.join("libintelocl.so"));
    let output = command.env("LD_LIBRARY_PATH", lib).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(out.contains("spirv64 [2016, 63, 63, 33, 64, 9, 0, 0]\n"), "{out}{err}");
}

/// Operations that read and write, one in each kernel.
const READ_WRITE: &str = "
__kernel void relaxed(__global atomic_int *p, __global long *r) {
  r[0] = atomic_fetch_add_explicit(p, 5, memory_order_relaxed);
}
__kernel void ordered(__global atomic_int *p, __global long *r) { r[0] = atomic_exchange(p, 5); }
__kernel void flag(__global atomic_flag *p, __global long *r) { r[0] = atomic_flag_test_and_set(p); }
__kernel void acquiring(__global atomic_uint *p, __global long *r) {
  r[0] = atomic_fetch_max_explicit(p, 5u, memory_order_acquire, memory_scope_work_group);
}
__kernel void everywhere(__global atomic_long *p, __global long *r) {
  r[0] = atomic_fetch_sub_explicit(p, (long)5, memory_order_acq_rel, memory_scope_all_svm_devices);
}
";

/// LLVM leaves orders, and the scope of all devices, out of PTX where an operation reads and writes.
#[test]
fn ptx_has_the_orders_and_scopes_of_the_source() {
    let project = project(READ_WRITE, "\"nvptx:sm_75\"");
    project.write("offload.toml", "targets = [\"nvptx:sm_75\"]\n[modules.square]\nstd = \"3.0\"\n");
    let program = project.program();
    for (kernel, expected) in [
        ("relaxed", "atom.add"),
        ("ordered", "fence.sc.gpu atom.exch fence.acq_rel.gpu"),
        ("flag", "fence.sc.gpu atom.exch fence.acq_rel.gpu"),
        ("acquiring", "atom.max fence.acq_rel.cta"),
        ("everywhere", "fence.acq_rel.sys atom.sys.add fence.acq_rel.sys"),
    ] {
        let outcome = project.offload(&["asm", &program.display().to_string(), kernel]);
        assert!(outcome.success, "{}", outcome.text);
        let words = outcome.text.split_whitespace();
        let found = words.filter(|word| word.starts_with("atom.") || word.starts_with("fence."));
        let names = found.map(|word| word.trim_end_matches(';').replace(".global", ""));
        let names: Vec<_> = names.map(|name| without_type(&name).to_string()).collect();
        assert_eq!(names.join(" "), expected, "{}", outcome.text);
    }
}

/// `atom.add.u32` without the type.
fn without_type(name: &str) -> &str {
    let (head, last) = name.rsplit_once('.').unwrap_or(("", name));
    if last.ends_with("32") || last.ends_with("64") { head } else { name }
}
