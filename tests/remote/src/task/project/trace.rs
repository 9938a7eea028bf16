//! Builds under strace. strace waits for the client daemon, which outlives the build, so that the end of cargo is read from
//! the log.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::super::servers::Process;
use super::run::Ended;
use offload_tests::error::{Error, Result};
use offload_tests::processes;

/// The interval of reads of the log.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The timeout of a build.
const BUILD_TIMEOUT: Duration = Duration::from_secs(1200);

pub(super) fn run(build: &Command) -> Result<Ended> {
    let dir = tempfile::tempdir()?;
    let log = dir.path().join("log");
    let output = dir.path().join("output");
    let mut command = processes::traced(build, &log);
    let file = File::create(&output)?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    let begun = Instant::now();
    let mut process = Process::start(command)?;
    let code = wait(&log, begun, &mut process)?;
    let time = begun.elapsed();
    // It leaves the other processes as they are.
    drop(process);
    let output = String::from_utf8_lossy(&std::fs::read(&output)?).into_owned();
    let log = std::fs::read_to_string(&log)?;
    let compilers = Some(processes::compilers(&log).into_iter().map(str::to_string).collect());
    Ok(Ended { code, time, compilers, output })
}

/// The exit code of the first process in the log. One that a signal ended has none: -1.
fn wait(log: &Path, begun: Instant, process: &mut Process) -> Result<i32> {
    let mut text = Vec::new();
    let mut file = None;
    loop {
        // Before the log is read: what ends afterwards is in the next reading.
        let ended = process.ended()?;
        file = file.or_else(|| File::open(log).ok());
        if let Some(file) = &mut file {
            file.read_to_end(&mut text)?;
        }
        if let Some(code) = code(&String::from_utf8_lossy(&text)) {
            return Ok(code);
        }
        if let Some(status) = ended {
            return Err(Error::new(format!("strace has ended before what it traces: {status}")));
        }
        if begun.elapsed() > BUILD_TIMEOUT {
            return Err(Error::new(format!("a build takes more than {} s", BUILD_TIMEOUT.as_secs())));
        }
        keep_what_counts(&mut text);
        thread::sleep(POLL_INTERVAL);
    }
}

/// The first line names the process, and lines that are not whole may become the one that is waited for.
fn keep_what_counts(text: &mut Vec<u8>) {
    let first = text.iter().position(|byte| *byte == b'\n').map_or(0, |at| at.saturating_add(1));
    let last = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at.saturating_add(1));
    text.drain(first.min(last)..last);
}

/// Reads `PID +++ exited with CODE +++`, where PID is that of the first line.
fn code(log: &str) -> Option<i32> {
    let (first, _) = log.trim_start().split_once(' ')?;
    let mut lines = log.lines().filter_map(|line| line.trim_start().split_once(' '));
    let (_, end) = lines.find(|(pid, rest)| *pid == first && rest.trim_start().starts_with("+++ "))?;
    if !end.trim_end().ends_with(" +++") {
        return None;
    }
    let code = end.trim_start().strip_prefix("+++ exited with ").and_then(|rest| rest.split_once(' '));
    Some(code.and_then(|(code, _)| code.parse().ok()).unwrap_or(-1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_first_process_counts() {
        let begun =
            "7 execve(\"/bin/cargo\", [\"cargo\"], 0x7 /* 2 vars */) = 0\n8 +++ exited with 1 +++\n7 +++ ex";
        assert_eq!(code(begun), None);
        assert_eq!(code(&format!("{begun}ited with 101 +++\n")), Some(101));
        assert_eq!(code("7 execve(\n7 +++ killed by SIGKILL +++\n"), Some(-1));
        assert_eq!(code(""), None);
        let mut text = begun.as_bytes().to_vec();
        keep_what_counts(&mut text);
        let kept = String::from_utf8(text).unwrap();
        assert!(
            kept.starts_with("7 execve") && kept.ends_with("\n7 +++ ex") && !kept.contains('8'),
            "{kept}"
        );
    }

    #[test]
    fn a_build_that_leaves_a_process_has_ended_all_the_same() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 >/dev/null 2>&1 & echo output >&2; exit 3"]);
        let begun = Instant::now();
        let traced = run(&command).unwrap();
        assert_eq!((traced.code, traced.output.as_str()), (3, "output\n"));
        assert!(begun.elapsed() < Duration::from_secs(50));
    }
}
