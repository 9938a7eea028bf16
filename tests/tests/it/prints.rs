//! `printf` and `assert` in kernels: on the host CPU and on OpenCL drivers they run; for NVIDIA and AMD GPUs tools accept the
//! images, whose messages go through the launch layer. `cargo xtask gpu` runs them on an NVIDIA GPU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Project;

fn run(program: &Path, word: &str, variables: &[(&str, PathBuf)]) -> String {
    let mut command = Command::new(program);
    command.arg(word).env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
    let output = command.envs(variables.iter().map(|(name, value)| (*name, value))).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn assert_has_line(text: &str, line: &str) {
    assert!(text.lines().any(|other| other == line), "no {line:?}: {text}");
}

fn assert_right(program: &Path, kind: &str, modules: u32, variables: &[(&str, PathBuf)]) {
    let text = run(program, kind, variables);
    assert!(text.ends_with(&format!("{modules} modules\n{kind}: right\n")), "{text}");
}

#[test]
fn kernels_print_and_assert_on_every_kind_of_device() {
    let mut project = Project::new("prints");
    // A cubin needs NVIDIA's assembler.
    let cubin = offload_tests::require_ptxas().map_or("", |_| "cubin:sm_90,");
    project.set(
        "OFFLOAD_TARGETS",
        &format!("{cubin}host,spirv64,opencl-c,nvptx:sm_75,amdgcn:gfx90a,amdgcn:gfx1100"),
    );
    let program = project.program();
    let images = run(&program, "--images", &[]);
    for (file, targets) in [
        ("opencl.cl", &["nvptx:sm_75", "amdgcn:gfx90a", "amdgcn:gfx1100"][..]),
        ("cuda.cu", &["nvptx:sm_75"]),
        ("hip.hip", &["nvptx:sm_75", "amdgcn:gfx90a", "amdgcn:gfx1100"]),
    ] {
        for target in targets {
            assert_has_line(&images, &format!("{file} {target}: true"));
        }
    }
    if !cubin.is_empty() {
        for file in ["opencl.cl", "cuda.cu", "hip.hip"] {
            assert_has_line(&images, &format!("{file} cubin:sm_90: true"));
        }
    }
    assert_has_line(&images, "opencl.cl spirv64: true");
    // Those of CUDA C++ and HIP C++ run on the CPU too.
    assert_right(&program, "host", 3, &[]);
    assert_right(&program, "opencl", 1, &[("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd".into())]);
    if let Some(prefix) = offload_tests::require_intel_runtime() {
        let lib = prefix.join("lib");
        assert_right(
            &program,
            "opencl",
            1,
            &[("OCL_ICD_FILENAMES", lib.join("libintelocl.so")), ("LD_LIBRARY_PATH", lib)],
        );
    }
}

/// CUDA's linker makes one variable of those of kernels and library.
#[test]
fn a_library_that_is_linked_at_load_prints_with_its_kernels() {
    let mut project = Project::new("prints-linked");
    project.set("OFFLOAD_TARGETS", "spirv64,nvptx:sm_75");
    let program = project.program();
    let folder = project.path("images");
    let folder = folder.to_str().unwrap();
    let outcome = project.offload(&["extract", program.to_str().unwrap(), "--output", folder]);
    assert!(outcome.success, "{}", outcome.text);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let images: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|it| it == "ptx")).collect();
    assert_eq!(images.len(), 2, "{images:?}");
    for image in &images {
        let text = fs::read_to_string(image).unwrap();
        assert!(text.contains(".weak .global .align 8 .u64 __offload_output;"), "{text}");
    }
    if let Some(ptxas) = offload_tests::require_ptxas() {
        let objects: Vec<PathBuf> = images
            .iter()
            .map(|image| {
                let object = image.with_extension("o");
                let mut assembler = Command::new(&ptxas);
                let assembled =
                    assembler.args(["-arch=sm_75", "-c", "-o"]).arg(&object).arg(image).status().unwrap();
                assert!(assembled.success(), "{}", image.display());
                object
            })
            .collect();
        // NVIDIA's packages of 12.x have no linker.
        let linker = ptxas.with_file_name("nvlink");
        if linker.exists() {
            let linked = Command::new(linker)
                .args(["-arch=sm_75", "-o"])
                .arg(project.path("linked.cubin"))
                .args(objects)
                .status();
            assert!(linked.unwrap().success());
        }
    }
    if let Some(prefix) = offload_tests::require_intel_runtime() {
        let lib = prefix.join("lib");
        let intel = [("OCL_ICD_FILENAMES", lib.join("libintelocl.so")), ("LD_LIBRARY_PATH", lib)];
        let text = run(&program, "opencl", &intel);
        let failed =
            "own 11: kernel `own`: assertion `i < most` failed in work-item (11, 0, 0): kernels/noise.cl:12";
        for part in
            ["kernel 16\n", "library 16 of many\n", "both 16: ok\n", failed, "own 16: ok\nopencl: right\n"]
        {
            assert!(text.contains(part), "no {part:?}: {text}");
        }
    }
}
