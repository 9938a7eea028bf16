//! What helps somebody who lacks a package, or gave a kernel a name that drivers do not take.

use crate::support::Project;

/// A project with one kernel file, which `build.rs` names; its compilers are the machine's.
fn project(file: &str, text: &str, target: &str) -> Project {
    let mut project = Project::new("two-files");
    project.write(file, text);
    let build = format!("fn main() {{ offload_build::Build::new().file(\"{file}\").compile(\"two\"); }}\n");
    project.write("build.rs", &build);
    project.set("OFFLOAD_TARGETS", target);
    project
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn a_header_of_cuda_comes_with_the_small_part_that_has_it() {
    let source =
        "#include <cuda_fp16.h>\nextern \"C\" __global__ void halve(__half *x) {\n  x[0] = x[1];\n}\n";
    let mut project = project("kernels/a.cu", source, "nvptx:sm_75");
    project.set("OFFLOAD_CUDA_SDK", "/nonexistent");
    contains(
        &project.fail(),
        &[
            "kernels/a.cu:1:10: fatal error: 'cuda_fp16.h' file not found",
            "hint: `cuda_fp16.h` is part of a CUDA toolkit: write `cuda-sdk = true` below `[modules.two]` in offload.toml",
            "`cargo offload toolchain install cuda-headers` (7 MB)",
        ],
    );
    project.write("offload.toml", "targets = []\n[modules.two]\ncuda-sdk = true\n");
    contains(
        &project.fail(),
        &["cuda.h, a header of CUDA, was not found", "hint: `cargo offload toolchain install cuda-headers`"],
    );
}

#[test]
fn mathematics_for_nvidia_names_the_part_with_libdevice() {
    let source = "kernel void alpha(global float *x) {\n  x[0] = sqrt(x[1]);\n}\n";
    let mut project = project("kernels/a.cl", source, "nvptx:sm_75");
    project.set("OFFLOAD_LIBDEVICE", "/nonexistent");
    contains(
        &project.fail(),
        &[
            "kernels/a.cl:2: `sqrt` has no definition for `nvptx:sm_75`; kernel `alpha` calls it",
            "hint: NVIDIA's libdevice has it",
            "`cargo offload toolchain install ptxas`",
        ],
    );
}

#[test]
fn a_kernel_with_the_name_of_a_built_in_is_warned_of_where_drivers_compile_it() {
    let source = "kernel void dot(global float *x) {\n  x[0] = 2;\n}\n";
    let mut project = project("kernels/a.cl", source, "opencl-c,spirv64,host");
    let built = project.cargo(&["build", "--offline"]);
    assert!(built.success, "{}", built.text);
    let warning = "kernels/a.cl:1: kernel `dot` has the name of a built-in function of OpenCL C";
    contains(&built.text, &[warning, "rename the kernel"]);
    assert_eq!(built.text.matches("has the name of a built-in").count(), 1, "{}", built.text);
    project.set("OFFLOAD_TARGETS", "host");
    let built = project.cargo(&["build", "--offline"]);
    assert!(built.success && !built.text.contains("has the name of a built-in"), "{}", built.text);
}
