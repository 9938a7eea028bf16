//! Which file a command looks at where none is named: cargo's messages tell.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod support;

use std::fs;
use std::path::Path;

use support::{offload, said};

/// A package without dependencies and without kernels, with these files.
fn package(manifest: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("[workspace]\n[package]\nname = \"sample\"\nedition = \"2024\"\n{manifest}");
    fs::write(dir.path().join("Cargo.toml"), text).unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// What `inspect` says of what it has found, and its exit code. A file is found if it is said to have no images.
fn inspect(dir: &Path, args: &[&str]) -> (String, i32) {
    let target = dir.join("target").display().to_string();
    let output = offload(dir, &[&["inspect", "--offline", "--target-dir", &target], args].concat());
    (said(&output), output.status.code().unwrap())
}

const MAIN: &str = "fn main() {}\n";

#[test]
fn of_several_programs_one_is_named_or_the_default() {
    let dir = package("", &[("src/bin/one.rs", MAIN), ("src/bin/two.rs", MAIN), ("examples/three.rs", MAIN)]);
    let (said, code) = inspect(dir.path(), &[]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("several files: one, two") && said.contains("hint: choose one with --bin"),
        "{said}"
    );
    for (args, file) in [(["--bin", "two"], "debug/two"), (["--example", "three"], "debug/examples/three")] {
        let (said, code) = inspect(dir.path(), &args);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(&format!("{file}` carries no device images")), "{said}");
    }
    let dir = package("default-run = \"two\"\n", &[("src/bin/one.rs", MAIN), ("src/bin/two.rs", MAIN)]);
    let (said, _) = inspect(dir.path(), &["--release"]);
    assert!(said.contains("release/two` carries no device images"), "{said}");
}

#[test]
fn a_shared_library_is_found_and_a_plain_one_is_not() {
    let dir = package("[lib]\ncrate-type = [\"cdylib\"]\n", &[("src/lib.rs", "")]);
    let (said, code) = inspect(dir.path(), &[]);
    assert!(code == 1 && said.contains("carries no device images"), "{said}");
    let dir = package("", &[("src/lib.rs", "")]);
    let (said, code) = inspect(dir.path(), &[]);
    assert!(code == 2 && said.contains("has no program and no shared library"), "{said}");
}

#[test]
fn a_build_that_fails_is_cargo_s_to_tell() {
    let dir = package("", &[("src/main.rs", "fn main() { nonsense }\n")]);
    let (said, code) = inspect(dir.path(), &[]);
    assert_eq!(code, 101, "{said}");
    assert!(said.contains("cannot find value `nonsense`") && said.contains("`cargo build` failed"), "{said}");
}

#[test]
fn every_command_that_shows_builds_the_package() {
    let dir = package("", &[("src/main.rs", MAIN)]);
    let target = dir.path().join("target").display().to_string();
    for command in ["size", "report", "extract", "verify"] {
        let output = offload(dir.path(), &[command, "--offline", "--target-dir", &target]);
        let said = said(&output);
        assert!(said.contains("debug/sample` carries no device images"), "{command}: {said}");
    }
}
