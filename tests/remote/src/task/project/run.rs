//! Running a build that nobody watches, for its time.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use offload_tests::error::Result;

/// A build that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) time: Duration,
    /// The calls of compilers, if somebody watched them.
    pub(super) compilers: Option<Vec<String>>,
    /// What cargo said.
    pub(super) said: String,
}

pub(super) fn run(mut build: Command) -> Result<Ended> {
    // A file: the process that reaches other machines goes on after the build, and would keep a pipe open.
    let said = tempfile::NamedTempFile::new()?;
    build.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(said.path())?);
    let begun = Instant::now();
    let status = build.status()?;
    let time = begun.elapsed();
    let said = String::from_utf8_lossy(&std::fs::read(said.path())?).into_owned();
    Ok(Ended { code: status.code().unwrap_or(-1), time, compilers: None, said })
}
