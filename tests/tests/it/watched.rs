//! `cargo offload test --sanitize` with external sanitizers: Oclgrind, and a stand-in for compute-sanitizer over one for
//! CUDA's driver.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::kernel_tests::objects;
use crate::support::{Outcome, Project, program, root};

const SANITIZE: [&str; 5] = ["test", "--no-nextest", "--offline", "--json", "--sanitize"];

/// Outcome and problem of a test on a device.
fn end<'r>(rows: &'r [Value], test: &str, device: &str) -> (&'r str, &'r str) {
    let row = rows.iter().find(|row| row["test"] == format!("tests::{test}") && row["device"] == device);
    let row = row.unwrap_or_else(|| panic!("no row of {test} on {device}"));
    (row["outcome"].as_str().unwrap(), row["problem"].as_str().unwrap_or_default())
}

fn sanitize(project: &Project, args: &[&str]) -> Outcome {
    project.offload(&[&SANITIZE, args].concat())
}

#[test]
fn oclgrind_finds_what_lies_outside_and_races() {
    if offload_tests::require("oclgrind").is_none() {
        return;
    }
    let project = Project::new("watched");
    let run = sanitize(&project, &["--require", "oclgrind", "--junit", "tests.xml"]);
    assert_eq!(run.code, 1, "{}", run.text);
    let rows = objects(&run.text, "test");
    for (test, host, oclgrind) in [
        (
            "behind",
            "kernels/watched.cl:6: work-item 63 of group 3 writes 4 bytes that end 4 behind the end of argument 1, `y`, which has 256 bytes",
            "kernels/watched.cl:6: work-item 63 of group 3 writes 4 bytes at byte 256, behind the end of buffer 2 in global memory",
        ),
        (
            "turned",
            "kernels/watched.cl:20: work-item 8 of group 0 reads 4 bytes at byte 28 of the local array `part`, which work-item 7 of group 0 writes (kernels/watched.cl:19): no barrier separates them",
            "no barrier separates them",
        ),
    ] {
        let kernel = format!("kernel `{test}`: ");
        let (outcome, problem) = end(&rows, test, "oclgrind");
        assert_eq!(outcome, "failed", "{problem}");
        assert!(problem.starts_with(&kernel) && problem.contains(oclgrind), "{problem}");
        let lines: Vec<&str> = problem.lines().collect();
        assert!(lines.iter().all(|line| line.contains("kernels/watched.cl:")), "{problem}");
        let on_host = end(&rows, test, "host").1;
        assert!(on_host.starts_with(&kernel), "{on_host}");
        assert!(test == "turned" || on_host.contains(host), "{on_host}");
        assert_eq!(end(&rows, &format!("{test}_mended"), "oclgrind"), ("right", ""));
    }
    // Each mistake once, though every group makes it.
    assert_eq!(end(&rows, "behind", "oclgrind").1.lines().count(), 1);
    assert_eq!(end(&rows, "copies", "oclgrind"), ("right", ""));
    let devices = objects(&run.text, "test-device");
    assert!(devices.iter().any(|device| device["device"] == "oclgrind"), "{}", run.text);
    let junit = fs::read_to_string(project.path("tests.xml")).unwrap();
    assert!(junit.contains(" on oclgrind\"") && junit.contains("behind the end of buffer 2"), "{junit}");
}

#[test]
fn what_oclgrind_cannot_build_is_refused() {
    if offload_tests::require("oclgrind").is_none() {
        return;
    }
    let project = Project::new("watched");
    // Its front end has never heard of the function; that of the other images has.
    let kernels = fs::read_to_string(project.path("kernels/watched.cl")).unwrap();
    let newer = "    y[i] = __builtin_popcountg((unsigned int)x[i]);\n";
    project.write("kernels/watched.cl", &kernels.replacen("    y[i + 1] = x[i];\n", newer, 1));
    let run = sanitize(&project, &["--device", "oclgrind", "behind"]);
    let rows = objects(&run.text, "test");
    let (outcome, problem) = end(&rows, "behind", "oclgrind");
    assert_eq!(outcome, "refused", "{problem}");
    assert!(problem.contains("__builtin_popcountg"), "{problem}");
    // Nothing has run: that is no success.
    assert_eq!(run.code, 1, "{}", run.text);
}

#[test]
fn a_tool_that_is_not_there_is_told_with_its_package() {
    let mut project = Project::new("watched");
    project.set("OFFLOAD_OCLGRIND", "/nonexistent/oclgrind");
    project.set("OFFLOAD_COMPUTE_SANITIZER", "/nonexistent/compute-sanitizer");
    let run = sanitize(&project, &["mended"]);
    assert_eq!(run.code, 0, "{}", run.text);
    let missing = objects(&run.text, "sanitizer-missing");
    let tools: Vec<&Value> = missing.iter().map(|missing| &missing["tool"]).collect();
    assert_eq!(tools, ["Oclgrind", "compute-sanitizer"], "{}", run.text);
    assert!(missing[1]["hint"].as_str().unwrap().contains("nvidia-cuda-sanitizer-api"), "{}", run.text);
    let run = sanitize(&project, &["--require", "oclgrind"]);
    assert_eq!(run.code, 1, "{}", run.text);
    assert!(
        run.text.contains("error: --sanitize cannot look at `oclgrind`: oclgrind was not found"),
        "{}",
        run.text
    );
}

/// A program of its name that writes what the real one has written, and runs the test.
const COMPUTE_SANITIZER: &str = r#"#!/bin/sh
tool= log=
while [ "${1#--}" != "$1" ]; do
    [ "$1" = --tool ] && tool=$2
    [ "$1" = --log-file ] && log=$2
    shift 2
done
echo "$tool" >> "$CALLS"
[ "$FAULT" = hung ] && sh -c 'echo $$ > "$CALLS.hung"; sleep 600; :'
if [ "$FAULT" = unstarted ]; then
    echo "========= Error: process didn't terminate successfully" > "$log"
    exit 0
fi
"$@"
status=$?
{
    echo "========= COMPUTE-SANITIZER"
    case "$tool $FAULT" in
    "memcheck outside") for thread in 14 15; do
        echo "========= Invalid __global__ write of size 4 bytes"
        echo "=========     at behind+0xb0 in ./kernels/watched.cl:6"
        echo "=========     by thread ($thread,0,0) in block (3,0,0)"
        echo "=========     Address 0x7f0000000300 is out of bounds"
        echo "=========     and is 1 bytes after the nearest allocation at 0x7f0000000200 of size 256 bytes"
        echo "========="
    done ;;
    "racecheck outside")
        echo "========= Error: Potential WAR hazard detected at __shared__ 0x4 in block (1,0,0) :"
        echo "=========     Read Thread (14,0,0) at turned+0x90 in ./kernels/watched.cl:20"
        echo "=========     Write Thread (1,0,0) at turned+0x50 in ./kernels/watched.cl:19"
        echo "=========     Current Value : 1"
        echo "=========" ;;
    esac
    [ "$FAULT" = silent ] || echo "========= ERROR SUMMARY: 0 errors"
} > "$log"
exit $status
"#;

/// The project with stand-ins for CUDA's driver and its tool.
fn with_cuda() -> Project {
    let mut project = Project::new("watched");
    let driver = root().join("offload-rt/tests/cuda/driver.c");
    let library = project.path("libcuda.so.1");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &driver]).status();
    assert!(made.unwrap().success());
    let tool = project.path("compute-sanitizer");
    program::write(&tool, COMPUTE_SANITIZER);
    project.set("LD_LIBRARY_PATH", &library.parent().unwrap().display().to_string());
    project.set("OFFLOAD_COMPUTE_SANITIZER", &tool.display().to_string());
    project.set("CALLS", &project.path("calls").display().to_string());
    project.set("FAULT", "none");
    project
}

fn run_copies(project: &Project) -> Outcome {
    sanitize(project, &["--require", "cuda:0", "--device", "cuda:0", "copies"])
}

#[test]
fn tests_on_nvidia_gpus_run_under_each_tool_of_compute_sanitizer() {
    let mut project = with_cuda();
    let right = run_copies(&project);
    assert_eq!(right.code, 0, "{}", right.text);
    assert_eq!(end(&objects(&right.text, "test"), "copies", "cuda:0"), ("right", ""));
    let calls = fs::read_to_string(project.path("calls")).unwrap();
    assert_eq!(calls.lines().collect::<Vec<_>>(), ["memcheck", "racecheck", "initcheck", "synccheck"]);
    project.set("FAULT", "outside");
    let found = run_copies(&project);
    assert_eq!(found.code, 1, "{}", found.text);
    assert_eq!(
        end(&objects(&found.text, "test"), "copies", "cuda:0"),
        (
            "failed",
            "kernel `behind`: kernels/watched.cl:6: thread 14 of block 3 writes 4 bytes that end 4 behind the end of a buffer of 256 bytes\n\
             kernel `turned`: kernels/watched.cl:19: thread 1 of block 1 writes byte 4 of shared memory, which thread 14 reads (kernels/watched.cl:20): no barrier separates them"
        )
    );
    // A test is stopped with the tool that has started it.
    project.set("FAULT", "hung");
    let args = ["--device", "cuda:0", "--timeout", "2", "copies"];
    let hung = sanitize(&project, &args);
    assert!(hung.text.contains("\"outcome\":\"hung\""), "{}", hung.text);
    let started = fs::read_to_string(project.path("calls.hung")).unwrap();
    assert!(!Path::new("/proc").join(started.trim()).join("exe").exists(), "it is still there");
    // A tool that could not start the test ends with 0.
    project.set("FAULT", "unstarted");
    let unstarted = run_copies(&project);
    assert_eq!(unstarted.code, 1, "{}", unstarted.text);
    assert!(unstarted.text.contains("didn't terminate successfully"), "{}", unstarted.text);
    // A sanitizer without output has not run.
    project.set("FAULT", "silent");
    let silent = run_copies(&project);
    assert_eq!(silent.code, 1, "{}", silent.text);
    let rows = objects(&silent.text, "test");
    assert_eq!(
        end(&rows, "copies", "cuda:0"),
        ("failed", "compute-sanitizer's memcheck: it has written no summary")
    );
}
