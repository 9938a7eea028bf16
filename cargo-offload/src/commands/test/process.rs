//! Starting programs with tests: for the list of their tests, and for one test.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use offload_format::variable;

use super::event::Said;
use super::outcome::{End, Outcome};
use crate::error::{Error, Result};

/// How often a running test is looked at, if it may not run for ever.
const TICK: Duration = Duration::from_millis(2);
/// How much of a test's output is kept: its end.
const KEPT: u64 = 64 * 1024;

/// Asks `program` for a list; what it prints, or `None` if it fails.
pub(super) fn ask(program: &Path, args: &[OsString]) -> Result<Option<String>> {
    let listed = Command::new(program).args(args).stdin(Stdio::null()).output();
    let listed = listed.map_err(|error| Error::io("run", program, &error))?;
    Ok(listed.status.success().then(|| String::from_utf8_lossy(&listed.stdout).into_owned()))
}

/// A test to be run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    pub(super) program: &'a Path,
    pub(super) args: &'a [OsString],
    /// For whoever watches it.
    pub(super) env: &'a [(&'static str, OsString)],
    pub(super) device: &'a str,
    pub(super) family: Family,
    /// For ever if it is 0.
    pub(super) timeout: Duration,
}

/// Which processes have to be stopped where a test takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// The program is the test.
    Alone,
    /// The program starts the test, which would go on without it.
    WithChildren,
}

/// How a test's process ended, and what it has said.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) said: Said,
    pub(super) end: End,
    pub(super) time: Duration,
    pub(super) output: String,
}

/// Runs a test to its end.
pub(super) fn run(run: &Run<'_>) -> Result<Done> {
    let failed = |error: io::Error| Error::io("run", run.program, &error);
    let mut output = tempfile::tempfile().map_err(failed)?;
    let results = tempfile::NamedTempFile::new().map_err(failed)?;
    let start = Instant::now();
    let mut command = Command::new(run.program);
    command
        .args(run.args)
        .envs(run.env.iter().map(|(name, value)| (name, value)))
        .env(variable::TEST_DEVICE, run.device)
        .env(variable::TEST_RESULTS, results.path())
        .stdin(Stdio::null())
        .stdout(output.try_clone().map_err(failed)?)
        .stderr(output.try_clone().map_err(failed)?);
    if run.family == Family::WithChildren {
        group::separate(&mut command);
    }
    let mut child = command.spawn().map_err(failed)?;
    let status = wait(&mut child, run).map_err(failed)?;
    let time = start.elapsed();
    let said = Said::read(&fs::read_to_string(results.path()).unwrap_or_default());
    let end = end(&said, status, run.timeout);
    Ok(Done { said, end, time, output: tail(&mut output).map_err(failed)? })
}

/// The status, or `None` if it had to be stopped.
fn wait(child: &mut Child, run: &Run<'_>) -> io::Result<Option<ExitStatus>> {
    if run.timeout.is_zero() {
        return child.wait().map(Some);
    }
    let start = Instant::now();
    while start.elapsed() < run.timeout {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(TICK);
    }
    if run.family == Family::WithChildren {
        group::stop(child);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// A process and all that it starts.
#[cfg(target_os = "linux")]
mod group {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, kill_process_group};

    pub(super) fn separate(command: &mut Command) {
        command.process_group(0);
    }

    pub(super) fn stop(child: &Child) {
        // The process itself is stopped by the caller, whatever became of the others.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

/// No tool starts tests on other systems.
#[cfg(not(target_os = "linux"))]
mod group {
    use std::process::{Child, Command};

    pub(super) fn separate(_command: &mut Command) {}

    pub(super) fn stop(_child: &Child) {}
}

/// What the status of a process and what it has said come to.
fn end(said: &Said, status: Option<ExitStatus>, timeout: Duration) -> End {
    let Some(status) = status else {
        return End::because(Outcome::Hung, format!("it was stopped after {} s", timeout.as_secs()));
    };
    let in_the_middle = if said.is_open { ", in the middle of the test" } else { "" };
    if status.code().is_none() {
        let text = status.to_string();
        return End::because(Outcome::Crashed, format!("the process ended by {text}{in_the_middle}"));
    }
    match (&said.end, status.success()) {
        _ if said.is_open => {
            End::because(Outcome::Crashed, format!("the process ended with {status}{in_the_middle}"))
        }
        (Some(end), true) => end.clone(),
        (Some(end), false) if end.outcome.is_bad() => end.clone(),
        (Some(_), false) => End::because(Outcome::Failed, "the test failed beside its device"),
        (None, true) => End::of(Outcome::Passed),
        (None, false) => End::because(Outcome::Failed, "the test failed"),
    }
}

fn tail(file: &mut File) -> io::Result<String> {
    let size = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(size.saturating_sub(KEPT)))?;
    let mut bytes = Vec::new();
    file.take(KEPT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn ended(said: &str, status: i32) -> End {
        use std::os::unix::process::ExitStatusExt;
        end(&Said::read(said), Some(ExitStatus::from_raw(status)), Duration::ZERO)
    }

    #[test]
    #[cfg(unix)]
    fn status_and_words_are_weighed() {
        let started = "{\"event\":\"started\",\"device\":\"host\"}\n";
        let right = format!(
            "{started}{{\"event\":\"ended\",\"device\":\"host\",\"outcome\":\"right\",\"seconds\":1}}\n"
        );
        let code = |code: i32| code << 8;
        for (said, status, expected) in [
            (right.as_str(), 0, Outcome::Right),
            // It went on after the device, and failed there.
            (&right, code(101), Outcome::Failed),
            (&right, 11, Outcome::Crashed),
            ("", 0, Outcome::Passed),
            ("", code(101), Outcome::Failed),
            ("", 6, Outcome::Crashed),
            // `exit(0)` in the middle is no success.
            (started, 0, Outcome::Crashed),
            (started, code(101), Outcome::Crashed),
        ] {
            assert_eq!(ended(said, status).outcome, expected, "{said} {status}");
        }
        let crashed = ended(started, 11).problem.unwrap();
        assert!(crashed.contains("SIGSEGV") && crashed.ends_with("in the middle of the test"), "{crashed}");
        let hung = end(&Said::read(started), None, Duration::from_secs(7));
        assert_eq!(
            (hung.outcome, hung.problem.unwrap().as_str()),
            (Outcome::Hung, "it was stopped after 7 s")
        );
    }
}
