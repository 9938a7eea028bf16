//! Help and output, word for word. `SNAPSHOTS=overwrite cargo test -p cargo-offload --test snapshots` accepts changes.

#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::Path;
use std::process::Command;

use snapbox::{Data, assert_data_eq};

fn said(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-offload"));
    command
        .arg("offload")
        .args(args)
        .current_dir(dir)
        .env("OFFLOAD_CACHE_DIR", "cache")
        .env("PATH", "/nonexistent");
    for name in ["CLANG", "OCLOC", "SPIRV_VAL", "PTXAS", "NVCC", "HIPCC", "ICPX", "POCL_DIR", "LIBDEVICE"] {
        command.env(format!("OFFLOAD_{name}"), "/nonexistent");
    }
    for name in ["OFFLOAD_CONFIG", "CARGO_TERM_COLOR", "COLUMNS"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
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
