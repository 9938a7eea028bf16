//! OffloadBinaries: generated sets, in the tests that run for every change with fewer of them.

use std::process::ExitCode;

use super::cargo;
use crate::error::Result;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace, sets: &str) -> Result<ExitCode> {
    let tests = ["test", "--release", "--package", "offload-tests", "--test", "containers"];
    cargo(workspace, &[&tests[..], &["--", "--nocapture"]].concat(), sets)
}
