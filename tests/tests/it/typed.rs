//! Typed kernels of every language: their methods launch them, and every kind of build generates the same Rust.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, Project};

/// PTX, for the stand-in takes no cubin, and an AMD GPU that its stand-in shows.
const TARGETS: &str = "host,spirv64,opencl-c,nvptx:sm_75,amdgcn:gfx1100";

fn project() -> Project {
    let mut project = Project::new("typed");
    project.set("OFFLOAD_TARGETS", TARGETS);
    project
}

/// What the program says of the devices of one kind, all of whose results are right.
fn run(program: &Path, args: &[&str], variables: &[(&str, PathBuf)]) -> String {
    let mut command = Command::new(program);
    command.args(args).env_remove("OCL_ICD_FILENAMES").env("OCL_ICD_VENDORS", "/nonexistent");
    let output = command.envs(variables.iter().map(|(name, value)| (*name, value))).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.ends_with(&format!("{}: right\n", args[0])), "{text}");
    text
}

/// Compiles the stand-in of a driver's library from `sources` in the tests of offload-rt.
fn stand_in(dir: &Path, library: &str, sources: &[&str]) -> Vec<(&'static str, PathBuf)> {
    let tests = support::root().join("offload-rt/tests");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-pthread", "-DNEW", "-o"]).arg(dir.join(library));
    compiler.args(sources.iter().map(|source| tests.join(source)));
    assert!(compiler.status().unwrap().success());
    vec![("LD_LIBRARY_PATH", dir.to_path_buf())]
}

fn assert_right(text: &str, kernels: &[&str]) {
    let right: Vec<&str> = text.lines().filter_map(|line| line.strip_suffix(": right")).collect();
    assert_eq!(right.split_last().unwrap().1, kernels, "{text}");
}

#[test]
fn kernels_of_every_language_are_launched_through_their_methods() {
    let program = project().program();
    let portable = ["opencl: saxpy", "c: saxpy", "cpp: saxpy", "cpp: iaxpy"];
    let cuda = ["cuda: saxpy", "instances: axpy<float>", "instances: axpy<int>", "hip: saxpy"];
    assert_right(&run(&program, &["host"], &[]), &[&portable[..], &cuda].concat());
    let pocl = [("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd".into())];
    assert_right(&run(&program, &["opencl"], &pocl), &["opencl: saxpy"]);
    if let Some(prefix) = offload_tests::require_intel_runtime() {
        let lib = prefix.join("lib");
        let intel = [("OCL_ICD_FILENAMES", lib.join("libintelocl.so")), ("LD_LIBRARY_PATH", lib)];
        let text = run(&program, &["opencl"], &intel);
        assert_right(&text, &portable);
    }
    // The stand-ins have a kernel `saxpy` of their own, which takes these arguments.
    let dir = tempfile::tempdir().unwrap();
    let cuda = stand_in(dir.path(), "libcuda.so.1", &["cuda/driver.c"]);
    let text = run(&program, &["cuda", "--plain"], &cuda);
    // It has two devices.
    let once = ["opencl: saxpy", "c: saxpy", "cuda: saxpy", "hip: saxpy"];
    assert_right(&text, &[once, once].concat());
    let hip = stand_in(dir.path(), "libamdhip64.so.7", &["hip/driver.c", "hip/kernels.c"]);
    let text = run(&program, &["hip", "--plain"], &hip);
    assert_right(&text, &["opencl: saxpy", "c: saxpy", "cuda: saxpy", "hip: saxpy"]);
}

/// The generated Rust of the package, by the names of the files.
fn generated(project: &Project, args: &[&str]) -> BTreeMap<String, String> {
    let outcome = project.cargo(&[args, &["--offline", "--message-format=json-render-diagnostics"]].concat());
    assert!(outcome.success, "{}", outcome.text);
    let messages =
        outcome.text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let scripts = messages.filter(|message| message["reason"] == "build-script-executed");
    let mut ours =
        scripts.filter(|message| message["package_id"].as_str().unwrap().contains("offload-typed"));
    let message = ours.next_back().unwrap();
    let dir = Path::new(message["out_dir"].as_str().unwrap());
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let rust = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, without_anchor(&fs::read_to_string(path).unwrap()))
    })
    .collect()
}

/// The name of the pack's symbol ends in the hash of its images, which builds of other images have others of.
fn without_anchor(rust: &str) -> String {
    const ANCHOR: &str = "__offload_anchor_offload_typed_";
    let (before, after) = rust.split_once(ANCHOR).unwrap();
    let hash = after.find(|c: char| !c.is_ascii_hexdigit()).unwrap();
    assert_eq!(hash, 32, "{after}");
    [before, ANCHOR, &after[hash..]].concat()
}

/// The first line in which two builds differ.
fn difference(real: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Option<String> {
    assert_eq!(real.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, text) in real {
        let lines = text.lines().zip(other[name].lines());
        if let Some((a, b)) = lines.into_iter().find(|(a, b)| a != b) {
            return Some(format!("{name}:\n{a}\n{b}"));
        }
        if *text != other[name] {
            return Some(format!("{name}: one has more lines"));
        }
    }
    None
}

/// Only a compiler knows the entry points of C++ that are not `extern "C"`: of modules with such kernels the methods
/// without their documentation.
fn without_mangled(rust: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let is_of_methods =
        |line: &&str| !["#[doc", "[\""].iter().any(|start| line.trim_start().starts_with(start));
    rust.iter()
        .map(|(name, text)| match name.split('.').next().unwrap() {
            "cpp" | "instances" => {
                let methods: Vec<&str> = text.lines().filter(is_of_methods).collect();
                (name.clone(), methods.join("\n"))
            }
            _ => (name.clone(), text.clone()),
        })
        .collect()
}

#[test]
fn every_kind_of_build_generates_the_same_rust() {
    if !offload_tests::is_nightly() {
        return;
    }
    let mut project = project();
    let real = generated(&project, &["build"]);
    // Each module twice: as a module, and as the content of one.
    assert_eq!(real.len(), 12, "{:?}", real.keys());
    assert!(real["instances.kernels.rs"].contains("axpy_float"), "{}", real["instances.kernels.rs"]);

    project.set("OFFLOAD_SKIP", "1");
    let skipped = generated(&project, &["build"]);
    assert_eq!(difference(&without_mangled(&real), &without_mangled(&skipped)), None, "OFFLOAD_SKIP");
    project.set("OFFLOAD_SKIP", "0");
    project.set("OFFLOAD_CHECK", "1");
    assert_eq!(difference(&real, &generated(&project, &["check"])), None, "OFFLOAD_CHECK");
    project.set("OFFLOAD_CHECK", "0");
    assert_eq!(difference(&real, &generated(&project, &["check"])), None, "cargo check");

    let outcome = project.offload(&["vendor"]);
    assert!(outcome.success, "{}", outcome.text);
    project.set("OFFLOAD_VENDORED", "prefer");
    project.set("OFFLOAD_CLANG", "/nonexistent/tool");
    fs::remove_dir_all(project.path("cache")).unwrap();
    assert_eq!(difference(&real, &generated(&project, &["build"])), None, "vendored");
}
