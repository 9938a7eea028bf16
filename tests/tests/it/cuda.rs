//! CUDA C++ as nvcc takes it, by clang: with the headers of offload-build, and with NVIDIA's.

use std::fs;

use crate::support::Project;

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
    let mut project = Project::new("cuda");
    project.set("OFFLOAD_CUDA_SDK", "/nonexistent");
    every_kernel_is_in_the_image(&mut project);
    // The oldest architecture.
    project.set("OFFLOAD_TARGETS", "nvptx:sm_75");
    assert!(project.run(&[]).starts_with("nvptx:sm_75 "));
}

#[test]
fn cuda_files_compile_with_the_headers_of_a_toolkit() {
    let Some(headers) = offload_tests::require_cuda_headers() else { return };
    let mut project = Project::new("cuda");
    let toml = fs::read_to_string(project.path("offload.toml")).unwrap();
    project.write("offload.toml", &format!("{toml}[modules.cuda]\ncuda-sdk = true\n"));
    project.set("OFFLOAD_CUDA_SDK", headers.to_str().unwrap());
    every_kernel_is_in_the_image(&mut project);
}

#[test]
fn a_header_without_a_stand_in_is_named_with_both_ways() {
    let mut project = Project::new("cuda");
    project.set("OFFLOAD_CUDA_SDK", "/nonexistent");
    project.set("OFFLOAD_TARGETS", "nvptx:sm_80");
    project.write("kernels/dot.cu", "#include <cuda_pipeline.h>\n");
    let text = project.fail();
    for part in [
        "kernels/dot.cu:1:10: fatal error: 'cuda_pipeline.h' file not found",
        "write `cuda-sdk = true` below `[modules.cuda]` in offload.toml",
        "or leave `cuda_pipeline.h` out",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}
