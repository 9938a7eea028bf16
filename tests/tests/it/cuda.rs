//! CUDA C++ as nvcc takes it, by clang: with the headers of offload-build, and with NVIDIA's; for NVIDIA, AMD and the CPU.

mod constructs;
mod left_out;
mod textures;

use std::fs;
use std::process::Command;

use crate::support::{self, Project};

/// The kernels of the fixture, in the order of their names.
const KERNELS: [&str; 8] =
    ["_Z4fillIfEvPT_S0_", "assertion", "bfloats", "dot", "halves", "launched", "named_alike", "tiles"];

/// Runs a build whose image has every kernel; machine code where there is an assembler, which refuses what is unresolved.
fn every_kernel_is_in_the_image(project: &mut Project) {
    let target = if offload_tests::require_ptxas().is_some() { "cubin:sm_80" } else { "nvptx:sm_80" };
    project.set("OFFLOAD_TARGETS", target);
    let text = project.run(&[]);
    let mut words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words.remove(0), target, "{text}");
    words.sort_unstable();
    assert_eq!(words, KERNELS, "{text}");
}

#[test]
fn cuda_files_compile_without_a_toolkit() {
    let mut project = Project::with_shared_cache("cuda");
    project.set("OFFLOAD_CUDA_SDK", "/nonexistent");
    every_kernel_is_in_the_image(&mut project);
    // The oldest architecture.
    project.set("OFFLOAD_TARGETS", "nvptx:sm_75");
    assert!(project.run(&[]).starts_with("nvptx:sm_75 "));
}

/// PTX of the kernels that `source` defines.
fn ptx(project: &mut Project, source: &str) -> String {
    project.write("kernels/dot.cu", source);
    let build = "offload_build::Build::new().file(\"kernels/dot.cu\").compile(\"cuda\")";
    project.write("build.rs", &format!("fn main() {{\n    {build};\n}}\n"));
    project.run(&[]);
    let program = project.program();
    let extracted = project.path("extracted");
    let arguments = ["extract", program.to_str().unwrap(), "-o", extracted.to_str().unwrap()];
    assert!(project.offload(&arguments).success);
    let files = fs::read_dir(&extracted).unwrap().map(|entry| entry.unwrap().path());
    files.filter_map(|file| fs::read_to_string(file).ok()).collect()
}

/// The kernel `name` of PTX.
fn kernel<'p>(ptx: &'p str, name: &str) -> &'p str {
    let kernel = ptx.split(&format!(".entry {name}(")).nth(1).unwrap();
    kernel.split(".entry ").next().unwrap()
}

/// LLVM's passes leave variables in local memory that are copied by 16 bytes.
#[test]
fn vectors_that_are_copied_are_in_registers() {
    let mut project = Project::with_shared_cache("cuda");
    project.set("OFFLOAD_TARGETS", "nvptx:sm_80");
    let ptx = ptx(&mut project, include_str!("../../fixtures/gpu/kernels/matmul.cu"));
    let kernel = kernel(&ptx, "matmul");
    assert!(!kernel.contains(".local"), "{kernel}");
    assert!(kernel.contains("ld.global.nc.v4.") || kernel.contains("ld.global.v4."), "{kernel}");
}

/// A thread keeps nothing for after an assertion that fails.
#[test]
fn a_failed_assertion_ends_its_thread() {
    let mut project = Project::with_shared_cache("cuda");
    project.set("OFFLOAD_TARGETS", "nvptx:sm_80");
    let source = "#include <cassert>\n\
        extern \"C\" __global__ void checked(const int *i, float *x) { assert(i[threadIdx.x] < 8); x[i[threadIdx.x]] = 1; }\n";
    let ptx = ptx(&mut project, source);
    let kernel = kernel(&ptx, "checked");
    let (_, after) = kernel.split_once("call.uni").unwrap();
    let next = after.split_once("\tcall.uni").map_or(after, |(next, _)| next);
    assert!(next.find("exit;").unwrap() < next.find("ret;").unwrap_or(usize::MAX), "{kernel}");
}

/// As nvcc's are: four loads in flight, and others in the rest of the loop.
#[test]
fn loops_with_a_step_of_the_launch_are_unrolled() {
    let mut project = Project::with_shared_cache("cuda");
    project.set("OFFLOAD_TARGETS", "nvptx:sm_80");
    let definition = |name: &str, sum: &str| {
        format!(
            "extern \"C\" __global__ void {name}(const unsigned short *x, unsigned short *out, int n) {{\n\
               unsigned short sum = 0;\n\
               int step = blockDim.x;\n\
               for (int i = threadIdx.x; i < n; i += step) {sum}\n\
               out[threadIdx.x] = sum;\n}}\n"
        )
    };
    let assembly = "asm(\"{ add.f16 %0, %0, %1; }\" : \"+h\"(sum) : \"h\"(x[i]));";
    let source = definition("summed", "sum += x[i];") + &definition("summed_by_assembly", assembly);
    let source = source + &definition("summed_as_written", &assembly.replace("asm(", "asm volatile("));
    let ptx = ptx(&mut project, &source);
    let loads = |name: &str| kernel(&ptx, name).matches("ld.global").count();
    assert!(loads("summed") > 4 && loads("summed_by_assembly") > 4, "{ptx}");
    // It may depend on which threads execute it together.
    assert_eq!(loads("summed_as_written"), 1);
}

/// PTX of sm_89 has them in a version that its first drivers do not know.
#[test]
fn numbers_of_8_bits_are_converted_by_instructions() {
    let source = "#include <cuda_fp8.h>\n\
        extern \"C\" __global__ void halved(__nv_fp8_e4m3 *x) {\n\
          x[threadIdx.x] = __nv_fp8_e4m3((float)x[threadIdx.x] * 0.5f);\n}\n";
    for (target, has_instructions) in [("nvptx:sm_89", false), ("nvptx:sm_90", true)] {
        let mut project = Project::with_shared_cache("cuda");
        project.set("OFFLOAD_TARGETS", target);
        let ptx = ptx(&mut project, source);
        for instruction in ["cvt.rn.f16x2.e4m3x2 ", "cvt.rn.satfinite.e4m3x2.f32 "] {
            assert_eq!(ptx.contains(instruction), has_instructions, "{target}: {ptx}");
        }
    }
}

/// PTX has the device's scope where an operation names none, and LLVM names none but for compare-and-swap.
#[test]
fn atomic_functions_of_the_system_have_its_scope() {
    let mut project = Project::with_shared_cache("cuda");
    project.set("OFFLOAD_TARGETS", "nvptx:sm_80");
    let operations =
        ["atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor"];
    let mut source = String::from(
        "extern \"C\" __global__ void system_wide(int *i, unsigned long long *u, double *d) {\n",
    );
    for operation in operations {
        source.push_str(&format!(
            "  i[1] += {operation}_system(i, 3);\n  u[1] += {operation}_system(u, 5ull);\n"
        ));
    }
    source.push_str(
        "  i[1] += atomicExch_system(i, 7) + atomicCAS_system(i, 8, 9);\n  atomicAdd_system(d, 1.0);\n}\n",
    );
    let ptx = ptx(&mut project, &source);
    let kernel = kernel(&ptx, "system_wide");
    let atomics: Vec<&str> = kernel.lines().filter(|line| line.trim_start().starts_with("atom.")).collect();
    assert_eq!(atomics.len(), 2 * operations.len() + 3, "{kernel}");
    assert!(atomics.iter().all(|line| line.contains(".sys.")), "{atomics:?}");
}

#[test]
fn cuda_files_compile_with_the_headers_of_a_toolkit() {
    let Some(headers) = offload_tests::require_cuda_headers() else { return };
    let mut project = Project::with_shared_cache("cuda");
    let toml = fs::read_to_string(project.path("offload.toml")).unwrap();
    project.write("offload.toml", &format!("{toml}[modules.cuda]\ncuda-sdk = true\n"));
    project.set("OFFLOAD_CUDA_SDK", headers.to_str().unwrap());
    every_kernel_is_in_the_image(&mut project);
}

#[test]
fn a_header_without_a_stand_in_is_named_with_both_ways() {
    let mut project = Project::with_shared_cache("cuda");
    project.set("OFFLOAD_CUDA_SDK", "/nonexistent");
    project.set("OFFLOAD_TARGETS", "nvptx:sm_80");
    project.write("kernels/dot.cu", "#include <cuda/stream_ref>\n");
    let text = project.fail();
    for part in [
        "kernels/dot.cu:1:10: fatal error: 'cuda/stream_ref' file not found",
        "write `cuda-sdk = true` below `[modules.cuda]` in offload.toml",
        "or leave `cuda/stream_ref` out",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn cuda_files_compile_for_amd_beside_nvidia() {
    // It has NVIDIA's functions of mathematics too.
    if offload_tests::require_ptxas().is_none() {
        return;
    }
    let mut project = Project::with_shared_cache("cuda");
    project.set("OFFLOAD_CUDA_SDK", "/nonexistent");
    project.set("OFFLOAD_TARGETS", "nvptx:sm_80,amdgcn:gfx90a,amdgcn:gfx1100");
    let text = project.run(&[]);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let targets: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(targets, ["amdgcn:gfx1100", "amdgcn:gfx90a", "nvptx:sm_80"], "{text}");
    for line in lines {
        let mut names: Vec<&str> = line.split(' ').skip(1).collect();
        names.sort_unstable();
        assert_eq!(names, KERNELS, "{text}");
    }
}

/// NVIDIA's licence binds its headers to its own GPUs: a folder of them that would fail to compile must not be read.
#[test]
fn headers_of_a_toolkit_are_for_nvidia_alone() {
    let mut project = Project::with_shared_cache("cuda");
    let toml = fs::read_to_string(project.path("offload.toml")).unwrap();
    project.write("offload.toml", &format!("{toml}[modules.cuda]\ncuda-sdk = true\n"));
    fs::create_dir_all(project.path("sdk/include")).unwrap();
    for header in ["cuda.h", "cuda_runtime.h", "cuda_fp16.h"] {
        project.write(&format!("sdk/include/{header}"), "#error \"a header of NVIDIA's\"\n");
    }
    let sdk = project.path("sdk");
    project.set("OFFLOAD_CUDA_SDK", sdk.to_str().unwrap());
    project.set("OFFLOAD_TARGETS", "amdgcn:gfx1100");
    assert!(project.run(&[]).starts_with("amdgcn:gfx1100 "));
    // The same folder is read for NVIDIA.
    project.set("OFFLOAD_TARGETS", "nvptx:sm_80");
    assert!(project.fail().contains("a header of NVIDIA's"));
}

#[test]
fn kernels_that_some_targets_lack_are_named() {
    if offload_tests::require_ptxas().is_none() {
        return;
    }
    let mut project = Project::with_shared_cache("cuda");
    project.set("OFFLOAD_TARGETS", "nvptx:sm_80,amdgcn:gfx1100");
    let toml = fs::read_to_string(project.path("offload.toml")).unwrap();
    project.write("offload.toml", &format!("{toml}[modules.cuda]\ncuda-arch = 720\n"));
    let kernels = "extern \"C\" __global__ void dot(int *x) { *x = __CUDA_ARCH__; }\n\
                   #if __CUDA_ARCH__ >= 800\nextern \"C\" __global__ void newer(int *x) { *x = 1; }\n#endif\n";
    project.write("kernels/dot.cu", kernels);
    let warnings = project.cargo(&["build", "--offline"]).text;
    assert!(warnings.contains("`amdgcn:gfx1100` has no kernel `newer`"), "{warnings}");
}

#[test]
fn inline_ptx_is_an_error_with_its_line_for_others_than_nvidia() {
    let mut project = Project::with_shared_cache("cuda");
    // Its only kernel; of several the others are compiled.
    let script =
        "fn main() {\n    offload_build::Build::new().file(\"kernels/dot.cu\").compile(\"cuda\");\n}\n";
    project.write("build.rs", script);
    // clang takes the first, as its constraint is one of AMD's too, and not the second.
    for (text, line) in [
        ("int y;\n  asm(\"fns.b32 %0, %1, 0, 1;\" : \"=r\"(y) : \"r\"(*x));\n  *x = y;", 3),
        ("asm volatile(\"cp.async.bulk.prefetch.L2.global [%0], 16;\" :: \"l\"(x));", 2),
    ] {
        project
            .write("kernels/dot.cu", &format!("extern \"C\" __global__ void dot(int *x) {{\n  {text}\n}}\n"));
        for target in ["amdgcn:gfx1100", "host"] {
            project.set("OFFLOAD_TARGETS", target);
            let error = project.fail();
            assert!(error.contains(&format!("kernels/dot.cu:{line}")), "{error}");
            assert!(error.contains("hint: PTX is the assembly of NVIDIA's GPUs"), "{error}");
        }
    }
    // The setting that the hint names.
    project.write("offload.toml", "targets = [\"host\"]\n[modules.cuda]\nonly = [\"nvptx\", \"cubin\"]\n");
    project.set("OFFLOAD_TARGETS", "host,nvptx:sm_80");
    assert!(project.run(&[]).starts_with("nvptx:sm_80 "));
}

/// The fixture has a digest of what an H200 computed.
#[test]
fn inline_ptx_computes_on_the_cpu_what_a_gpu_computes() {
    let mut project = Project::with_shared_cache("inline-ptx");
    project.set("OFFLOAD_TARGETS", "host,amdgcn:gfx1100");
    let outcome = project.cargo(&["build", "--offline"]);
    assert!(outcome.success && !outcome.text.contains("warning:"), "{}", outcome.text);
    let printed = project.run(&["host"]);
    assert!(printed.ends_with("host: right\n"), "{printed}");
}

#[test]
fn blocks_and_warps_run_on_the_cpu() {
    let mut project = Project::with_shared_cache("warps");
    project.set("OFFLOAD_TARGETS", "host");
    assert!(project.run(&["host"]).ends_with("host: right\n"));
    if !offload_tests::is_nightly() {
        return;
    }
    // Instrumented kernels are optimised, and those of development builds are not.
    project.set("OFFLOAD_SANITIZE", "1");
    assert!(project.run(&["host"]).ends_with("host: right\n"));
    // A race between warps, which a barrier of a warp does not separate.
    let kernels = std::fs::read_to_string(project.path("kernels/warps.cu")).unwrap();
    let racing = kernels.replace(
        "    parts[threadIdx.x / 32] = sum;\n  __syncthreads();",
        "    parts[threadIdx.x / 32] = sum;\n  __syncwarp();",
    );
    assert_ne!(racing, kernels);
    project.write("kernels/warps.cu", &racing);
    keep_warps_alone(&project);
    let outcome = project.cargo(&["run", "--quiet", "--offline", "host"]);
    let is_reported = outcome.text.contains("of the local array `parts`, which")
        && outcome.text.contains("no barrier separates them");
    assert!(!outcome.success && is_reported, "{}", outcome.text);
}

/// As they are in releases: for all lanes of a warp at once, where the width of blocks allows it.
#[test]
fn optimized_blocks_and_warps_run_on_the_cpu() {
    let mut project = Project::with_shared_cache("warps");
    project.set("OFFLOAD_TARGETS", "host:x86-64-v3");
    project.optimize();
    if !offload_tests::is_nightly() {
        keep_warps_alone(&project);
    }
    assert!(project.run(&["host"]).ends_with("host: right\n"));
}

/// Leaves one file of kernels in the fixture `warps`, and what is checked of it.
fn keep_warps_alone(project: &Project) {
    let script = fs::read_to_string(project.path("build.rs")).unwrap();
    let (before, _) = script.split_once("[\"arithmetic\"").unwrap();
    let (_, after) = script.split_once("\"warps\"]").unwrap();
    project.write("build.rs", &format!("{before}[\"warps\"]{after}"));
    let main = fs::read_to_string(project.path("src/main.rs")).unwrap();
    let others = ["arithmetic", "atomics", "blocks", "elements", "groups", "sorting"];
    let kept = main.lines().filter(|line| {
        !others.iter().any(|name| line.contains(&format!("{name}::check")) || *line == format!("mod {name};"))
    });
    project.write("src/main.rs", &kept.collect::<Vec<_>>().join("\n"));
}

/// What stands for clang's headers of intrinsics where it has none is plain C++, which the CPU runs too.
#[test]
fn intrinsics_end_as_cuda_and_ptx_have_it() {
    check_on_the_cpu("intrinsics.cpp", &["-ffp-contract=off"]);
}

/// What stands for instructions with a direction, beside those of the CPU.
#[test]
fn arithmetic_with_a_direction_ends_as_that_of_the_cpu() {
    check_on_the_cpu("rounding.cpp", &["-frounding-math"]);
}

/// Compiles a file of C++ that includes headers for kernels, and runs it.
fn check_on_the_cpu(name: &str, flags: &[&str]) {
    let Some(clang) = offload_tests::require("clang-22") else { return };
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    let mut compile = Command::new(clang);
    compile.args(["-std=c++17", "-O1", "-w", "-o"]).arg(&program).args(flags).arg("-I");
    compile.arg(support::root().join("offload-build/src/compile/device/cuda"));
    compile.arg(support::root().join("tests/tests/it/cuda").join(name)).arg("-lstdc++").arg("-lm");
    assert!(compile.status().unwrap().success());
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
