//! Commands under strace, which ends them before a system call, or has the call fail.

use std::env;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Calls that change files, their contents or their names.
pub const WRITES: [&str; 16] = [
    "?write",
    "?pwrite64",
    "?copy_file_range",
    "?sendfile",
    "?ftruncate",
    "?mkdir",
    "?linkat",
    "?symlink",
    "?rename",
    "?renameat2",
    "?unlink",
    "?unlinkat",
    "?fchmod",
    "?utimensat",
    "?fsync",
    "?flock",
];

/// Whose calls count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each test program uses one of them")]
pub enum Whose {
    /// Those of the command's first thread.
    First,
    /// Those of each of its threads and children.
    All,
}

/// A system call, and what strace does with one.
#[derive(Clone, Debug)]
pub struct Fault<'a> {
    pub call: &'a str,
    /// As strace's option `inject` takes it: `signal=KILL:when=3`.
    pub what: String,
    pub whose: Whose,
}

/// Runs `command` with the fault; `None` if there was no such call.
pub fn injected(command: &Command, fault: &Fault<'_>) -> Option<Output> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut traced = Command::new(strace());
    if fault.whose == Whose::All {
        traced.arg("-f");
    }
    traced.arg("-o").arg(log.path()).args(["-e", &format!("trace={}", fault.call)]);
    traced.args(["-e", &format!("inject={}:{}", fault.call, fault.what)]);
    traced.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        traced.current_dir(directory);
    }
    let output = traced.output().unwrap();
    let log = String::from_utf8_lossy(&std::fs::read(log.path()).unwrap()).into_owned();
    let happened = ["(INJECTED)", "killed by SIGKILL"].iter().any(|mark| log.contains(mark));
    (happened || output.status.signal().is_some()).then_some(output)
}

/// By its path: the command may have another `PATH`.
fn strace() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut files = env::split_paths(OsStr::new(&path)).map(|directory| directory.join("strace"));
    files.find(|file| file.is_file()).expect("strace is installed")
}
