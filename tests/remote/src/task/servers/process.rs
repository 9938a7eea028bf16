//! A process that does not outlive the task.

use std::ffi::OsStr;
use std::io;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use offload_tests::error::{Error, Result};

/// A running process.
#[derive(Debug)]
pub(in super::super) struct Process {
    child: Child,
    name: String,
}

/// The timeout of its end.
const END: Duration = Duration::from_secs(5);

/// A command for [`Process::start`]: the system ends it with the thread that starts it, which has to be the first one.
pub(in super::super) fn bound(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--"]).arg(program);
    command
}

impl Process {
    pub(in super::super) fn start(mut command: Command) -> Result<Process> {
        let name = format!("{command:?}");
        let child = command.spawn().map_err(|error| Error::new(format!("`{name}`: {error}")))?;
        Ok(Process { child, name })
    }

    pub(in super::super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.child.stdin.take().zip(self.child.stdout.take())
    }

    pub(in super::super) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits until it has ended by itself, for a while.
    fn wait(&mut self) -> io::Result<bool> {
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begun.elapsed() > END {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(true)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.child.try_wait() {
            return;
        }
        // Politely first: servers unmount and remove what they have made.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).stderr(Stdio::null()).status();
        if !self.wait().unwrap_or(false) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
