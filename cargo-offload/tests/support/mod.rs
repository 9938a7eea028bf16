//! Running the subcommand, as its tests do.

#![allow(dead_code, reason = "each test file uses a part")]

use std::path::Path;
use std::process::{Command, Output};

/// `cargo offload ARGS` in `dir`, where no setting of the machine's is seen.
pub fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-offload"));
    command.arg("offload").args(args).current_dir(dir);
    for name in ["OFFLOAD_CONFIG", "CARGO_TERM_COLOR", "COLUMNS"] {
        command.env_remove(name);
    }
    command.env("OFFLOAD_CACHE_DIR", dir.join("cache"));
    command
}

/// The same on a machine with none of the tools, as far as variables can make one.
pub fn without_tools(dir: &Path, args: &[&str]) -> Command {
    let mut command = command(dir, args);
    command.env("PATH", "/nonexistent");
    for name in ["CLANG", "OCLOC", "SPIRV_VAL", "PTXAS", "NVCC", "HIPCC", "ICPX", "POCL_DIR", "LIBDEVICE"] {
        command.env(format!("OFFLOAD_{name}"), "/nonexistent");
    }
    command
}

pub fn offload(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Everything that a command has printed.
pub fn said(output: &Output) -> String {
    [stdout(output), stderr(output)].concat()
}

/// Runs a command that must succeed, and returns its output.
pub fn ok(dir: &Path, args: &[&str]) -> String {
    let output = offload(dir, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output)
}
