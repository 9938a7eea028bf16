//! Waiting for a tool no longer than it may take, and collecting what it prints meanwhile.

use std::io::{self, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How a tool ended, and what it had printed by then.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) end: End,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// How a tool ended.
#[derive(Debug)]
pub(super) enum End {
    Exited(ExitStatus),
    /// It ran longer than it may, and was killed.
    Stopped,
}

/// Waits for `child`, and kills it after `limit`. Its standard output and error have to be pipes.
pub(super) fn finish(mut child: Child, limit: Option<Duration>) -> io::Result<Finished> {
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let stdout = Printed::collect(child.stdout.take());
    let stderr = Printed::collect(child.stderr.take());
    // Whatever still runs after the pipes are closed has ended or is about to.
    let end = match stdout.wait(deadline) && stderr.wait(deadline) {
        true => exit(&mut child, deadline)?,
        false => stop(&mut child)?,
    };
    Ok(Finished { end, stdout: stdout.taken(), stderr: stderr.taken() })
}

fn exit(child: &mut Child, deadline: Option<Instant>) -> io::Result<End> {
    const LONGEST_PAUSE: Duration = Duration::from_millis(50);
    let Some(deadline) = deadline else { return child.wait().map(End::Exited) };
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status));
        }
        if Instant::now() >= deadline {
            return stop(child);
        }
        thread::sleep(pause);
        pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
    }
}

fn stop(child: &mut Child) -> io::Result<End> {
    // One that ended this very moment cannot be killed, and was in time.
    if let Some(status) = child.try_wait()? {
        return Ok(End::Exited(status));
    }
    child.kill()?;
    child.wait()?;
    Ok(End::Stopped)
}

/// What comes out of a pipe.
struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Is disconnected at the end of the pipe.
    end: Receiver<()>,
}

impl Printed {
    /// A thread reads to the end. It is not joined: a process that a killed tool had started may keep the pipe open.
    fn collect(pipe: Option<impl Read + Send + 'static>) -> Printed {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (still_open, end) = mpsc::channel();
        let collected = Arc::clone(&bytes);
        if let Some(pipe) = pipe {
            thread::spawn(move || {
                read_to_end(pipe, &collected);
                drop(still_open);
            });
        }
        Printed { bytes, end }
    }

    /// Waits for the end of the pipe; whether it came in time.
    fn wait(&self, deadline: Option<Instant>) -> bool {
        let Some(deadline) = deadline else { return self.end.recv().is_err() };
        let left = deadline.saturating_duration_since(Instant::now());
        self.end.recv_timeout(left) == Err(RecvTimeoutError::Disconnected)
    }

    fn taken(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// So much of what a tool prints is kept, in bytes: one that prints for ever must not take all memory.
const MOST_KEPT: usize = 16 << 20;

fn read_to_end(mut pipe: impl Read, collected: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 16 << 10];
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
                let kept = count.min(MOST_KEPT.saturating_sub(collected.len()));
                collected.extend_from_slice(buffer.get(..kept).unwrap_or_default());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn shell(script: &str, limit: Option<Duration>) -> Finished {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().unwrap(), limit).unwrap()
    }

    #[test]
    fn all_that_is_printed_is_collected() {
        for limit in [None, Some(Duration::from_secs(600))] {
            let finished = shell("head -c 300000 /dev/zero; echo bad >&2; exit 3", limit);
            assert!(matches!(finished.end, End::Exited(status) if status.code() == Some(3)));
            assert_eq!(finished.stdout.len(), 300_000);
            assert_eq!(finished.stderr, b"bad\n");
        }
    }

    #[test]
    fn a_tool_that_hangs_is_stopped_and_what_it_printed_is_kept() {
        // The first one's child holds the pipes open after the shell is gone; the second closes them before it hangs.
        for script in ["echo first; sleep 600; true", "echo first; exec >&- 2>&-; sleep 600; true"] {
            let before = Instant::now();
            let finished = shell(script, Some(Duration::from_millis(500)));
            assert!(matches!(finished.end, End::Stopped), "{script}: {finished:?}");
            assert_eq!(finished.stdout, b"first\n");
            assert!(before.elapsed() < Duration::from_secs(300), "{script}");
        }
    }
}
