//! The client daemon, loaded with the requests of build scripts.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::super::machine::Machine;
use super::super::servers::{Process, Standin, bound};
use offload_protocol::remote::{Action, Input, Reply, Request, Source};
use offload_tests::error::{Error, Result};

/// A running client daemon.
#[derive(Debug)]
pub(super) struct Client {
    process: Process,
    socket: PathBuf,
    _dir: tempfile::TempDir,
}

/// The cost of a load.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) time: Duration,
    pub(super) executed: usize,
    /// Why the first that was not executed was not.
    pub(super) declined: String,
    /// Seconds of processors that the client took.
    pub(super) processors: f64,
    /// The most memory that it had, in bytes.
    pub(super) memory: u64,
}

/// The timeout of the start.
const START: Duration = Duration::from_secs(10);

impl Client {
    pub(super) fn start(machine: &Machine<'_>, standin: &Standin, jobs: usize) -> Result<Client> {
        let dir = tempfile::tempdir()?;
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700))?;
        let socket = dir.path().join("socket");
        let settings = format!("url = \"{}\"\nexecute = true\njobs = {jobs}\n", standin.url());
        let mut command = bound(&machine.tool);
        command.args(["offload", "remote-server", "--socket"]).arg(&socket).args(["--settings", &settings]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut process = Process::start(command)?;
        let begun = Instant::now();
        while UnixStream::connect(&socket).is_err() {
            if process.ended()?.is_some() || begun.elapsed() > START {
                return Err(Error::new("`cargo-offload` does not listen"));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(Client { process, socket, _dir: dir })
    }

    /// Has `actions` executed, as many at a time as there are workers.
    pub(super) fn run(&self, workers: usize, actions: usize) -> Result<Load> {
        let queue = ActionQueue { next: AtomicUsize::new(0), count: actions, executed: AtomicUsize::new(0) };
        let before = self.processors()?;
        let begun = Instant::now();
        let ended: Vec<Result<String>> = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..workers).map(|_| scope.spawn(|| queue.execute_all(&self.socket))).collect();
            let ended = threads.into_iter().map(|thread| thread.join());
            ended.map(|ended| ended.unwrap_or_else(|_| Err(Error::new("a thread panicked")))).collect()
        });
        let time = begun.elapsed();
        let declined: Vec<String> = ended.into_iter().collect::<Result<_>>()?;
        Ok(Load {
            time,
            executed: queue.executed.into_inner(),
            declined: declined.into_iter().find(|reason| !reason.is_empty()).unwrap_or_default(),
            processors: self.processors()? - before,
            memory: self.memory()?,
        })
    }

    /// Seconds of processors that it took so far (<https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>).
    fn processors(&self) -> Result<f64> {
        /// `sysconf(_SC_CLK_TCK)` on every Linux.
        const TICKS: f64 = 100.0;
        let text = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace());
        let times = fields.map(|fields| fields.skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()));
        Ok(times.map_or(f64::NAN, Iterator::sum) / TICKS)
    }

    fn memory(&self) -> Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        kibibytes.map(|it| it << 10).ok_or_else(|| Error::new("the system does not tell a process's memory"))
    }
}

/// The actions of a load, which threads take one after another.
struct ActionQueue {
    next: AtomicUsize,
    count: usize,
    executed: AtomicUsize,
}

impl ActionQueue {
    /// Executes actions until none is left; returns the last reason for a declined one.
    fn execute_all(&self, socket: &Path) -> Result<String> {
        let mut stream = UnixStream::connect(socket)?;
        let mut declined = String::new();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.count {
                return Ok(declined);
            }
            match reply(&mut stream, &Request::Execute(action(number)))? {
                Reply::Executed { executed, .. }
                    if executed.exit_code == 0 && executed.outputs.len() == 1 =>
                {
                    self.executed.fetch_add(1, Ordering::Relaxed);
                }
                Reply::Declined { reason } if !reason.is_empty() => declined = reason,
                _ => {}
            }
        }
    }
}

/// A unique action.
fn action(number: usize) -> Action {
    let text = format!("input {number}\n");
    Action {
        arguments: ["/bin/cp", "in", "out"].map(String::from).into(),
        variables: Vec::new(),
        directory: String::new(),
        inputs: vec![Input { path: "in".to_string(), source: Source::Bytes(text.into_bytes()) }],
        outputs: vec!["out".to_string()],
        programs: Vec::new(),
        seconds: 60,
    }
}

fn reply(stream: &mut UnixStream, request: &Request) -> Result<Reply> {
    let message = request.to_bytes();
    stream.write_all(&(message.len() as u64).to_le_bytes())?;
    stream.write_all(&message)?;
    let mut size = [0; 8];
    stream.read_exact(&mut size)?;
    let mut bytes = Vec::new();
    stream.take(u64::from_le_bytes(size)).read_to_end(&mut bytes)?;
    Reply::from_bytes(&bytes).map_err(|error| io::Error::other(error).into())
}
