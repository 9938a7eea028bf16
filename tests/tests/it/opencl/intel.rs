//! The tests of streams, images and handles again with Intel's runtime for CPUs beside PoCL, in a process of their own: the loader
//! of shared libraries reads its variables when a process starts.

use std::process::Command;

/// What the names of PoCL's device, of Intel's and of the host CPU have.
const DEVICES: [&str; 3] = ["pthread", "by Intel(R)", "host CPU"];

/// The tests that use every OpenCL device there is.
const TESTS: [&str; 3] = ["opencl::images::", "opencl::streams::", "opencl::takeover::"];

#[test]
fn streams_and_handles_are_right_on_intel_s_runtime_too() {
    let Some(prefix) = offload_tests::require_intel_runtime() else { return };
    let lib = prefix.join("lib");
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args(TESTS).args(["--nocapture", "--test-threads=1"]);
    tests.env("OCL_ICD_FILENAMES", lib.join("libintelocl.so")).env("LD_LIBRARY_PATH", &lib);
    // Loaders differ in what else this may be.
    let output = tests.env("OCL_ICD_VENDORS", "/etc/OpenCL/vendors").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{text}");
    // Both drivers were there, and values went from each to each.
    let copies: Vec<&str> =
        text.lines().filter_map(|line| Some(line.split_once("copied from ")?.1)).collect();
    for from in DEVICES {
        for to in DEVICES {
            assert!(is_copied(&copies, from, to), "nothing was copied from {from} to {to}: {text}");
        }
    }
}

fn is_copied(copies: &[&str], from: &str, to: &str) -> bool {
    copies.iter().any(|line| line.split_once(" to ").is_some_and(|(a, b)| a.contains(from) && b.contains(to)))
}
