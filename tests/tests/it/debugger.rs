//! A debugger stops in a kernel of the target `host`, shows its source and where it was launched from.

use std::path::Path;
use std::process::Command;

use crate::support::Project;

#[test]
fn gdb_steps_through_a_kernel() {
    let Some(gdb) = offload_tests::require("gdb") else { return };
    let project = Project::new("debugged");
    let program = project.program();
    let output = Command::new(gdb)
        .args(["-nx", "-batch", "-ex", "set breakpoint pending on", "-ex", "break square.cl:3", "-ex", "run"])
        .args(["-ex", "print i", "-ex", "next", "-ex", "print value", "-ex", "bt"])
        .arg(program)
        .current_dir(project.path(""))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let output_text = format!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    // The source line, a variable before and after a step, and the Rust that launched it.
    assert!(text.contains("int value = x[i];"), "{output_text}");
    assert!(text.contains("$1 = 0"), "{output_text}");
    assert!(text.contains("$2 = 7"), "{output_text}");
    assert!(text.contains("kernels/square.cl:") && text.contains("src/main.rs:"), "{output_text}");
}

/// The same after a barrier: variables are where the loop over work-items keeps them.
const WAITING: &str = "\
__kernel void square(__global int *x) {
  int own[2] = {0, 9};
  int value = x[get_local_id(0)];
  own[0] = value + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_local_id(0)] = value * value + own[0] - own[0];
}
";

#[test]
fn gdb_shows_variables_after_a_barrier() {
    let Some(gdb) = offload_tests::require("gdb") else { return };
    let project = Project::new("debugged");
    project.write("kernels/square.cl", WAITING);
    shows_variables(&gdb, &project, "square.cl:6");
}

/// At `line`, behind the barrier, the debugger knows both variables and who has called.
fn shows_variables(gdb: &Path, project: &Project, line: &str) {
    let place = format!("break {line}");
    let output = Command::new(gdb)
        .args(["-nx", "-batch", "-ex", "set breakpoint pending on", "-ex", &place, "-ex", "run"])
        .args(["-ex", "print value", "-ex", "print own", "-ex", "bt"])
        .arg(project.program())
        .current_dir(project.path(""))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let output_text = format!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let file = line.split(':').next().unwrap();
    assert!(text.contains("$1 = 7") && text.contains("$2 = {8, 9}"), "{output_text}");
    assert!(text.contains(&format!("kernels/{file}:")) && text.contains("src/main.rs:"), "{output_text}");
}

/// The same in C++.
const IN_CPP: &str = "\
#include <gpuintrin.h>
extern \"C\" __gpu_kernel void square(__gpu_global int *x) {
  int own[2] = {0, 9};
  int value = x[__gpu_thread_id(0)];
  own[0] = value + 1;
  __gpu_sync_threads();
  x[__gpu_thread_id(0)] = value * value + own[0] - own[0];
}
";

#[test]
fn gdb_shows_variables_of_cpp() {
    let Some(gdb) = offload_tests::require("gdb") else { return };
    let mut project = Project::new("debugged");
    project.set("OFFLOAD_TARGETS", "host");
    project.write("kernels/square.cpp", IN_CPP);
    let build =
        "fn main() {\n    offload_build::Build::new().file(\"kernels/square.cpp\").compile(\"square\");\n}\n";
    project.write("build.rs", build);
    shows_variables(&gdb, &project, "square.cpp:7");
}
