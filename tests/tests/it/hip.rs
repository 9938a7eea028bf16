//! HIP C++ without ROCm: for AMD, NVIDIA and the CPU.

use crate::support::Project;

const KERNELS: &str = "_Z6scaledIdLi3EEvPT_ _Z6scaledIfLi2EEvPT_ counts exchanges halves sums";

#[test]
fn hip_files_run_on_the_cpu_and_compile_for_amd_and_nvidia() {
    // It has NVIDIA's functions of mathematics too.
    if offload_tests::require_ptxas().is_none() {
        return;
    }
    let mut project = Project::new("hip");
    let printed = project.run(&[]);
    for target in ["host", "nvptx:sm_80", "amdgcn:gfx90a", "amdgcn:gfx1100"] {
        let line = printed.lines().find(|line| line.starts_with(target)).unwrap_or_default();
        assert!(line.ends_with(&format!(" {KERNELS}")), "{target} in {printed}");
    }
    assert_eq!(printed.lines().count(), 4, "{printed}");
    project.set("OFFLOAD_TARGETS", "host");
    assert!(project.run(&["host"]).ends_with("host: right\n"));
    // Instrumented kernels are optimised, and those of development builds are not.
    project.set("OFFLOAD_SANITIZE", "1");
    assert!(project.run(&["host"]).ends_with("host: right\n"));
}
