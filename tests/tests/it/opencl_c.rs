//! The language of public OpenCL programs: what they take for granted compiles for every target, and runs here.

use crate::support::{self, Project};

/// Runs the kernel `run` on the CPU and on every OpenCL device, and prints what it leaves in eight numbers.
const MAIN: &str = r#"//! Prints numbers by target.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let mut devices = vec![Device::host()];
    devices.extend(offload_rt::opencl::devices().unwrap_or_default());
    for device in devices {
        let Ok(selection) = square::module().request().select(&device) else { continue };
        let program = device.open(&selection.entry().load().unwrap()).unwrap();
        let mut r = [0u64; 8];
        let range = NdRange::new([64], [64]);
        // SAFETY: the kernel uses the eight numbers.
        unsafe { program.launch("run", range, &mut [Arg::in_out(&mut r)]) }.unwrap();
        println!("{} {r:?}", selection.entry().target_text());
    }
}
"#;

const TARGETS: &str =
    r#""host", "spirv64", "intel:pvc", "nvptx:sm_75", "amdgcn:gfx90a", "amdgcn:gfx1100", "opencl-c""#;

/// A project with this kernel for `targets`.
pub(super) fn project(kernel: &str, targets: &str) -> Project {
    let project = Project::with_shared_cache("debugged");
    project.write("kernels/square.cl", kernel);
    project.write("src/main.rs", MAIN);
    project.write("offload.toml", &format!("targets = [{targets}]\n"));
    project
}

/// What the kernel leaves on each target that runs with PoCL.
fn ran(project: &Project) -> String {
    let program = project.program();
    let mut command = std::process::Command::new(&program);
    let output = command.env("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd").output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}{err}");
    out.into_owned()
}

/// Inline functions as C99 has them: used before they are declared `inline`, with `extern`, that call each other, that a
/// pointer is taken of nowhere, and too large to be inlined.
const INLINE: &str = "
ulong later(ulong x);
inline ulong rotl(const ulong x, int k) { return (x << k) | (x >> (64 - k)); }
extern inline ulong twice(ulong x) { return 2 * x; }
inline ulong four(ulong x) { return twice(twice(x)); }
extern inline ulong five(ulong x);
inline ulong five(ulong x) { return four(x) + x; }
static inline ulong six(ulong x) { return five(x) + x; }
inline ulong declared(ulong x);
inline ulong large(ulong x) {
  for (int i = 0; i < 10; ++i) {
    x = rotl(x, 7) ^ rotl(x, 13) * (x % 11);
    switch (x % 7) { case 0: x += 9; break; case 1: x ^= 5; break; case 2: x *= 3; break; case 3: x = ~x; break; }
  }
  return x;
}
inline __attribute__((overloadable)) ulong of(ulong x) { return x + 1; }
inline __attribute__((overloadable)) ulong of(int x) { return x + 2; }
inline void waits(__local ulong *l) { l[get_local_id(0)] = get_local_id(0); barrier(CLK_LOCAL_MEM_FENCE); }
__kernel void run(__global ulong *r) {
  __local ulong l[64];
  waits(l);
  if (get_global_id(0) != 0) return;
  r[0] = rotl(1, 65 - 60);
  r[1] = later(1) + declared(1);
  r[2] = six(7);
  r[3] = large(3) == large(3) && large(large(5)) != large(large(large(6)));
  r[4] = of((ulong)1) + of(1);
  r[5] = l[63];
}
inline ulong later(ulong x) { return x + 10; }
inline ulong declared(ulong x) { return x + 100; }
";

#[test]
fn inline_functions_of_c_compile_for_every_target_and_run() {
    let project = project(INLINE, TARGETS);
    let text = ran(&project);
    let results = "[32, 112, 42, 1, 5, 63, 0, 0]";
    assert!(text.contains(&format!("host {results}\n")), "{text}");
    assert!(text.contains(&format!("opencl-c {results}\n")), "{text}");
    project.optimize();
    let outcome = project.cargo(&["build"]);
    assert!(outcome.success, "{}", outcome.text);
}

/// Inline functions that clang has not to inline, and every spelling of `inline`.
const NOT_INLINED: &str = "
#include \"common.h\"
inline __attribute__((noinline)) ulong f(ulong x) { return x + 1; }
ulong __inline__ __attribute__((__noinline__)) g(ulong x);
ulong __inline__ __attribute__((__noinline__)) g(ulong x) { return f(x) + 2; }
__attribute__((noinline)) inline __attribute__((overloadable)) ulong of(ulong x) { return x + 3; }
__attribute__((noinline)) inline __attribute__((overloadable)) ulong of(int x) { return x + 4; }
extern inline ulong shown(ulong x) { return x + 5; }
ulong __inline spelt(ulong x) { return x + 6; }
__attribute__((always_inline)) inline ulong always(ulong x) { return x + 7; }
inline __attribute__((noinline)) void waits(__local ulong *l) {
  l[get_local_id(0)] = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
}
inline __attribute__((noinline)) ulong later(ulong x);
__kernel void run(__global ulong *r) {
  __local ulong l[64];
  waits(l);
  if (get_global_id(0) != 0) return;
  r[0] = g(1);
  r[1] = of((ulong)1) + of(1);
  r[2] = shown(1) + spelt(1);
  r[3] = always(1);
  r[4] = later(1);
  r[5] = header(1);
  r[6] = l[63];
}
inline __attribute__((noinline)) ulong later(ulong x) { return x + 8; }
";

#[test]
fn inline_functions_that_are_not_inlined_compile_for_every_target_and_run() {
    let project = project(NOT_INLINED, TARGETS);
    project.write(
        "kernels/common.h",
        "inline __attribute__((noinline)) ulong header(ulong x) { return x + 9; }\n",
    );
    let text = ran(&project);
    let results = "[4, 9, 13, 8, 9, 10, 63, 0]";
    assert!(text.contains(&format!("host {results}\n")), "{text}");
    assert!(text.contains(&format!("opencl-c {results}\n")), "{text}");
    project.optimize();
    let outcome = project.cargo(&["build"]);
    assert!(outcome.success, "{}", outcome.text);
}

fn calling_both(name: &str) -> String {
    let body = "x[0] = common(x[1]) + other(x[2]);";
    format!("#include \"common.h\"\n__kernel void {name}(__global int *x) {{ {body} }}\n")
}

/// A header with an inline function in two files of a module, and one of C.
#[test]
fn inline_functions_of_a_header_are_those_of_every_file() {
    let project = Project::new("two-files");
    let header = "inline int common(int x) { return x + 1; }\n\
                  inline __attribute__((noinline)) int other(int x) { return x + 2; }\n";
    project.write("kernels/common.h", header);
    project.write("kernels/a.cl", &calling_both("alpha"));
    project.write("kernels/b.cl", &calling_both("beta"));
    project.write("offload.toml", "targets = [\"host\", \"spirv64\", \"nvptx:sm_75\", \"amdgcn:gfx90a\"]\n");
    let text = project.run(&[]);
    assert_eq!(text.matches(" bytes\n").count(), 4, "{text}");
}

/// Sums that are compared with a summand, and a choice between vectors by one truth value.
const CARRY: &str = "
__kernel void run(__global ulong *r) {
  if (get_global_id(0) != 0) return;
  ulong a = r[7] - 1, b = a + 5;
  r[0] = b;
  r[1] = b < a;
  uint c = (uint)r[7] + 7, d = c + 4294967290u;
  r[2] = d + (d < c);
  float4 x = (float4)(1, 2, 3, r[7]), y = x + 4;
  bool chosen = r[7] == 0;
  float4 z = chosen ? x : y;
  vstore4(z, 0, (__global float *)(r + 3));
}
";

/// Intel's driver of 2022 refuses sums with a carry, and `spirv-val` what LLVM makes of the choice.
#[test]
fn carries_and_choices_between_vectors_compile_for_every_target_and_run() {
    if !offload_tests::is_nightly() {
        return;
    }
    let project = project(CARRY, TARGETS);
    let text = ran(&project);
    let results = "[4, 1, 2, 4611686019492741120, 1077936128, 0, 0, 0]";
    assert!(text.contains(&format!("host {results}\n")), "{text}");
    assert!(text.contains(&format!("opencl-c {results}\n")), "{text}");
    project.optimize();
    let outcome = project.cargo(&["build"]);
    assert!(outcome.success, "{}", outcome.text);
}

/// What OpenCL C 1.2 predefines, 6.10 of the specification
/// (<https://registry.khronos.org/OpenCL/specs/opencl-1.2.pdf>), and the extensions that every target has.
const EVERYWHERE: [&str; 23] = [
    "__OPENCL_VERSION__",
    "__OPENCL_C_VERSION__",
    "CL_VERSION_1_0",
    "CL_VERSION_1_1",
    "CL_VERSION_1_2",
    "CL_VERSION_2_0",
    "CL_VERSION_3_0",
    "__ENDIAN_LITTLE__",
    "__kernel_exec",
    "__FILE__",
    "__LINE__",
    "NULL",
    "FLT_MAX",
    "DBL_MAX",
    "INT_MAX",
    "MAXFLOAT",
    "M_PI_F",
    "cl_khr_fp64",
    "cl_khr_byte_addressable_store",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
];

/// What OpenCL C 3.0 predefines besides (6.2.1 of
/// <https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html>), on every target.
const FEATURES: [&str; 8] = [
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_atomic_scope_all_devices",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_int64",
    "__opencl_c_program_scope_global_variables",
];

/// What no target has, though clang says so of several.
const NOWHERE: [&str; 6] = [
    "cl_intel_subgroups",
    "cl_ext_float_atomics",
    "cl_khr_integer_dot_product",
    "__opencl_c_device_enqueue",
    "__opencl_c_pipes",
    "__FAST_RELAXED_MATH__",
];

/// What some have: the macro, and those that clang defines for the kinds of target.
const SOME: [(&str, &str); 6] = [
    ("__IMAGE_SUPPORT__", "!defined(__NVPTX__) && !defined(__AMDGCN__)"),
    ("cl_khr_subgroups", "__OPENCL_C_VERSION__ >= 200"),
    // SPIR-V of version 1.2 has none.
    ("cl_khr_subgroup_shuffle", "!defined(__SPIRV__) && __OPENCL_C_VERSION__ >= 200"),
    ("cl_amd_media_ops", "defined(__AMDGCN__)"),
    ("cl_khr_fp16", "!defined(__NVPTX__)"),
    ("FP_FAST_FMAF", "defined(__NVPTX__) || defined(__AMDGCN__) || defined(__FMA__)"),
];

/// A kernel that does not compile where a macro is missing, or there for nothing.
fn asking(features: &[&str]) -> String {
    let mut text = String::new();
    for name in EVERYWHERE.iter().chain(features) {
        text.push_str(&format!("#ifndef {name}\n#error \"no {name}\"\n#endif\n"));
    }
    for name in NOWHERE {
        text.push_str(&format!("#ifdef {name}\n#error \"there is {name}\"\n#endif\n"));
    }
    for (name, condition) in SOME {
        text.push_str(&format!("#if defined({name}) != ({condition})\n#error \"{name}\"\n#endif\n"));
    }
    text + "#if __OPENCL_VERSION__ < CL_VERSION_1_2 || __OPENCL_VERSION__ != __OPENCL_C_VERSION__\n#error \"version\"\n\
            #endif\n__kernel void run(__global ulong *r) { if (get_global_id(0) == 0) r[0] = __OPENCL_VERSION__; }\n"
}

const COMPILED: &str =
    r#""host", "host:x86-64-v3", "spirv64", "intel:pvc", "nvptx:sm_75", "amdgcn:gfx90a", "amdgcn:gfx1100""#;

#[test]
fn macros_say_what_a_target_has() {
    let project = project(&asking(&[]), COMPILED);
    let text = ran(&project);
    assert!(text.starts_with("host") && text.contains(" [120, "), "{text}");
    project.write("kernels/square.cl", &asking(&FEATURES));
    let toml = format!("targets = [{COMPILED}]\n[modules.square]\nstd = \"3.0\"\n");
    project.write("offload.toml", &toml);
    let text = ran(&project);
    assert!(text.starts_with("host") && text.contains(" [300, "), "{text}");
}

/// Before drivers see the source, includes are merged by what its conditions say.
#[test]
fn conditions_of_source_for_drivers_see_constants_of_the_language() {
    let source = "#if !defined(FLT_MAX) || !defined(INT_MAX) || !defined(M_PI) || !defined(CLK_LOCAL_MEM_FENCE)\n\
                  #include \"absent.h\"\n#endif\n\
                  __kernel void run(__global ulong *r) { if (get_global_id(0) == 0) r[0] = FLT_MAX > 1.0f; }\n";
    let project = project(source, "\"opencl-c\"");
    let text = ran(&project);
    assert!(text.starts_with("opencl-c [1, "), "{text}");
}

/// Every function of the extensions of 64 bits, on global and local memory.
const ATOM: &str = "
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define ALL(P, T)                                                                                        \\
  atom_add(P, (T)5000000000); atom_sub(P, (T)1); atom_inc(P); atom_dec(P);                               \\
  barrier(3);                                                                                            \\
  if (i == 0) {                                                                                          \\
    r[n++] = atom_cmpxchg(P, (T)319999999936, (T)7); r[n++] = atom_xchg(P, (T)-2);                        \\
    atom_min(P, (T)-3); r[n++] = atom_max(P, (T)1) + 3; atom_and(P, (T)6); atom_or(P, (T)1);              \\
    atom_xor(P, (T)1); r[n++] = *P;                                                                      \\
  }
__kernel void run(__global ulong *r) {
  __local ulong u;
  __local long l;
  size_t i = get_local_id(0);
  int n = 0;
  if (i == 0) { u = 0; l = 0; }
  barrier(3);
  ALL(&u, ulong)
  ALL(&l, long)
}
__kernel void global_memory(volatile __global ulong *u, volatile __global long *l, __global ulong *r) {
  size_t i = get_local_id(0);
  int n = 0;
  ALL(u, ulong)
  ALL(l, long)
}
";

#[test]
fn atomic_functions_of_64_bits_are_on_every_target() {
    let project = project(ATOM, TARGETS);
    let text = ran(&project);
    let results = "[319999999936, 7, 0, 4, 319999999936, 7, 0, 0]";
    assert!(text.contains(&format!("host {results}\n")), "{text}");
    assert!(text.contains(&format!("opencl-c {results}\n")), "{text}");
}

/// All calls of an atomic function and its explicit forms.
fn push_calls(body: &mut String, function: &str, arguments: &str, orders: &str) {
    let one = orders.split(',').next_back().unwrap();
    body.push_str(&format!("s += {function}(p{arguments});\n"));
    let rest = orders.split(',').map(|order| format!(", memory_order_{order}")).collect::<String>();
    body.push_str(&format!("s += {function}_explicit(p{arguments}{rest});\n"));
    for scope in ["work_group", "device", "all_svm_devices"] {
        body.push_str(&format!(
            "s += {function}_explicit(p{arguments}{rest}, memory_scope_{scope}); // {one}\n"
        ));
    }
}

/// Every atomic function of OpenCL C 2.0 in every form, for every type.
fn c11() -> String {
    let mut text = String::from("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n");
    for kind in ["int", "uint", "long", "ulong", "float", "double"] {
        let mut body = format!("{kind} e = 1, s = 0; atomic_init(p, ({kind})1);\n");
        push_calls(&mut body, "atomic_load", "", "acquire");
        push_calls(&mut body, "atomic_exchange", &format!(", ({kind})3"), "acq_rel");
        push_calls(
            &mut body,
            "atomic_compare_exchange_strong",
            &format!(", &e, ({kind})4"),
            "seq_cst,relaxed",
        );
        push_calls(&mut body, "atomic_compare_exchange_weak", &format!(", &e, ({kind})4"), "acq_rel,acquire");
        if !matches!(kind, "float" | "double") {
            for name in ["add", "sub", "or", "xor", "and", "min", "max"] {
                push_calls(&mut body, &format!("atomic_fetch_{name}"), &format!(", ({kind})3"), "relaxed");
            }
        }
        body.push_str(&format!(
            "atomic_store(p, ({kind})1); atomic_store_explicit(p, ({kind})1, memory_order_release);\n\
             atomic_store_explicit(p, ({kind})2, memory_order_seq_cst, memory_scope_device);\n"
        ));
        text.push_str(&format!(
            "__kernel void g_{kind}(__global atomic_{kind} *p, __global {kind} *out) {{ {body} out[0] = s; }}\n\
             __kernel void l_{kind}(__global {kind} *out) {{ __local atomic_{kind} x; __local atomic_{kind} *p = &x; {body} out[0] = s; }}\n"
        ));
    }
    text + "
__kernel void flags(__global atomic_flag *f, __global int *o) {
  o[0] = atomic_flag_test_and_set(f) + atomic_flag_test_and_set_explicit(f, memory_order_acquire, memory_scope_device);
  atomic_flag_clear(f); atomic_flag_clear_explicit(f, memory_order_release);
}
"
}

pub(super) const C11: &str = "
__kernel void run(__global ulong *r) {
  __local atomic_ulong sum, top;
  __local atomic_long least;
  __local atomic_double one;
  __local atomic_uint count;
  if (get_local_id(0) == 0) {
    atomic_init(&sum, 0); atomic_init(&top, 0); atomic_init(&least, 0); atomic_init(&one, 1.0); atomic_init(&count, 0);
  }
  work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
  ulong i = get_local_id(0);
  atomic_fetch_add(&sum, i << 32);
  atomic_fetch_max_explicit(&top, i << 40, memory_order_relaxed, memory_scope_work_group);
  atomic_fetch_min_explicit(&least, -(long)i, memory_order_acq_rel, memory_scope_device);
  double old = atomic_load(&one);
  while (!atomic_compare_exchange_weak(&one, &old, old + 0.5)) {}
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
  atomic_fetch_add_explicit(&count, 1u, memory_order_seq_cst);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  if (i == 0) {
    r[0] = atomic_load(&sum) >> 32; r[1] = atomic_load_explicit(&top, memory_order_acquire) >> 40;
    r[2] = -atomic_load(&least); r[3] = (ulong)atomic_load(&one); r[4] = atomic_exchange(&count, 9u); r[5] = atomic_load(&count);
  }
}
";

#[test]
fn atomic_functions_with_orders_and_scopes_run() {
    let project = project(C11, "\"host\"");
    for std in ["2.0", "3.0"] {
        project.write("offload.toml", &format!("targets = [\"host\"]\n[modules.square]\nstd = \"{std}\"\n"));
        let text = ran(&project);
        assert!(text.contains("host [2016, 63, 63, 33, 64, 9, 0, 0]\n"), "{text}");
    }
}

/// On `host` they are those of the kernel above; so many kernels take a build script minutes there.
#[test]
fn atomic_functions_have_every_form_on_gpus() {
    let targets = r#""spirv64", "intel:pvc", "nvptx:sm_60", "nvptx:sm_75", "amdgcn:gfx90a""#;
    let project = project(&(c11() + C11), targets);
    project.write("offload.toml", &format!("targets = [{targets}]\n[modules.square]\nstd = \"2.0\"\n"));
    let outcome = project.cargo(&["build"]);
    assert!(outcome.success, "{}", outcome.text);
}

/// Sums of `half` and conversions from and to every other type.
const HALF: &str = "
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
half twice(half x) { return x + x; }
__kernel void run(__global ulong *r) {
  if (get_global_id(0) != 0) return;
  half h = (half)(float)(r[7] + 3);
  half4 v = (half4)(h, 1.5h, twice(h), (half)(double)(r[7] + 1)) * 2.0h;
  r[0] = (ulong)(float)v.x; r[1] = (ulong)(double)v.y; r[2] = (int)v.z; r[3] = (ulong)v.w;
  // Halfway between two numbers, and what rounding by way of float would lead astray.
  r[4] = as_ushort((half)(float)(2049 + r[7])); r[5] = as_ushort((half)((double)(2049 + r[7]) + 1e-12));
  r[6] = as_ushort((half)(65520.0f + (float)r[7]));
}
";

#[test]
fn half_is_on_cpus_without_instructions_for_it() {
    let project = project(HALF, "\"host\"");
    let results = "host [6, 3, 12, 2, 26624, 26625, 31744, 0]\n";
    let text = ran(&project);
    assert!(text.contains(results), "{text}");
    for level in ["host:x86-64-v2", "host:x86-64-v3"] {
        project.write("offload.toml", &format!("targets = [\"{level}\"]\n"));
        let text = ran(&project);
        assert!(text.contains(&results.replace("host", level)), "{text}");
    }
    project.write("offload.toml", "targets = [\"host\"]\n");
    project.optimize();
    let text = project.run(&[]);
    assert!(text.contains(results), "{text}");
}

/// Functions on `half`; each bit of a result is a comparison that holds.
const HALF_FUNCTIONS: &str = "
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define BITS(A, B, C, D) ((ulong)(A) | (ulong)(B) << 1 | (ulong)(C) << 2 | (ulong)(D) << 3)
__kernel void run(__global ulong *r) {
  __local half l[16];
  half zero = convert_half(r[7]);
  float f = 2049.0f + convert_float(zero);
  ulong i = get_global_id(0);
  if (i < 16) l[i] = convert_half_rte((long)i);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i != 0) return;
  r[0] = BITS(as_ushort(convert_half_rtp(f)) == 26625, as_ushort(convert_half_rtn(f)) == 26624,
              as_ushort(convert_half_rtn(-f)) == 59393, as_ushort(convert_half_rtz(-f)) == 59392);
  r[1] = BITS(as_ushort(convert_half_rtz(f * 1000)) == 31743, as_ushort(convert_half_rtp(f * 1e-12f)) == 1,
              as_ushort(convert_half_rtn(-(double)f * 1e-30)) == 32769, as_ushort(convert_half(100000 + r[7])) == 31744);
  half4 v = convert_half4((float4)(1.5f, 2.5f, -0.5f, 7.0f)) + zero;
  half16 wide = convert_half16_rtz(convert_int16(vload16(0, l)));
  r[2] = BITS(all(convert_int4_sat_rte(v) == (int4)(2, 2, 0, 7)), convert_uchar_sat((half)-3.0f + zero) == 0,
              all(convert_double3(v.xyz) == (double3)(1.5, 2.5, -0.5)), wide.sf == 15.0h && wide.s1 == 1.0h);
  half3 w = convert_half3_rtp((double3)(1, 2, 2049));
  r[3] = BITS(sqrt(9.0h + zero) == 3.0h, pown(v.w, 2) == 49.0h, all(max(v, 2.0h) == (half4)(2.0h, 2.5h, 2.0h, 7.0h)),
              w.z == 2050.0h && fma(v.x, 2.0h, 1.0h) == 4.0h);
  r[4] = BITS(fabs(dot(v, v) - 57.75h) < 0.1h, all(isequal(v, v)), !any(isnan(v)),
              clamp(v, -1.0h, 1.0h).w == 1.0h);
  vstore3(v.xyz, 1, l);
  half2 pair = vload2(2, l);
  r[5] = BITS(l[3] == 1.5h, l[5] == -0.5h, pair.x == 2.5h, l[6] == 6.0h);
  vstore_half4_rtn((float4)(f, 1, 2, 3), 0, l);
  float4 back = vload_half4(0, l);
  r[6] = BITS(back.x == 2048.0f, back.w == 3.0f, as_half((ushort)15360) == 1.0h, vload_half(1, l) == 1.0f);
}
";

#[test]
fn functions_of_half_are_on_every_cpu() {
    if !offload_tests::is_nightly() {
        return;
    }
    let project = project(HALF_FUNCTIONS, "\"host\"");
    let results = "[15, 15, 15, 15, 15, 15, 15, 0]\n";
    for level in ["host", "host:x86-64-v3"] {
        project.write("offload.toml", &format!("targets = [\"{level}\"]\n"));
        let text = ran(&project);
        assert!(text.contains(&format!("{level} {results}")), "{text}");
    }
    project.optimize();
    let text = project.run(&[]);
    assert!(text.contains(results), "{text}");
}

#[test]
fn conversions_of_half_round_as_the_compilers_library_does() {
    let Some(clang) = offload_tests::require("clang-22") else { return };
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("half");
    let own = ["truncsfhf2", "truncdfhf2", "extendhfsf2", "extendhfdf2"];
    let object = directory.path().join("own.o");
    let mut compile = std::process::Command::new(&clang);
    compile.args(own.map(|name| format!("-D__{name}=own_{name}"))).args(["-O1", "-c", "-o"]).arg(&object);
    compile.arg(support::root().join("offload-build/src/compile/device/host_half.c"));
    assert!(compile.status().unwrap().success());
    let mut link = std::process::Command::new(&clang);
    link.args(["-O1", "-o"])
        .arg(&program)
        .arg(support::root().join("tests/fixtures/opencl-c/half.c"))
        .arg(&object);
    assert!(link.status().unwrap().success());
    let output = std::process::Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn what_no_target_has_is_named_with_what_to_do() {
    let kernel = "int even(int n);\nint odd(int n) { return n == 0 ? 0 : even(n - 1); }\n\
                  int even(int n) { return n == 0 ? 1 : odd(n - 1); }\n\
                  __kernel void run(__global ulong *r) { r[0] = odd(r[1]); }\n";
    let project = project(kernel, "\"host\", \"spirv64\"");
    let text = project.fail();
    assert!(
        text.contains("kernels/square.cl:2") && text.contains("`odd`") && text.contains("`even`"),
        "{text}"
    );
    assert!(text.contains("hint:") && text.contains("loop"), "{text}");
    let kernel = "__kernel void run(__global int *r) {\n\
                  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ r[0] = 1; });\n}\n";
    project.write("kernels/square.cl", kernel);
    project.write("offload.toml", "targets = [\"spirv64\"]\n[modules.square]\nstd = \"2.0\"\n");
    let text = project.fail();
    assert!(text.contains("enqueue_kernel") && text.contains("hint:"), "{text}");
}
