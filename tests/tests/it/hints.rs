//! Hints for missing packages and files, and for kernel names that drivers reject.

use std::process::{Command, Output};

use crate::support::Project;
use crate::support::script::{self, Places, Script};

/// A project with one kernel file, which `build.rs` names; its compilers are the machine's.
fn project(file: &str, text: &str, target: &str) -> Project {
    let mut project = Project::new("two-files");
    project.write(file, text);
    let build = format!("fn main() {{ offload_build::Build::new().file(\"{file}\").compile(\"two\"); }}\n");
    project.write("build.rs", &build);
    project.set("OFFLOAD_TARGETS", target);
    project
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn a_header_of_cuda_comes_with_the_small_part_that_has_it() {
    let source =
        "#include <cuda/stream_ref>\nextern \"C\" __global__ void halve(float *x) {\n  x[0] = x[1];\n}\n";
    let mut project = project("kernels/a.cu", source, "nvptx:sm_75");
    project.set("OFFLOAD_CUDA_SDK", "/nonexistent");
    contains(
        &project.fail(),
        &[
            "kernels/a.cu:1:10: fatal error: 'cuda/stream_ref' file not found",
            "hint: `cuda/stream_ref` is part of a CUDA toolkit, and has no stand-in: write `cuda-sdk = true` below `[modules.two]` in offload.toml",
            "`cargo offload toolchain install cuda-headers` (7 MB)",
        ],
    );
    project.write("offload.toml", "targets = []\n[modules.two]\ncuda-sdk = true\n");
    contains(
        &project.fail(),
        &["cuda.h, a header of CUDA, was not found", "hint: `cargo offload toolchain install cuda-headers`"],
    );
}

/// What people bring along from hipcc: the function that launches stands below the kernel.
#[test]
fn host_code_in_a_hip_file() {
    let kernel = "#include <hip/hip_runtime.h>\nextern \"C\" __global__ void scale(float *x) {\n  x[threadIdx.x] *= 2;\n}\n";
    let launching = format!(
        "{kernel}void run(float *x) {{\n  scale<<<1, 32>>>(x);\n  hipLaunchKernelGGL(scale, 1, 32, 0, 0, x);\n}}\n"
    );
    let project = project("kernels/a.hip", &launching, "amdgcn:gfx1100");
    assert!(project.run(&[]).starts_with("amdgcn:gfx1100 "));
    // A header without a stand-in.
    project.write("kernels/a.hip", &format!("#include <hip/hip_fp8.h>\n{kernel}"));
    let hint = "hint: `hip/hip_fp8.h` has no stand-in: leave it out";
    contains(&project.fail(), &["kernels/a.hip:1:", hint, "`compiler = \"hipcc\"`"]);
}

#[test]
fn mathematics_for_nvidia_names_the_part_with_libdevice() {
    let source = "kernel void alpha(global float *x) {\n  x[0] = sqrt(x[1]);\n}\n";
    let mut project = project("kernels/a.cl", source, "nvptx:sm_75");
    project.set("OFFLOAD_LIBDEVICE", "/nonexistent");
    contains(
        &project.fail(),
        &[
            "kernels/a.cl:2: `sqrt` has no definition for `nvptx:sm_75`; kernel `alpha` calls it",
            "hint: NVIDIA's libdevice has it",
            "`cargo offload toolchain install ptxas`",
        ],
    );
}

fn build_for_aarch64(script: &Script, places: &Places) -> Output {
    let mut command = script.command(places);
    command.env("TARGET", "aarch64-unknown-linux-gnu").env("CARGO_CFG_TARGET_ARCH", "aarch64");
    command.output().unwrap()
}

/// The installed tools serve this machine: a hint to install them again would be useless.
#[test]
fn a_build_for_another_machine_needs_pocl_for_that_machine() {
    let mut project = Project::with_fake_tools("two-files");
    let pocl = project.path("pocl");
    std::fs::create_dir_all(pocl.join("include")).unwrap();
    std::fs::write(pocl.join("include/_builtin_renames.h"), "").unwrap();
    std::fs::write(pocl.join("kernel-x86_64-pc-linux-gnu-GENERIC.bc"), "").unwrap();
    project.set("OFFLOAD_POCL_DIR", pocl.to_str().unwrap());
    let script = Script::for_project(&project);
    project.write("offload.toml", "targets = [\"host\", \"opencl-c\"]\n");
    let places =
        Places { package: project.path(""), out: project.path("out"), cache: project.path("other-cache") };
    let output = build_for_aarch64(&script, &places);
    let text = script::output_text(&output);
    assert!(!output.status.success() && !text.contains("apt install"), "{text}");
    contains(
        &text,
        &[
            "cannot compile kernel module `two` for `host`",
            "it has no library for aarch64 with generic",
            "hint: set OFFLOAD_POCL_DIR_aarch64_unknown_linux_gnu to a directory share/pocl with the library for aarch64",
        ],
    );
    project.follow(&text);
    let output = build_for_aarch64(&script, &places);
    assert!(output.status.success(), "{}", script::output_text(&output));
}

#[test]
fn a_configuration_that_is_not_there() {
    let mut project = Project::with_fake_tools("two-files");
    std::fs::remove_file(project.path("offload.toml")).unwrap();
    project.set("OFFLOAD_CONFIG", "gone.toml");
    let text = project.fail();
    contains(&text, &["OFFLOAD_CONFIG names `", "gone.toml`, which does not exist\n  hint: "]);
    project.set("OFFLOAD_CONFIG", "");
    project.follow(&text);
    assert!(project.path("offload.toml").is_file());
    project.set("OFFLOAD_TARGETS", "opencl-c");
    assert!(project.run(&[]).starts_with("opencl-c "));
}

#[test]
fn a_device_that_no_image_fits_gets_one() {
    let project = Project::new("two-files");
    project.write("offload.toml", "targets = [\"opencl-c\"]\n");
    let main = "offload_rt::include_kernels!(mod kernels = \"two\");\n\
                fn main() {\n    match kernels::request().select(&offload_rt::Device::host()) {\n        \
                Ok(selection) => println!(\"took {}\", selection.entry().target_text()),\n        \
                Err(error) => println!(\"{error}\"),\n    }\n}\n";
    project.write("src/main.rs", main);
    let text = project.run(&[]);
    contains(&text, &["hint: add a target that fits, as with `cargo offload targets add host`"]);
    project.follow(&text);
    assert_eq!(project.run(&[]), "took host\n");
}

/// A baseline is for one compiler; the hint has the command for another.
#[test]
fn a_baseline_for_each_compiler() {
    let mut project = Project::new("two-files");
    project.set("OFFLOAD_TARGETS", "amdgcn:gfx90a");
    let refused = project.offload(&["report", "--matrix", "clang=clang-22", "--baseline", "FILE"]);
    let command = "OFFLOAD_CLANG=clang-22 cargo offload report --baseline FILE";
    contains(&refused.text, &[&format!("hint: use one baseline per compiler: `{command}`")]);
    assert!(project.offload(&["report", "--baseline", "FILE", "--update-baseline"]).success);
    let (variable, words) = command.split_once(" cargo offload ").unwrap();
    let (name, value) = variable.split_once('=').unwrap();
    project.set(name, value);
    let outcome = project.offload(&words.split(' ').collect::<Vec<_>>());
    assert!(outcome.success, "{}", outcome.text);
}

/// What the hints say that apt installs is there on Debian 12, which the project promises to work on.
#[test]
fn apt_knows_the_packages_of_hints() {
    let Some(apt) = offload_tests::require("apt-get") else { return };
    let file = crate::support::root().join("offload-build/src/toolchain/remedy.rs");
    let text = std::fs::read_to_string(file).unwrap();
    let named = text.split("\"apt install ").skip(1).map(|rest| rest.split(['"', '(']).next().unwrap());
    let packages: std::collections::BTreeSet<&str> = named.flat_map(str::split_whitespace).collect();
    assert!(packages.contains("clang-22") && packages.len() > 6, "{packages:?}");
    let output = Command::new(apt).args(["install", "--simulate"]).args(&packages).output().unwrap();
    assert!(output.status.success(), "{packages:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_kernel_with_the_name_of_a_built_in_is_warned_of_where_drivers_compile_it() {
    let source = "kernel void dot(global float *x) {\n  x[0] = 2;\n}\n";
    let mut project = project("kernels/a.cl", source, "opencl-c,spirv64,host");
    let built = project.cargo(&["build", "--offline"]);
    assert!(built.success, "{}", built.text);
    let warning = "kernels/a.cl:1: kernel `dot` has the name of a built-in function of OpenCL C";
    contains(&built.text, &[warning, "rename the kernel"]);
    assert_eq!(built.text.matches("has the name of a built-in").count(), 1, "{}", built.text);
    project.set("OFFLOAD_TARGETS", "host");
    let built = project.cargo(&["build", "--offline"]);
    assert!(built.success && !built.text.contains("has the name of a built-in"), "{}", built.text);
}
