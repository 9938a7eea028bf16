//! Textures and surfaces of CUDA C++, on the CPU; on GPUs the same program runs by hand.

use crate::support::Project;

#[test]
fn the_cpu_reads_textures_as_cuda_s_guide_has_it() {
    let mut project = Project::with_shared_cache("textures");
    project.set("OFFLOAD_TARGETS", "host");
    assert!(project.run(&["host"]).ends_with("host: right\n"));
    // Instrumented kernels are optimised, and those of development builds are not.
    project.set("OFFLOAD_SANITIZE", "1");
    assert!(project.run(&["host"]).ends_with("host: right\n"));
}
