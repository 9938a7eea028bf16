//! The runner of this build script: cargo, or another build system.

use std::env;

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
