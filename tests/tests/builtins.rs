//! Atomic functions of OpenCL C 1.2 on the targets that run here: every one resolves, and counts right.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod support;

use support::Project;

/// Each function on global and local memory; `r` gets what each leaves behind.
const KERNEL: &str = "
__kernel void atomics(__global int *r) {
  __local int l[8];
  size_t i = get_local_id(0);
  if (i < 8) { l[i] = i < 6 ? 100 : 0; r[i] = i < 6 ? 100 : 0; r[8 + i] = 0; }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  atomic_inc(&r[0]); atomic_dec(&r[1]); atomic_add(&r[2], 2); atomic_sub(&r[3], 2);
  atomic_min(&r[4], (int)i); atomic_max(&r[5], (int)i + 100); atomic_or(&r[6], 1 << (i % 8)); atomic_xchg(&r[7], 7);
  atomic_inc(&l[0]); atomic_dec(&l[1]); atomic_add(&l[2], 2); atomic_sub(&l[3], 2);
  atomic_min(&l[4], (int)i); atomic_max(&l[5], (int)i + 100); atomic_or(&l[6], 1 << (i % 8)); atomic_xchg(&l[7], 7);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (i < 8) r[8 + i] = l[i];
}
";

const MAIN: &str = r#"//! Runs the kernel on the CPU and on every OpenCL device.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let mut devices = vec![Device::host()];
    devices.extend(offload_rt::opencl::devices().unwrap_or_default());
    for device in devices {
        let Ok(selection) = square::module().select(&device) else { continue };
        let program = device.open(&selection.entry().load().unwrap()).unwrap();
        let mut r = [0i32; 16];
        let range = NdRange::new(&[64], &[64]).unwrap();
        // SAFETY: one group of 64 work-items uses the 16 elements.
        unsafe { program.launch("atomics", &range, &mut [Arg::in_out(&mut r)]) }.unwrap();
        println!("{} {r:?}", selection.entry().target_text());
    }
}
"#;

#[test]
fn atomic_functions_resolve_and_count() {
    let project = Project::new("debugged");
    project.write("kernels/square.cl", KERNEL);
    project.write("src/main.rs", MAIN);
    project.write("offload.toml", "targets = [\"host\", \"spirv64\", \"intel:pvc\", \"opencl-c\"]\n");
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let manifest = manifest.replace("offload-rt\" }", "offload-rt\", features = [\"opencl\"] }");
    project.write("Cargo.toml", &manifest);
    let half = "164, 36, 228, -28, 0, 163, 255, 7";
    let expected = |target: &str| format!("{target} [{half}, {half}]");

    let program = project.program();
    let output =
        std::process::Command::new(&program).env("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd").output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(text.contains(&expected("host")), "{text}");
    assert!(text.contains(&expected("opencl-c")), "{text}");

    let Some(prefix) = offload_tests::require_intel_runtime() else { return };
    let lib = prefix.join("lib");
    let output = std::process::Command::new(&program)
        .env("OCL_ICD_VENDORS", "/nonexistent")
        .env("OCL_ICD_FILENAMES", lib.join("libintelocl.so"))
        .env("LD_LIBRARY_PATH", lib)
        .output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(text.contains(&expected("spirv64")), "{text}");
}
