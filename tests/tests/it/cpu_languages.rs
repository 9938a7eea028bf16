//! Kernels in C, C++ and C++ for OpenCL on the target `host`: with barriers, memory of a group, structures, and what they
//! print. The same kernels in OpenCL C run on PoCL, and all of them on Intel's runtime.

use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Architecture, Object, ObjectSymbol};
use serde_json::Value;

use crate::device_library::said_with_each_driver;
use crate::support::Project;

const LANGUAGES: [&str; 4] = ["cl", "clcpp", "c", "cpp"];
const KERNELS: [&str; 5] = ["move", "sums", "multiply", "reversed", "histogram"];

/// Without debug information kernels are optimised.
fn optimised(project: &Project) {
    let manifest = std::fs::read_to_string(project.path("Cargo.toml")).unwrap();
    let name = project.name();
    project.write("Cargo.toml", &format!("{manifest}\n[profile.dev.package.{name}]\ndebug = false\n"));
}

#[test]
fn kernels_in_every_portable_language_are_right_on_the_cpu() {
    let project = Project::new("cpp");
    is_right(&said_with_each_driver(&project.program()));
    optimised(&project);
    is_right(&said_with_each_driver(&project.program()));
}

fn is_right(output_text: &[String]) {
    let all = output_text.concat();
    assert!(!all.contains("wrong"), "{all}");
    for kernel in KERNELS {
        for language in LANGUAGES {
            assert_right(&all, language, kernel, "host CPU");
        }
        assert_right(&all, "cl", kernel, "OpenCL device pthread");
    }
    if offload_tests::require_intel_runtime().is_some() {
        assert_eq!(
            all.lines().filter(|line| line.starts_with("cpp ") && !line.contains(" on host")).count(),
            KERNELS.len(),
            "{all}"
        );
    }
}

fn assert_right(all: &str, language: &str, kernel: &str, device: &str) {
    let start = format!("{language} {kernel} on {device}");
    assert!(
        all.lines().any(|line| line.starts_with(&start) && line.ends_with(": right")),
        "no {start:?} in\n{all}"
    );
}

/// What differs between the languages, and a kernel that prints and asserts.
const SAYS: [(&str, &str); 3] = [
    (
        "c",
        "#include <gpuintrin.h>\n#include <assert.h>\nint printf(const char *, ...);\n#define KERNEL __gpu_kernel\n#define GLOBAL __gpu_global\n#define ITEM __gpu_thread_id(0)\n#define SYNC() __gpu_sync_threads()\n",
    ),
    (
        "cpp",
        "#include <gpuintrin.h>\n#include <cassert>\nextern \"C\" int printf(const char *, ...);\n#define KERNEL extern \"C\" __gpu_kernel\n#define GLOBAL __gpu_global\n#define ITEM __gpu_thread_id(0)\n#define SYNC() __gpu_sync_threads()\n",
    ),
    (
        "clcpp",
        "#include <assert.h>\n#define KERNEL __kernel\n#define GLOBAL __global\n#define ITEM get_local_id(0)\n#define SYNC() barrier(CLK_GLOBAL_MEM_FENCE)\n",
    ),
];

const SAYS_KERNEL: &str = "
KERNEL void square(GLOBAL int *x) {
  int i = (int)ITEM;
  int value = x[i];
  if (i < 2) printf(\"%d of %s: %.2f\\n\", i, \"eight\", value / 2.0f);
  SYNC();
  assert(value < 14 && \"a, b\");
  x[i] = value * value;
}
";

const SAYS_MAIN: &str = r#"//! Launches a kernel that prints, and fails in the end.

use offload_rt::{Arg, Device, NdRange};

offload_rt::include_kernels!("square");

fn main() {
    let device = Device::host();
    let program = square::module().load(&device).unwrap();
    let range = NdRange::new([8], [8]);
    for start in [1, 7] {
        let mut x: Vec<i32> = (start..start + 8).collect();
        // SAFETY: each of the eight work-items uses an element of its own.
        match unsafe { program.launch("square", range, &mut [Arg::in_out(&mut x)]) } {
            Ok(_) => println!("{x:?}"),
            Err(error) => println!("{error}"),
        }
    }
}
"#;

#[test]
fn kernels_in_every_portable_language_print_and_assert_on_the_cpu() {
    let mut project = Project::new("cpp");
    project.set("OFFLOAD_TARGETS", "host");
    project.write("src/main.rs", SAYS_MAIN);
    for (language, start) in SAYS {
        let file = format!("kernels/square.{language}");
        let text = format!("{start}{SAYS_KERNEL}");
        let line = text.lines().position(|line| line.contains("assert(value")).unwrap() + 1;
        project.write(&file, &text);
        let build = format!(
            "fn main() {{\n    offload_build::Build::new().file({file:?}).compile(\"square\");\n}}\n"
        );
        project.write("build.rs", &build);
        let output = Command::new(project.program()).output().unwrap();
        let output_text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{output_text}{}", String::from_utf8_lossy(&output.stderr));
        for part in [
            "0 of eight: 0.50\n1 of eight: 1.00\n[1, 4, 9, 16, 25, 36, 49, 64]\n",
            "0 of eight: 3.50\n1 of eight: 4.00\n",
            &format!(
                "kernel `square`: assertion `value < 14 && \"a, b\"` failed in work-item (7, 0, 0): {file}:{line}, in `square`"
            ),
        ] {
            assert!(output_text.contains(part), "no {part:?} of {language} in\n{output_text}");
        }
    }
}

/// Has a build script compile for AArch64, as cargo would for a program there, and returns the images.
fn for_aarch64(project: &Project, pocl: &Path) -> Vec<Vec<u8>> {
    let outcome = project.cargo(&["build", "--offline", "--message-format=json"]);
    assert!(outcome.success, "{}", outcome.text);
    let messages = outcome.text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut scripts = messages.filter(|message| {
        let of_package = message["package_id"].as_str().is_some_and(|id| id.contains(&project.name()));
        of_package && message["target"]["kind"][0] == "custom-build"
    });
    let script = scripts.find_map(|message| message["filenames"][0].as_str().map(PathBuf::from)).unwrap();
    let out = project.path("aarch64");
    std::fs::create_dir_all(&out).unwrap();
    let mut command = Command::new(script);
    command.current_dir(project.path("")).env("OUT_DIR", &out).env("OFFLOAD_POCL_DIR", pocl);
    command.envs([("CARGO_MANIFEST_DIR", project.path("")), ("OFFLOAD_CACHE_DIR", project.path("cache"))]);
    command.env("CARGO_PKG_NAME", project.name()).env("CARGO_PKG_VERSION", "0.1.0");
    command.envs([("TARGET", "aarch64-unknown-linux-gnu"), ("HOST", "x86_64-unknown-linux-gnu")]);
    command.envs([("CARGO_CFG_TARGET_ARCH", "aarch64"), ("CARGO_CFG_TARGET_OS", "linux")]);
    command.envs([("CARGO_CFG_TARGET_POINTER_WIDTH", "64"), ("CARGO_CFG_TARGET_ENDIAN", "little")]);
    command.envs([("CARGO_CFG_TARGET_FAMILY", "unix"), ("CARGO_CFG_TARGET_ENV", "gnu")]);
    command.envs([("PROFILE", "debug"), ("OPT_LEVEL", "0"), ("DEBUG", "false"), ("NUM_JOBS", "1")]);
    let output = command.env("OFFLOAD_TARGETS", "host").output().unwrap();
    let output_text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{output_text}");
    let mut files = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let archive = files.find(|path| path.extension().is_some_and(|extension| extension == "a")).unwrap();
    let images = project.path("images");
    let args = ["extract", archive.to_str().unwrap(), "--output", images.to_str().unwrap()];
    assert!(project.offload(&args).success);
    std::fs::read_dir(images).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect()
}

/// Without a function of PoCL's, of which this machine has those for its own CPU alone.
#[test]
fn kernels_are_compiled_for_aarch64() {
    let Some(clang) = offload_tests::require("clang-22") else { return };
    let project = Project::new("cpp");
    let modules = "offload_build::compile_all([\n        (\"c\", offload_build::Build::new().file(\"kernels/app.c\")),\n        (\"cpp\", offload_build::Build::new().file(\"kernels/app.cpp\")),\n    ]);";
    project.write("build.rs", &format!("fn main() {{\n    {modules}\n}}\n"));
    project.write("src/main.rs", "fn main() {}\n");
    let pocl = project.path("pocl");
    std::fs::create_dir_all(pocl.join("include")).unwrap();
    project.write("pocl/include/_builtin_renames.h", "");
    project.write("empty.c", "");
    let library = pocl.join("kernel-aarch64-unknown-linux-gnu-GENERIC.bc");
    let mut command = Command::new(clang);
    command.args(["--target=aarch64-linux-gnu", "-fPIC", "-c", "-emit-llvm", "empty.c", "-o"]).arg(&library);
    assert!(command.current_dir(project.path("")).status().unwrap().success());
    let images = for_aarch64(&project, &pocl);
    assert_eq!(images.len(), 2);
    for image in images {
        let file = object::File::parse(&*image).unwrap();
        assert_eq!(file.architecture(), Architecture::Aarch64);
        let exported: Vec<&str> = file.dynamic_symbols().filter_map(|symbol| symbol.name().ok()).collect();
        for kernel in KERNELS {
            assert!(exported.contains(&&*format!("__offload_run_{kernel}")), "{kernel}: {exported:?}");
        }
        // Atomic operations are functions, which the image has itself.
        let outside = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
        let outside: Vec<&str> = outside.filter_map(|symbol| symbol.name().ok()).collect();
        assert!(!outside.iter().any(|name| name.starts_with("__aarch64_")), "{outside:?}");
    }
}
