//! A project's life with the subcommand: made, built with progress, checked, run, looked at without naming a file.

use std::fs;
use std::process::Command;

use crate::support::{self, Project};

/// The lines to type under "A new project" in the README, comments cut off.
fn walkthrough() -> Vec<String> {
    let readme = fs::read_to_string(support::root().join("README.md")).unwrap();
    let section = readme.split("## A new project\n").nth(1).unwrap();
    let block = section.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let lines = block.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.map(|line| line.split(" #").next().unwrap().trim().to_string()).collect()
}

#[test]
fn the_walkthrough_works_as_written() {
    if !offload_tests::is_nightly() {
        return;
    }
    if offload_tests::require("clang-22").is_none() {
        return;
    }
    // A directory to work in, and an environment; without a manifest it is no workspace that the package would join.
    let project = Project::new("two-files");
    for name in ["Cargo.toml", "offload.toml"] {
        fs::remove_file(project.path(name)).unwrap();
    }
    fs::remove_dir_all(project.path(".cargo")).unwrap();
    let root = support::root().display().to_string();
    let built = project.target_dir().join("debug/hello").display().to_string();
    let mut directory = "";
    let mut output_text = Vec::new();
    for line in walkthrough() {
        let line =
            line.replace("--checkout .", &format!("--checkout {root}")).replace("target/debug/hello", &built);
        let words: Vec<&str> = line.split(' ').collect();
        let outcome = match words.as_slice() {
            // The tests have both already.
            ["cargo", "install", ..] | ["cargo", "offload", "toolchain", "install"] => continue,
            // One goes on until it is ended, and a new package has no benchmarks and no wheel: other tests run them.
            ["cargo", "offload", "dev" | "bench"] | ["cargo", "offload", "verify", "dist/", ..] => continue,
            ["cd", "hello"] => {
                directory = "hello";
                // The versions that this checkout was tested with.
                fs::copy(support::root().join("Cargo.lock"), project.path("hello/Cargo.lock")).unwrap();
                continue;
            }
            ["cargo", "offload", args @ ..] => project
                .command_in(directory, Command::new(support::cargo_offload()).arg("offload").args(args)),
            [program] => {
                project.command_in(directory, &mut Command::new(project.path(directory).join(program)))
            }
            other => panic!("what is {other:?}?"),
        };
        assert!(outcome.success, "{line}: {}", outcome.text);
        output_text.push(outcome.text);
    }
    let [_new, doctor, run, test, inspect, verify, _prune, pruned, _export] = output_text.as_slice() else {
        panic!("{} steps", output_text.len());
    };
    assert!(doctor.contains("spirv64") && !doctor.contains("no: lacks"), "{doctor}");
    for ran in [run, pruned] {
        assert!(ran.contains("all results are right"), "{ran}");
    }
    assert!(test.contains("tests::saxpy_is_right") && test.contains(" right\n"), "{test}");
    assert!(inspect.lines().any(|line| line.starts_with("hello ") && line.contains("spirv64")), "{inspect}");
    assert!(verify.contains("3 images verified, 0 problems"), "{verify}");
    assert!(project.path("hello/hello.syclbin").is_file());
}

#[test]
fn a_build_tells_how_far_it_is() {
    let mut project = Project::with_fake_tools("two-files");
    project.set("CARGO_TERM_PROGRESS_WHEN", "always");
    // Without the file that it watches the build script would run every time.
    project.write("flags.txt", "");
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
    // The progress file is gone; a build without a watcher writes none.
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
