//! The stand-in as a separate process, controlled through its standard input.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use super::process::{Process, bound};
use offload_remote_tests::standin::Counts;
use offload_tests::error::{Error, Result};

/// A running stand-in.
#[derive(Debug)]
pub(in super::super) struct Standin {
    process: Process,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    address: SocketAddr,
}

impl Standin {
    pub(in super::super) fn start(program: &Path, args: &[&str]) -> Result<Standin> {
        let mut command = bound(program);
        command.args(args);
        Standin::started(command)
    }

    /// The stand-in that `command` starts.
    pub(super) fn started(mut command: Command) -> Result<Standin> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::start(command)?;
        let (input, output) = process.pipes().ok_or_else(|| Error::new("the stand-in has no pipes"))?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let address = line.trim().parse();
        let address = address.map_err(|_| Error::new(format!("`{}` does not listen", process.name())))?;
        Ok(Standin { process, pipes: RefCell::new((input, output)), address })
    }

    pub(in super::super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(in super::super) fn url(&self) -> String {
        format!("grpc://{}", self.address)
    }

    /// Sets what it does wrong: words as `delay=500`.
    pub(in super::super) fn set_faults(&self, faults: &str) -> Result<()> {
        self.tell(format!("faults {faults}").trim()).and_then(expect_ok)
    }

    /// The counters since the start, or since the last [`Standin::forget`].
    pub(in super::super) fn counts(&self) -> Result<Counts> {
        self.tell("counts")?.parse().map_err(Error::new)
    }

    pub(in super::super) fn forget(&self) -> Result<()> {
        self.tell("forget").and_then(expect_ok)
    }

    /// Whether it is still running.
    pub(in super::super) fn lives(&mut self) -> Result<bool> {
        Ok(self.process.ended()?.is_none())
    }

    fn tell(&self, line: &str) -> Result<String> {
        let mut pipes = self.pipes.borrow_mut();
        writeln!(pipes.0, "{line}")?;
        let mut answer = String::new();
        pipes.1.read_line(&mut answer)?;
        Ok(answer.trim().to_string())
    }
}

fn expect_ok(answer: String) -> Result<()> {
    if answer == "ok" { Ok(()) } else { Err(Error::new(format!("the stand-in says: {answer}"))) }
}
