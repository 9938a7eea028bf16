//! Kernels in C, C++ and C++ for OpenCL on the target `host`: with barriers, memory of a group, structures, and what they
//! print. The same kernels in OpenCL C run on PoCL, and all of them on Intel's runtime.

use std::process::Command;

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

fn is_right(said: &[String]) {
    let all = said.concat();
    assert!(!all.contains("wrong"), "{all}");
    let has = |language: &str, kernel: &str, device: &str| {
        let start = format!("{language} {kernel} on {device}");
        let right = |line: &str| line.starts_with(&start) && line.ends_with(": right");
        assert!(all.lines().any(right), "no {start:?} in\n{all}");
    };
    for kernel in KERNELS {
        LANGUAGES.iter().for_each(|language| has(language, kernel, "host CPU"));
        has("cl", kernel, "OpenCL device pthread");
    }
    if offload_tests::require_intel_runtime().is_some() {
        let intel = |line: &&str| line.starts_with("cpp ") && !line.contains(" on host");
        assert_eq!(all.lines().filter(intel).count(), KERNELS.len(), "{all}");
    }
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
    let program = device.open(&square::module().load(&device).unwrap()).unwrap();
    let range = NdRange::new(&[8], &[8]).unwrap();
    for start in [1, 7] {
        let mut x: Vec<i32> = (start..start + 8).collect();
        // SAFETY: each of the eight work-items uses an element of its own.
        match unsafe { program.launch("square", &range, &mut [Arg::in_out(&mut x)]) } {
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
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        for part in [
            "0 of eight: 0.50\n1 of eight: 1.00\n[1, 4, 9, 16, 25, 36, 49, 64]\n",
            "0 of eight: 3.50\n1 of eight: 4.00\n",
            &format!(
                "kernel `square`: assertion `value < 14 && \"a, b\"` failed in work-item (7, 0, 0): {file}:{line}, in `square`"
            ),
        ] {
            assert!(said.contains(part), "no {part:?} of {language} in\n{said}");
        }
    }
}
