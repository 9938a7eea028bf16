//! Functions of OpenCL C 1.2 that libraries or back ends lack or get wrong, on the targets that run here.

use crate::support::Project;

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
        let Ok(selection) = square::module().request().select(&device) else { continue };
        let program = device.open(&selection.entry().load().unwrap()).unwrap();
        let mut r = [0i32; 16];
        let range = NdRange::new([64], [64]);
        // SAFETY: one group of 64 work-items uses the 16 elements.
        unsafe { program.launch("atomics", range, &mut [Arg::in_out(&mut r)]) }.unwrap();
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
    let half = "164, 36, 228, -28, 0, 163, 255, 7";
    let values = format!("[{half}, {half}]");

    let program = project.program();
    let output =
        std::process::Command::new(&program).env("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd").output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(text.contains(&format!("host {values}")), "{text}");
    assert!(text.contains(&format!("opencl-c {values}")), "{text}");

    let Some(prefix) = offload_tests::require_intel_runtime() else { return };
    let lib = prefix.join("lib");
    let output = std::process::Command::new(&program)
        .env("OCL_ICD_VENDORS", "/nonexistent")
        .env("OCL_ICD_FILENAMES", lib.join("libintelocl.so"))
        .env("LD_LIBRARY_PATH", lib)
        .output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(text.contains(&format!("spirv64 {values}")), "{text}");
}

/// A copy through local memory with two events at once, fences, scalars and vectors of what LLVM gets wrong; sines of
/// vectors with a large element, which PoCL gets wrong; and every kind of conversion of printf.
const LIBRARY: &str = r#"
__kernel void library(__global int *r, __global float *f) {
  __local int l[64];
  size_t i = get_local_id(0);
  event_t e[2];
  e[0] = async_work_group_copy(l, r, 32, 0);
  e[1] = async_work_group_copy(l + 32, r + 32, 32, 0);
  wait_group_events(2, e);
  mem_fence(CLK_LOCAL_MEM_FENCE);
  int v = l[63 - i] + 100 * any(l[i] - 8) + 1000 * all((short)(l[i] - 8));
  float2 sines = sin((float2)(1e-20f, l[1] * 1e9f));
  float4 scaled = ldexp((float4)(l[3]), 4);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  r[i] = v;
  if (i == 0) { f[0] = sines.x; f[1] = sines.y; f[2] = scaled.s3; PRINT }
}
"#;

const PRINT: &str = r#"printf("%d%% %s %5.1f|%v4hld|%-6x|%c %v2hhd\n", l[5], "text", 2.25f, (int4)(l[1]), 255, 'q', (char2)(-1, 2));"#;

const LIBRARY_MAIN: &str = r#"//! Runs the kernel on the CPU and on every OpenCL device.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let mut devices = vec![Device::host()];
    devices.extend(offload_rt::opencl::devices().unwrap_or_default());
    for device in devices {
        let Ok(selection) = square::module().request().select(&device) else { continue };
        let program = device.open(&selection.entry().load().unwrap()).unwrap();
        let mut r: Vec<i32> = (0..64).collect();
        let mut f = [0f32; 3];
        let range = NdRange::new([64], [64]);
        // SAFETY: one group of 64 work-items uses the 64 elements.
        unsafe { program.launch("library", range, &mut [Arg::in_out(&mut r), Arg::in_out(&mut f)]) }.unwrap();
        let right = (0..64).all(|i| r[i as usize] == 63 - i + if i < 8 { 1100 } else { 0 });
        println!("{} {right} {f:?}", selection.entry().target_text());
    }
}
"#;

/// The project keeps the program's directory.
fn library(targets: &str, print: &str) -> (Project, std::path::PathBuf) {
    let project = Project::new("debugged");
    project.write("kernels/square.cl", &LIBRARY.replace("PRINT", print));
    project.write("src/main.rs", LIBRARY_MAIN);
    project.write("offload.toml", &format!("targets = [{targets}]\n"));
    let program = project.program();
    (project, program)
}

#[test]
fn the_host_prints_and_its_vectors_have_right_sines() {
    let (_project, program) = library("\"host\"", PRINT);
    let output = std::process::Command::new(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("5% text   2.2|1,1,1,1|ff    |q -1,2\n"), "{text}");
    assert!(text.contains("host true [1e-20, 0.5458434, 48.0]"), "{text}");
}

/// Vectors of small integers become invalid SPIR-V, which the build says.
const PRINT_PLAIN: &str =
    r#"printf("%d%% %s %5.1f|%v4hld\n", l[5], "text", 2.25f, (int4)(l[1], 2, 3, l[4]));"#;

#[test]
fn copies_fences_and_scalars_are_right_from_spirv() {
    let Some(prefix) = offload_tests::require_intel_runtime() else { return };
    let lib = prefix.join("lib");
    let (_project, program) = library("\"spirv64\"", PRINT_PLAIN);
    let output = std::process::Command::new(program)
        .env("OCL_ICD_VENDORS", "/nonexistent")
        .env("OCL_ICD_FILENAMES", lib.join("libintelocl.so"))
        .env("LD_LIBRARY_PATH", lib)
        .output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(text.contains("spirv64 true [1e-20, 0.5458434, 48.0]"), "{text}");
    assert!(text.contains("5% text   2.2|1,2,3,4\n"), "{text}");
}
