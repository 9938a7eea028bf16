//! The examples: that the book shows them, and that they are right on every device that needs no GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, build_of_workspace, program_of_workspace};

fn source(example: &str) -> String {
    fs::read_to_string(support::root().join("examples").join(example).join("src/main.rs")).unwrap()
}

/// Builds the example for the devices that need no GPU.
fn built(example: &str) -> PathBuf {
    let built = build_of_workspace(example).env("OFFLOAD_TARGETS", "host,spirv64,opencl-c").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program_of_workspace(&built.stdout, example)
}

/// What the program prints where the OpenCL loader finds the driver of `driver` alone.
fn run(program: &Path, args: &[&str], driver: &[(&str, PathBuf)]) -> String {
    let mut command = Command::new(program);
    command.args(args).env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
    let output = command.envs(driver.iter().map(|(name, value)| (*name, value))).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn pocl() -> Vec<(&'static str, PathBuf)> {
    vec![("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd".into())]
}

fn intel() -> Option<Vec<(&'static str, PathBuf)>> {
    let lib = offload_tests::require_intel_runtime()?.join("lib");
    Some(vec![("OCL_ICD_FILENAMES", lib.join("libintelocl.so")), ("LD_LIBRARY_PATH", lib)])
}

#[test]
fn the_book_shows_the_examples_of_other_crates() {
    let page = fs::read_to_string(support::root().join("docs/drivers.md")).unwrap();
    for example in ["with-cudarc", "with-opencl3"] {
        assert!(page.contains(&source(example)), "docs/drivers.md shows another program than {example}");
    }
}

#[test]
fn a_program_of_opencl3_launches_our_kernels() {
    let program = built("with-opencl3");
    for driver in [Some(pocl()), intel()].into_iter().flatten() {
        assert_eq!(run(&program, &[], &driver).trim(), "65536 of 65536 values are 15");
    }
}

#[test]
fn programs_that_keep_their_data_on_the_device_are_right_everywhere() {
    for (example, args) in [("conjugate-gradient", &["24"][..]), ("image-filter", &[])] {
        let program = built(example);
        for driver in [Some(pocl()), intel()].into_iter().flatten() {
            let text = run(&program, args, &driver);
            assert!(text.contains("OpenCL device") && text.contains("host CPU"), "{text}");
            assert!(text.ends_with("2 of 2 devices are right\n"), "{text}");
        }
    }
}
