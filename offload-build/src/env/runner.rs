//! The runner of this build script: cargo, or another build system.

use std::env;
use std::path::PathBuf;

use offload_protocol::variable;

/// The program that runs this build script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    /// Cargo, itself or through a wrapper. It keeps `OUT_DIR` for the next run, and runs the script again when a declared
    /// input changes.
    Cargo,
    /// Another build system, as Bazel's `rules_rust`. All that is in `OUT_DIR` is output to it: links lead nowhere else, and
    /// two runs leave the same bytes.
    Other,
}

impl Runner {
    /// Cargo has set this variable since Rust 1.84, and compiles this crate from 1.88 on. Others set `CARGO` too.
    pub(super) fn from_environment() -> Runner {
        match env::var_os("CARGO_MANIFEST_PATH") {
            Some(_) => Runner::Cargo,
            None => Runner::Other,
        }
    }
}

/// Whether cargo itself reads what this build script prints: other build systems that run build scripts may look at
/// the exit code alone. Every cargo that compiles this crate knows `cargo::error`, which came with Rust 1.84.
pub(super) fn cargo_waits() -> bool {
    let named = env::var_os(variable::CARGO).map(PathBuf::from).and_then(|cargo| cargo.canonicalize().ok());
    #[cfg(target_os = "linux")]
    let parent = std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id())).ok();
    #[cfg(not(target_os = "linux"))]
    let parent: Option<PathBuf> = None;
    named.is_some() && named == parent
}
