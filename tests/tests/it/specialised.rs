//! Specialisation constants: values that a program chooses when it loads a module, on every kind of device.

use std::process::Command;

use crate::support::Project;

/// What the program, which stops at the first wrong result, says with the drivers that `variables` name.
fn output_text(project: &Project, variables: &[(&str, &std::path::Path)]) -> String {
    let mut command = Command::new(project.program());
    command.env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn kernels_see_the_values_that_the_program_chooses_on_every_device() {
    let mut project = Project::new("specialised");
    project.set("OFFLOAD_TARGETS", "host,spirv64,opencl-c,nvptx:sm_75,amdgcn:gfx1100");
    let pocl = output_text(&project, &[("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd".as_ref())]);
    contains(&pocl, &["host CPU", " with host:", " with opencl-c: right"]);
    let shown = project.offload(&["inspect", project.program().to_str().unwrap()]).text;
    // Native code has the value built in, the driver gets others by id, and unused constants may have any value.
    contains(
        &shown,
        &[
            "constants",
            "COUNT:uint=7,EXACT:double=0.1,",
            "COUNT@0:uint=7,EXACT@1:double=0.1,",
            "NOT_USED@:int=1",
            "TILE@0:int=32",
        ],
    );
    if let Some(prefix) = offload_tests::require_intel_runtime() {
        let lib = prefix.join("lib");
        let driver = lib.join("libintelocl.so");
        let intel = output_text(&project, &[("OCL_ICD_FILENAMES", &driver), ("LD_LIBRARY_PATH", &lib)]);
        contains(&intel, &["host CPU", "3 other languages", " with spirv64"]);
        // The same driver takes values of OpenCL C too.
        project.set("OFFLOAD_TARGETS", "opencl-c,nvptx:sm_75");
        contains(
            &output_text(&project, &[("OCL_ICD_FILENAMES", &driver), ("LD_LIBRARY_PATH", &lib)]),
            &[" with opencl-c: right"],
        );
    }
}
