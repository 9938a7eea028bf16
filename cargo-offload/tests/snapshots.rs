//! Help and output, word for word. `SNAPSHOTS=overwrite cargo test -p cargo-offload --test snapshots` accepts changes.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::path::Path;

use snapbox::{Data, assert_data_eq};

fn said(dir: &Path, args: &[&str]) -> String {
    support::said(&support::without_tools(dir, args).output().unwrap())
}

fn snapshot(name: &str) -> Data {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    Data::read_from(&dir.join(name), Some(snapbox::data::DataFormat::Text))
}

#[test]
fn help() {
    let dir = tempfile::tempdir().unwrap();
    let commands = [
        "new",
        "init",
        "build",
        "run",
        "check",
        "doctor",
        "cache",
        "toolchain",
        "completions",
        "man",
        "inspect",
        "verify",
    ];
    for command in commands {
        assert_data_eq!(said(dir.path(), &[command, "--help"]), snapshot(&format!("help-{command}.txt")));
    }
}

#[test]
fn doctor_without_tools() {
    let dir = tempfile::tempdir().unwrap();
    // What installs a tool depends on the system.
    let text = said(dir.path(), &["doctor", "spirv64", "amdgcn:gfx90a", "cubin:sm_90", "host"]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("hint: ")).collect();
    assert_data_eq!(lines.join("\n") + "\n", snapshot("doctor.txt"));
}

#[test]
fn init_and_targets() {
    let dir = tempfile::tempdir().unwrap();
    let steps = [
        ["init"].as_slice(),
        &["targets", "add", "intel:pvc"],
        &["targets"],
        &["compression", "max"],
        &["cache", "clean"],
    ];
    let line = |args: &&[&str]| format!("$ cargo offload {}\n{}", args.join(" "), said(dir.path(), args));
    assert_data_eq!(steps.iter().map(line).collect::<String>(), snapshot("init.txt"));
}
