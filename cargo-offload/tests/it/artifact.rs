//! Which file a command looks at where none is named: cargo's messages tell.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{offload, said};

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

#[test]
fn every_command_that_takes_a_file_builds_the_package() {
    let dir = package("", &[("src/main.rs", MAIN)]);
    let target = dir.path().join("target").display().to_string();
    let run =
        |args: &[&str]| said(&offload(dir.path(), &[args, &["--offline", "--target-dir", &target]].concat()));
    for args in WITHOUT_A_FILE {
        let said = run(args);
        assert!(said.contains("debug/sample` carries no device images"), "{args:?}: {said}");
    }
    // The devices are of interest without a program too, and a package without kernels has nothing for them.
    assert!(!run(&["devices"]).contains("carries no device images"));
    let said = run(&["devices", "--package", "sample"]);
    assert!(said.contains("debug/sample` carries no device images"), "{said}");
    // What is neither a name nor a file is a mistake.
    let said = run(&["asm", "no/such.file"]);
    assert!(said.contains("cannot open `no/such.file`"), "{said}");
}

/// Which image a device gets is told of programs; the devices are there without one.
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
        let said = said(&output);
        assert!(output.status.success() && said.contains("0: host CPU"), "{said}");
        assert!(!dir.path().join("target").exists(), "nothing was to be built");
    }
    // Where it is asked for by its kind, the answer is about it.
    let output = offload(dir.path(), &["devices", "--offline", "--lib", "--target-dir", "target"]);
    let said = said(&output);
    assert!(output.status.code() == Some(2) && said.contains("no program and no shared library"), "{said}");
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
    let target = dir.path().join("target").display().to_string();
    let run = |args: &[&str]| {
        let common = ["asm", "--offline", "--target-dir", &target];
        said(&offload(dir.path(), &[&common[..], args].concat()))
    };
    assert!(run(&[]).contains("several files: one, two"));
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(rustc.stdout).unwrap();
    let triple = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_string();
    for (args, file) in [
        (&["-p", "two"][..], "debug/two`"),
        (&["--bin", "one", "--profile", "small"], "small/one`"),
        (&["-p", "one", "--release"], "release/one`"),
        (&["-p", "one", "--target", &triple], &format!("{triple}/debug/one`")),
    ] {
        let said = run(args);
        assert!(said.contains(&format!("{file} carries no device images")), "{args:?}: {said}");
    }
}
