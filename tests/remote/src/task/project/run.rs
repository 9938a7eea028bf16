//! Timed builds, without a trace.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use offload_tests::error::Result;

/// A build that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) time: Duration,
    /// The calls of compilers, if they were traced.
    pub(super) compilers: Option<Vec<String>>,
    /// The output of cargo.
    pub(super) output: String,
}

pub(super) fn run(mut build: Command) -> Result<Ended> {
    // A file: the process that is the client goes on after the build, and would keep a pipe open.
    let output = tempfile::NamedTempFile::new()?;
    build.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(output.path())?);
    let begun = Instant::now();
    let status = build.status()?;
    let time = begun.elapsed();
    let output = String::from_utf8_lossy(&std::fs::read(output.path())?).into_owned();
    Ok(Ended { code: status.code().unwrap_or(-1), time, compilers: None, output })
}
