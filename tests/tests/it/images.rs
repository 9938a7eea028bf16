//! Images and samplers of the target `host`, compared with those of OpenCL devices: PoCL, and Intel's runtime for CPUs where
//! it is installed, which is the better judge.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Project;

/// The number of values that agree with the only OpenCL device that `variables` leave.
fn agreeing(program: &Path, variables: &[(&str, PathBuf)]) -> usize {
    let mut command = Command::new(program);
    command.env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
    let output = command.envs(variables.iter().map(|(name, value)| (*name, value))).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    println!("{text}");
    let counts: Vec<&str> = text.lines().filter_map(|line| line.split_once("): ").map(|it| it.1)).collect();
    let [count] = counts[..] else { panic!("not one device: {text}") };
    let (compared, rest) = count.split_once(' ').unwrap();
    assert_eq!(rest, "values compared, 0 different", "{text}");
    compared.parse().unwrap()
}

#[test]
fn the_cpu_reads_and_writes_images_as_opencl_devices_do() {
    if offload_tests::require("clang-22").is_none() {
        return;
    }
    let program = Project::new("images").program();
    let pocl = agreeing(&program, &[("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd".into())]);
    assert!(pocl > 500_000, "{pocl}");
    let Some(prefix) = offload_tests::require_intel_runtime() else { return };
    let lib = prefix.join("lib");
    let intel = agreeing(
        &program,
        &[("OCL_ICD_FILENAMES", lib.join("libintelocl.so")), ("LD_LIBRARY_PATH", lib.clone())],
    );
    assert!(intel > 1_500_000, "{intel}");
}
