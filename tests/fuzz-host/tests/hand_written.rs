//! Cases that are written by hand, through the executor and every build.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use offload_fuzz_host::builds::BuildKind;
use offload_fuzz_host::case::{Case, CaseArg, Language, Range};
use offload_fuzz_host::check::check;
use offload_fuzz_host::harness::{Harness, Programs};
use offload_fuzz_host::report::Report;
use offload_tests::workspace::Workspace;

fn harness() -> Harness {
    let workspace = Workspace::find().unwrap();
    let programs = Programs::build(&workspace).unwrap();
    Harness::new(&workspace, programs.compiler, programs.runner).unwrap()
}

fn check_all(cases: &[Case]) -> Report {
    let report = check(&harness(), cases, &BuildKind::ALL).unwrap();
    report.print();
    report
}

/// A kernel over `groups` groups of sixteen work-items.
fn case(kernel: &str, source: &str, groups: u64) -> Case {
    let range = Range { dimensions: 1, offset: [0; 3], global: [16 * groups, 1, 1], local: [16, 1, 1] };
    Case {
        kernel: kernel.into(),
        source: source.into(),
        language: Language::OpenClC,
        buffers: Vec::new(),
        args: Vec::new(),
        range,
        prints: false,
    }
}

fn with_output(mut case: Case) -> Case {
    let items = case.range.global.iter().product::<u64>();
    case.buffers.push(vec![0; usize::try_from(items).unwrap()]);
    case.args.push(CaseArg::Buffer(case.buffers.len() - 1));
    case
}

fn saxpy() -> Case {
    let source = "struct scale { uint a; uint b[2]; };
kernel void saxpy(global uint *y, global const uint *same, struct scale s, uint4 v, ulong w) {
    uint i = (uint)get_global_id(0);
    y[i] = s.a * same[i] + s.b[1] + v.z + (uint)(w >> 32) + min(i, 5u) + mul_hi(i << 28, 64u);
}
";
    let mut case = case("saxpy", source, 3);
    case.buffers = vec![(0..48).collect()];
    case.args = vec![
        CaseArg::Buffer(0),
        CaseArg::Buffer(0),
        CaseArg::Value(vec![3, 5, 7]),
        CaseArg::Value(vec![1, 2, 3, 4]),
        CaseArg::Value(vec![9, 11]),
    ];
    case
}

fn reduction() -> Case {
    let source = "kernel void reduction(global uint *out, local uint *scratch) {
    local uint tile[16];
    uint lid = (uint)get_local_id(0);
    tile[lid] = (uint)get_global_id(0) * 7u;
    scratch[15u - lid] = lid;
    for (uint step = 8u; step > 0u; step /= 2u) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < step) tile[lid] += tile[lid + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&tile[0], scratch[lid]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[0] + lid;
}
";
    let mut case = with_output(case("reduction", source, 4));
    case.args.push(CaseArg::Local(16));
    case
}

fn printing() -> Case {
    let source = "kernel void printing(global uint *out) {
    uint t = (uint)get_global_id(0);
    if (t % 5u == 0u) printf(\"%u: begins\\n\", t);
    barrier(CLK_GLOBAL_MEM_FENCE);
    printf(\"%u: ends with %u\\n\", t, t * t);
    out[t] = t;
}
";
    Case { prints: true, ..with_output(case("printing", source, 2)) }
}

fn of_cpp() -> Case {
    let source = "#include <gpuintrin.h>
static __gpu_local unsigned cpp_tile[16];
extern \"C\" __gpu_kernel void of_cpp(__gpu_global unsigned *out, unsigned n) {
    unsigned lid = __gpu_thread_id(0);
    cpp_tile[lid] = lid * n;
    __gpu_sync_threads();
    out[__gpu_block_id_x() * __gpu_num_threads_x() + lid] = cpp_tile[15u - lid];
}
";
    let mut case = with_output(Case { language: Language::Cpp, ..case("of_cpp", source, 2) });
    case.args.push(CaseArg::Value(vec![3]));
    case
}

/// An early return that no work-item takes.
fn untaken_return() -> Case {
    let source = "kernel void untaken(global uint *out, uint n) {
    uint lid = (uint)get_local_id(0);
    uint x = 0u;
    do {
        x += 3u;
        if (x * 77u == n) return;
    } while (x < lid * 2u);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = x;
}
";
    let mut case = with_output(case("untaken", source, 1));
    case.args.push(CaseArg::Value(vec![7]));
    case
}

fn racy() -> Case {
    let source = "kernel void racy(global uint *out) {
    local uint last;
    last = (uint)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = last;
}
";
    with_output(case("racy", source, 1))
}

fn unwritten() -> Case {
    let source = "kernel void unwritten(global uint *out) {
    local uint tile[16];
    if (get_local_id(0) == 0) tile[0] = 1u;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[get_local_id(0)];
}
";
    with_output(case("unwritten", source, 1))
}

fn divergent() -> Case {
    let source = "kernel void divergent(global uint *out) {
    if (get_local_id(0) < 8) barrier(CLK_LOCAL_MEM_FENCE);
    else barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = 1u;
}
";
    with_output(case("divergent", source, 1))
}

fn leaving() -> Case {
    let source = "kernel void leaving(global uint *out) {
    if (get_local_id(0) == 3) return;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = 1u;
}
";
    with_output(case("leaving", source, 1))
}

fn outside() -> Case {
    let source = "kernel void outside(global uint *out) { out[get_global_id(0) + 4] = 1u; }\n";
    with_output(case("outside", source, 1))
}

fn broken() -> Case {
    with_output(case("broken", "kernel void broken(global uint *out) { out[0] = nothing; }\n", 1))
}

#[test]
fn valid_cases_agree_in_every_build() {
    let report = check_all(&[saxpy(), reduction(), printing(), of_cpp(), untaken_return()]);
    assert_eq!(report.valid, 5);
    assert_eq!(report.mismatches, []);
    assert!(report.is_clean());
}

#[test]
fn cases_without_one_result_are_left_out() {
    let cases = [saxpy(), racy(), divergent(), broken(), unwritten(), leaving(), outside()];
    let report = check(&harness(), &cases, &[]).unwrap();
    assert_eq!(report.valid, 1);
    assert_eq!(report.racy, [1, 4]);
    let invalid: Vec<usize> = report.invalid.iter().map(|(case, _)| *case).collect();
    assert_eq!(invalid, [2, 3, 5]);
    assert!(report.invalid[0].1.contains("wait at different barriers"), "{report:?}");
    assert!(report.invalid[1].1.contains("nothing"), "{report:?}");
    assert!(report.invalid[2].1.contains("end while others"), "{report:?}");
    assert_eq!(report.failed, [(6, "signal 11".to_string())]);
}

/// A program in place of one of the harness's, which a shell runs.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn faults_of_builds_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    // Refuses the case whose source has this word.
    let compiler = script(
        folder.path(),
        "compiler",
        "if grep -q mul_hi \"$@\"; then echo no mul_hi >&2; exit 1; fi; echo > \"$OFFLOAD_RELOAD_PACKS/pack\"",
    );
    // Launches the first of what is left, which gives zeros, and dies of the second.
    let runner = script(
        folder.path(),
        "runner",
        "if [ $5 = 0 ]; then echo '{\"Begun\":0}' >> $4; echo '{\"Done\":[[0]]}' >> $4; fi
echo '{\"Begun\":1}' >> $4
kill -SEGV $$",
    );
    let harness = Harness::new(&Workspace::find().unwrap(), compiler, runner).unwrap();
    let report = check(&harness, &[saxpy(), untaken_return(), reduction()], &[BuildKind::Dev]).unwrap();
    let found: Vec<String> = report.faults().map(ToString::to_string).collect();
    let [compile, wrong, crash] = found.as_slice() else { panic!("{found:?}") };
    assert!(compile.contains("case 0: dev: it does not compile: exit status: 1: no mul_hi"), "{compile}");
    assert_eq!(wrong, "case 1: dev: 1 wrong words: buffer 0, word 0: 0x0 instead of 0x3");
    assert_eq!(crash, "case 2: dev: the program died: signal 11: ");
}
