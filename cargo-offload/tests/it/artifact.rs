//! Default file of a command, from the messages of cargo.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{all_output, offload};

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

/// The output of `inspect`, and its exit code. A file counts as found if the message says that it has no images.
fn inspect(dir: &Path, args: &[&str]) -> (String, i32) {
    let target = dir.join("target").display().to_string();
    let output = offload(dir, &[&["inspect", "--offline", "--target-dir", &target], args].concat());
    (all_output(&output), output.status.code().unwrap())
}

const MAIN: &str = "fn main() {}\n";

#[test]
fn of_several_programs_one_is_named_or_the_default() {
    let dir = package("", &[("src/bin/one.rs", MAIN), ("src/bin/two.rs", MAIN), ("examples/three.rs", MAIN)]);
    let (message, code) = inspect(dir.path(), &[]);
    assert_eq!(code, 2, "{message}");
    assert!(
        message.contains("several files: one, two") && message.contains("hint: choose one with --bin"),
        "{message}"
    );
    for (args, file) in [(["--bin", "two"], "debug/two"), (["--example", "three"], "debug/examples/three")] {
        let (message, code) = inspect(dir.path(), &args);
        assert_eq!(code, 1, "{message}");
        assert!(message.contains(&format!("{file}` has no device images")), "{message}");
    }
    let dir = package("default-run = \"two\"\n", &[("src/bin/one.rs", MAIN), ("src/bin/two.rs", MAIN)]);
    let (message, _) = inspect(dir.path(), &["--release"]);
    assert!(message.contains("release/two` has no device images"), "{message}");
}

#[test]
fn a_shared_library_is_found_and_a_plain_one_is_not() {
    let dir = package("[lib]\ncrate-type = [\"cdylib\"]\n", &[("src/lib.rs", "")]);
    let (message, code) = inspect(dir.path(), &[]);
    assert!(code == 1 && message.contains("has no device images"), "{message}");
    let dir = package("", &[("src/lib.rs", "")]);
    let (message, code) = inspect(dir.path(), &[]);
    assert!(code == 2 && message.contains("has no program and no shared library"), "{message}");
}

#[test]
fn a_build_that_fails_is_cargo_s_to_tell() {
    let dir = package("", &[("src/main.rs", "fn main() { nonsense }\n")]);
    let (message, code) = inspect(dir.path(), &[]);
    assert_eq!(code, 101, "{message}");
    assert!(
        message.contains("cannot find value `nonsense`") && message.contains("`cargo build` failed"),
        "{message}"
    );
}

/// Every command that takes a file, as it is called without one.
const WITHOUT_A_FILE: [&[&str]; 10] = [
    &["inspect"],
    &["size"],
    &["report"],
    &["extract"],
    &["verify"],
    &["asm"],
    &["asm", "saxpy"],
    &["prune", "--keep", "host", "-o", "out"],
    &["repack", "--sidecar", "-o", "out"],
    &["export", "--format", "raw"],
];

/// What a command prints that builds what it needs.
fn run(dir: &Path, args: &[&str]) -> String {
    let target = dir.join("target").display().to_string();
    all_output(&offload(dir, &[args, &["--offline", "--target-dir", &target]].concat()))
}

#[test]
fn every_command_that_takes_a_file_builds_the_package() {
    let dir = package("", &[("src/main.rs", MAIN)]);
    for args in WITHOUT_A_FILE {
        let message = run(dir.path(), args);
        assert!(message.contains("debug/sample` has no device images"), "{args:?}: {message}");
    }
    // The devices are of interest without a program too, and a package without kernels has nothing for them.
    assert!(!run(dir.path(), &["devices"]).contains("has no device images"));
    let message = run(dir.path(), &["devices", "--package", "sample"]);
    assert!(message.contains("debug/sample` has no device images"), "{message}");
    // What is neither a name nor a file is a mistake.
    let message = run(dir.path(), &["asm", "no/such.file"]);
    assert!(message.contains("cannot open `no/such.file`"), "{message}");
}

/// Images by device need a program; devices are listed without one.
#[test]
fn the_devices_of_a_library_with_kernels_are_shown() {
    // The name alone makes it one with kernels.
    let helper = [
        ("helper/Cargo.toml", "[package]\nname = \"offload-build\"\nedition = \"2024\"\n"),
        ("helper/src/lib.rs", ""),
        ("src/lib.rs", ""),
    ];
    let manifest = "[build-dependencies]\noffload-build = { path = \"helper\" }\n";
    let dir = package(manifest, &helper);
    for more in [&[][..], &["--package", "sample"]] {
        let output = offload(dir.path(), &[&["devices", "--offline"], more].concat());
        let message = all_output(&output);
        assert!(output.status.success() && message.contains("0: host CPU"), "{message}");
        assert!(!dir.path().join("target").exists(), "nothing was to be built");
    }
    // Where it is asked for by its kind, the answer is about it.
    let output = offload(dir.path(), &["devices", "--offline", "--lib", "--target-dir", "target"]);
    let message = all_output(&output);
    assert!(
        output.status.code() == Some(2) && message.contains("no program and no shared library"),
        "{message}"
    );
}

#[test]
fn members_profiles_and_triples_are_cargo_s() {
    let manifest = "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n[profile.small]\ninherits = \"release\"\n";
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
    for name in ["one", "two"] {
        let member = dir.path().join(name);
        fs::create_dir_all(member.join("src")).unwrap();
        fs::write(member.join("Cargo.toml"), format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n"))
            .unwrap();
        fs::write(member.join("src/main.rs"), MAIN).unwrap();
    }
    assert!(run(dir.path(), &["asm"]).contains("several files: one, two"));
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(rustc.stdout).unwrap();
    let triple = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_string();
    for (args, file) in [
        (&["-p", "two"][..], "debug/two`"),
        (&["--bin", "one", "--profile", "small"], "small/one`"),
        (&["-p", "one", "--release"], "release/one`"),
        (&["-p", "one", "--target", &triple], &format!("{triple}/debug/one`")),
    ] {
        let message = run(dir.path(), &[&["asm"], args].concat());
        assert!(message.contains(&format!("{file} has no device images")), "{args:?}: {message}");
    }
}
