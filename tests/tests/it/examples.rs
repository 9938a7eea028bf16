//! The examples: that the book shows them, and that those that need no GPU do what they say.

use std::fs;

use crate::support::{self, build_of_workspace, executable};

fn source(example: &str) -> String {
    fs::read_to_string(support::root().join("examples").join(example).join("src/main.rs")).unwrap()
}

/// Builds the example for source alone, and runs it.
fn run(example: &str) -> String {
    let built = build_of_workspace(example).env("OFFLOAD_TARGETS", "opencl-c").output().unwrap();
    let messages = String::from_utf8_lossy(&built.stdout);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = std::process::Command::new(executable(&messages)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_book_shows_the_examples_of_other_crates() {
    let page = fs::read_to_string(support::root().join("docs/drivers.md")).unwrap();
    for example in ["with-cudarc", "with-opencl3"] {
        assert!(page.contains(&source(example)), "docs/drivers.md shows another program than {example}");
    }
}

#[test]
fn a_program_of_opencl3_launches_our_kernels() {
    assert_eq!(run("with-opencl3").trim(), "65536 of 65536 values are 15");
}
