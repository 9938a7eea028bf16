//! S3, as moto has it: signatures and rights are checked as AWS does.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Stdio};

use super::free_address;
use super::process::{Process, bound};
use offload_tests::error::{Error, Result};

/// A running server with a bucket.
#[derive(Debug)]
pub(in super::super) struct S3 {
    // It ends with its input.
    _input: ChildStdin,
    _process: Process,
    address: SocketAddr,
    dir: PathBuf,
}

const BUCKET: &str = "kernels";

impl S3 {
    /// Starts the server of the Python packages in `packages` with an empty `dir`.
    pub(in super::super) fn start(packages: &Path, dir: &Path) -> Result<S3> {
        fs::create_dir_all(dir)?;
        let address = free_address()?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/s3.py");
        let mut command = bound("python3");
        command.arg(script).args([&address.to_string(), BUCKET]).arg(dir).env("PYTHONPATH", packages);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(fs::File::create(dir.join("log"))?);
        let mut process = Process::start(command)?;
        let (input, output) = process.pipes().ok_or_else(|| Error::new("S3 has no pipes"))?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        match line.trim() {
            "ready" => Ok(S3 { _input: input, _process: process, address, dir: dir.into() }),
            _ => Err(Error::new(format!("S3 does not start: see {}", dir.join("log").display()))),
        }
    }

    /// Settings of a bucket in it.
    pub(in super::super) fn settings(&self) -> String {
        format!(
            "url = \"s3://{BUCKET}/team\", endpoint = \"http://{}\", region = \"eu-west-1\"",
            self.address
        )
    }

    /// The credentials of who may read and write.
    pub(in super::super) fn writer(&self) -> PathBuf {
        self.dir.join("writer")
    }

    /// The credentials of who may read.
    pub(in super::super) fn reader(&self) -> PathBuf {
        self.dir.join("reader")
    }
}
