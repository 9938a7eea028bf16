//! Child processes with a limit of time, whose output goes into files.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use offload_tests::error::{Error, Result};

/// How often a child is looked at.
const INTERVAL: Duration = Duration::from_millis(5);

/// How a process ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// With this status.
    Exited(ExitStatus),
    /// It was killed, because it made no progress.
    TimedOut,
}

/// What a process is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch<'a> {
    /// Receives its standard error.
    pub(crate) errors: &'a Path,
    /// Receives its standard output, after what is there.
    pub(crate) output: &'a Path,
    /// A file that grows while it makes progress; without one, only its start is progress.
    pub(crate) progress: Option<&'a Path>,
    /// So long it may make no progress.
    pub(crate) patience: Duration,
}

impl Ending {
    pub(crate) fn is_success(&self) -> bool {
        matches!(self, Ending::Exited(status) if status.success())
    }
}

/// Runs `command` to its end.
pub(crate) fn run(command: &mut Command, watch: Watch<'_>) -> Result<Ending> {
    let errors = File::create(watch.errors)?;
    let output = File::options().create(true).append(true).open(watch.output)?;
    let child = command.stderr(errors).stdout(output).spawn();
    let mut child = child.map_err(|error| {
        Error::new(format!("`{}` did not start: {error}", command.get_program().display()))
    })?;
    let ending = wait(&mut child, watch);
    if !matches!(ending, Ok(Ending::Exited(_))) {
        child.kill()?;
        child.wait()?;
    }
    ending
}

/// Waits for `child`, as long as it makes progress.
fn wait(child: &mut Child, watch: Watch<'_>) -> Result<Ending> {
    let mut size = 0;
    let mut last_progress = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ending::Exited(status));
        }
        let now = watch.progress.and_then(|path| fs::metadata(path).ok()).map_or(0, |data| data.len());
        if now != size {
            size = now;
            last_progress = Instant::now();
        }
        if last_progress.elapsed() > watch.patience {
            return Ok(Ending::TimedOut);
        }
        thread::sleep(INTERVAL);
    }
}
