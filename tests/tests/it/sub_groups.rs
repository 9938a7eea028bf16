//! Sub-groups of OpenCL C: the target `host` beside plain Rust, and beside Intel's runtime for CPUs where it is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Project;

/// The numbers of values that were compared on the host CPU and on the OpenCL devices that `variables` leave.
fn compared(program: &Path, variables: &[(&str, PathBuf)]) -> Vec<usize> {
    let mut command = Command::new(program);
    command.env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
    let output = command.envs(variables.iter().map(|(name, value)| (*name, value))).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let counts =
        text.lines().filter_map(|line| line.split_once("): ")?.1.split_once(" values compared, 0 different"));
    counts.map(|(count, _)| count.parse().unwrap()).collect()
}

fn intel() -> Option<[(&'static str, PathBuf); 2]> {
    let lib = offload_tests::require_intel_runtime()?.join("lib");
    Some([("OCL_ICD_FILENAMES", lib.join("libintelocl.so")), ("LD_LIBRARY_PATH", lib)])
}

#[test]
fn sub_groups_compute_what_the_specification_says() {
    if offload_tests::require("clang-22").is_none() {
        return;
    }
    let project = Project::new("sub-groups");
    let Some(intel) = intel() else {
        let [host] = compared(&project.program(), &[])[..] else { panic!("not one device") };
        assert!(host > 600_000, "{host}");
        return;
    };
    let [host, other] = compared(&project.program(), &intel)[..] else { panic!("not two devices") };
    assert!(host > 600_000 && other > 90_000, "{host} {other}");
    if !offload_tests::is_nightly() {
        return;
    }
    // Development builds are not optimised, and instrumented ones rely on no rule.
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    project.write("Cargo.toml", &manifest.replace("debug = false", ""));
    assert_eq!(compared(&project.program(), &intel), [host, other]);
    let mut project = project;
    project.set("OFFLOAD_SANITIZE", "1");
    assert_eq!(compared(&project.program(), &intel), [host, other]);
}

const RACE: &str = "
kernel void square(global float *x) {
  local float shared[64];
  size_t i = get_local_id(0);
  shared[i] = x[i];
  BARRIER(CLK_LOCAL_MEM_FENCE);
  x[i] = shared[i ^ PARTNER];
}
";

/// A barrier of a sub-group separates accesses of its work-items alone.
#[test]
fn the_sanitizer_knows_barriers_of_sub_groups() {
    if offload_tests::require("clang-22").is_none() {
        return;
    }
    let mut project = Project::new("debugged");
    project.write("offload.toml", "targets = [\"host\"]\n\n[modules.square]\nstd = \"3.0\"\n");
    project.set("OFFLOAD_SANITIZE", "1");
    project.write("src/main.rs", LAUNCH);
    for (partner, is_right) in [("1", true), ("32", false)] {
        let kernel = RACE.replace("BARRIER", "sub_group_barrier").replace("PARTNER", partner);
        project.write("kernels/square.cl", &kernel);
        let outcome = project.cargo(&["run", "--quiet", "--offline"]);
        assert_eq!(outcome.success, is_right, "{}", outcome.text);
        assert_eq!(outcome.text.contains("no barrier separates them"), !is_right, "{}", outcome.text);
    }
}

const LAUNCH: &str = r#"//! Runs the kernel in one work-group.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let device = Device::host();
    let kernels = square::load(&device).unwrap();
    let mut x: Vec<f32> = (0..64).map(|x| x as f32).collect();
    let range = NdRange::new([64], [64]);
    // SAFETY: one group of 64 work-items uses the 64 elements.
    let ran = unsafe { kernels.program().launch("square", range, &mut [Arg::in_out(&mut x)]) };
    if let Err(error) = ran {
        eprintln!("{error}");
        std::process::exit(1);
    }
    assert_eq!(x[5], 4.0);
}
"#;

#[test]
fn a_size_that_a_target_lacks_is_an_error_with_its_line() {
    if offload_tests::require("clang-22").is_none() {
        return;
    }
    let project = Project::new("debugged");
    project.write("offload.toml", "targets = [\"host\"]\n");
    let kernel = "\n__attribute__((intel_reqd_sub_group_size(64)))\nkernel void square(global float *x) { x[0] = 1; }\n";
    project.write("kernels/square.cl", kernel);
    let error = project.fail();
    assert!(error.contains("kernels/square.cl:3: kernel `square` requires sub-groups of 64"), "{error}");
    assert!(error.contains("`host` has those of 1, 2, 4, 8, 16, 32"), "{error}");
}
