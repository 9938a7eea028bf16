//! One run of a program.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use offload_tests::error::{Error, Result};

/// What a program says of its start: microseconds, kilobytes and numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Start {
    /// Until the registry is there.
    pub(super) ready: f64,
    /// Until the first question is answered.
    pub(super) first: f64,
    /// Memory that it has written to by then.
    pub(super) written: f64,
    pub(super) images: u64,
}

impl Start {
    /// Runs `program`.
    pub(super) fn measure(program: &Path) -> Result<Start> {
        let output = Command::new(program).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Start::parse(&text).ok_or_else(|| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Error::new(format!("`{}` says nothing of its start: {text}{stderr}", program.display()))
        })
    }

    fn parse(text: &str) -> Option<Start> {
        Some(Start {
            ready: field(text, "ready_ns")? as f64 / 1000.0,
            first: field(text, "first_ns")? as f64 / 1000.0,
            written: field(text, "dirty_bytes")? as f64 / 1000.0,
            images: field(text, "images")?,
        })
    }
}

/// What a program says of its choices, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    /// Of the first one, which reads the records.
    pub(super) first: f64,
    /// Of a later one.
    pub(super) again: f64,
    /// Kilobytes of the pack's index, as it is stored.
    pub(super) index: f64,
}

impl Choice {
    /// Runs `program`.
    pub(super) fn measure(program: &Path) -> Result<Choice> {
        let output = Command::new(program).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        match (thousands(&text, "first_ns"), thousands(&text, "again_ns"), thousands(&text, "head_bytes")) {
            (Some(first), Some(again), Some(index)) => Ok(Choice { first, again, index }),
            _ => Err(Error::new(format!("`{}` says nothing of its choices: {text}", program.display()))),
        }
    }
}

/// A number of nanoseconds or bytes, in thousands.
fn thousands(text: &str, name: &str) -> Option<f64> {
    field(text, name).map(|number| number as f64 / 1000.0)
}

/// The number behind `name=`.
fn field(text: &str, name: &str) -> Option<u64> {
    let word = text.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    word?.parse().ok()
}

/// A directory in which PoCL keeps what it has compiled.
#[derive(Debug)]
pub(super) struct Cache(tempfile::TempDir);

impl Cache {
    pub(super) fn new() -> Result<Cache> {
        Ok(Cache(tempfile::tempdir()?))
    }
}

/// Milliseconds from the start of `program` on `device` until it says that its result is right.
pub(super) fn first_result(program: &Path, device: &str, cache: &Cache) -> Result<f64> {
    let mut command = Command::new(program);
    command.arg(device).env("POCL_CACHE_DIR", cache.0.path()).stdout(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn()?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    let time = start.elapsed();
    let status = child.wait()?;
    if line.trim() == "right" && status.success() {
        Ok(time.as_secs_f64() * 1000.0)
    } else {
        Err(Error::new(format!("`{} {device}` gives no right result", program.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read() {
        let text = "ready_ns=1500 first_ns=2000 start_bytes=1 dirty_bytes=8000 images=500\n";
        let start = Start { ready: 1.5, first: 2.0, written: 8.0, images: 500 };
        assert_eq!(Start::parse(text), Some(start));
        assert_eq!(Start::parse("ready_ns=1"), None);
    }
}
