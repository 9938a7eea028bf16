//! A project's life with the subcommand: made, built with progress, checked, run, looked at without naming a file.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

mod support;

use std::fs;

use support::Project;

#[test]
fn a_new_package_builds_runs_and_verifies() {
    if offload_tests::require("clang-22").is_none() {
        return;
    }
    // A directory to work in, and an environment; what the fixture holds is not used.
    let mut project = Project::new("two-files");
    let root = support::root().display().to_string();
    let made = project.offload(&["new", "hello", "--vcs", "none", "--checkout", &root]);
    assert!(made.success, "{}", made.text);
    fs::copy(support::root().join("Cargo.lock"), project.path("hello/Cargo.lock")).unwrap();
    // Cargo reads `.cargo/config.toml` of the directory it runs in, and the project is not that.
    let config = project.path("hello/offload.toml").display().to_string();
    project.set("OFFLOAD_CONFIG", &config);
    let in_package = ["--manifest-path", "hello/Cargo.toml", "--offline"];
    let run = project.offload(&[&["run"], &in_package[..], &["--", "host CPU"]].concat());
    assert!(run.success && run.text.contains("all results are right"), "{}", run.text);

    // Nothing is named: what cargo has built is looked at.
    let inspected = project.offload(&[&["inspect"], &in_package[..]].concat());
    let row = |line: &&str| line.starts_with("hello ") && line.contains("spirv64");
    assert!(inspected.text.lines().any(|line| row(&line)), "{}", inspected.text);
    let verified = project.offload(&[&["verify"], &in_package[..]].concat());
    assert!(verified.success && verified.text.contains("2 images verified, 0 problems"), "{}", verified.text);
}

#[test]
fn a_build_tells_how_far_it_is() {
    let mut project = Project::with_fake_tools("two-files");
    project.set("CARGO_TERM_PROGRESS_WHEN", "always");
    let built = project.offload(&["build", "--offline"]);
    assert!(built.success, "{}", built.text);
    let lines: Vec<&str> =
        built.text.lines().filter(|line| line.trim_start().starts_with("Kernels ")).collect();
    assert_eq!(lines.len(), 3, "{}", built.text);
    for (count, line) in lines.iter().enumerate() {
        assert!(line.contains(&format!("Kernels {}/3: ", count + 1)), "{lines:?}");
    }
    for target in ["spirv64", "intel:pvc", "opencl-c"] {
        assert!(lines.iter().any(|line| line.ends_with(&format!(" two for {target}"))), "{lines:?}");
    }
    // Cargo's own words are there too, and a build that does nothing tells of nothing.
    assert!(built.text.contains("Finished"), "{}", built.text);
    let again = project.offload(&["build", "--offline"]);
    assert!(again.success && !again.text.contains("Kernels"), "{}", again.text);
    // The file that was told into is gone; a build without a watcher says nothing.
    project.set("CARGO_TERM_PROGRESS_WHEN", "never");
    project.write("flags.txt", "-DMORE");
    assert!(!project.offload(&["build", "--offline"]).text.contains("Kernels"));
}

#[test]
fn a_check_runs_front_ends_alone() {
    let project = Project::with_fake_tools("two-files");
    let checked = project.offload(&["check", "--offline"]);
    assert!(checked.success, "{}", checked.text);
    assert_eq!(project.calls(), ["clang ask", "clang ask", "clang kernels/a.cl", "clang kernels/b.cl"]);

    // A build compiles everything, and does not run the front ends again.
    let built = project.offload(&["build", "--offline"]);
    assert!(built.success, "{}", built.text);
    let calls = project.calls();
    assert!(calls.iter().any(|call| call == "ocloc run"), "{calls:?}");
    assert!(!calls.iter().any(|call| call == "clang kernels/a.cl"), "{calls:?}");

    project.write("kernels/b.cl", "__kernel void delta(__global int *x) {\n}\n");
    project.fault("clang", "fail");
    let failed = project.offload(&["check", "--offline"]);
    assert!(
        !failed.success && failed.text.matches("a.cl:3:5: error: made to fail").count() == 1,
        "{}",
        failed.text
    );
    assert!(failed.text.ends_with("error: `cargo check` failed\n"), "{}", failed.text);
}
