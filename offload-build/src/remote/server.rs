//! Client daemon: start, connection, requests.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use offload_format::Hash128;
use offload_protocol::remote::{MAX_MESSAGE, Reply, Request};
use offload_protocol::variable;

use super::settings::RemoteSettings;
use crate::error::{Error, Result};
use crate::tool::{Context, Server as Program};

/// A daemon that listens on a socket in the compile cache. All build scripts with the same settings share it.
#[derive(Debug)]
pub(super) struct Server {
    socket: Socket,
    /// Idle connections.
    idle: Mutex<Vec<UnixStream>>,
}

/// The timeout of requests other than executions; those of the daemon are shorter.
const REPLY_TIMEOUT: Duration = Duration::from_secs(180);
/// [`Socket::liveness_timeout`] of every daemon.
const LIVENESS_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest time from start to listening.
const START_TIMEOUT: Duration = Duration::from_secs(10);

impl Server {
    /// Connects to a running daemon, or starts one.
    ///
    /// # Errors
    /// If there is no `cargo-offload`, or it exits at once; the message has its output.
    pub(super) fn start(context: &Context, settings: &RemoteSettings) -> Result<Server> {
        let program = program(context)?;
        let socket = Socket::new(context.cache.dir(), &program, settings)?;
        if let Ok(stream) = socket.connect() {
            return Ok(Server { socket, idle: Mutex::new(vec![stream]) });
        }
        let log = socket.directory.join(format!("{}.log", socket.name));
        let path = socket.directory.join(&socket.name);
        let args = ["offload".into(), "remote-server".into(), "--socket".into(), path.into_os_string()];
        let args = args.into_iter().chain(["--settings".into(), settings.to_toml().into()]).collect();
        let mut process = Program { program: &program, args, log: &log }.start()?;
        let begun = Instant::now();
        loop {
            if let Ok(stream) = socket.connect() {
                return Ok(Server { socket, idle: Mutex::new(vec![stream]) });
            }
            let ended = process.try_wait().ok().flatten();
            // It exits successfully if another build script's daemon was first.
            if ended.is_some_and(|status| !status.success()) || begun.elapsed() > START_TIMEOUT {
                let log = std::fs::read_to_string(&log).unwrap_or_default();
                let log = log.trim().trim_start_matches("error: ");
                let reason = if log.is_empty() { "it does not listen" } else { log };
                return Err(Error::new(format!("`{}` does not start: {reason}", program.display())));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends `request`, and waits for the reply; an execution may take `longest`.
    ///
    /// # Errors
    /// If the daemon has exited or does not reply.
    pub(super) fn ask(&self, request: &Request, longest: Option<Duration>) -> io::Result<Reply> {
        let mut stream = match self.idle().pop() {
            Some(stream) => stream,
            None => self.socket.connect()?,
        };
        let deadline = longest
            .unwrap_or_default()
            .checked_add(REPLY_TIMEOUT)
            .and_then(|limit| Instant::now().checked_add(limit));
        stream.set_read_timeout(Some(self.socket.liveness_timeout))?;
        stream.set_write_timeout(Some(self.socket.liveness_timeout))?;
        let reply = exchange(&mut Patient { stream: &mut stream, socket: &self.socket, deadline }, request)?;
        self.idle().push(stream);
        Ok(reply)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<UnixStream>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends `request`, and reads the reply.
fn exchange(stream: &mut (impl Read + Write), request: &Request) -> io::Result<Reply> {
    let message = request.to_bytes();
    stream.write_all(&(message.len() as u64).to_le_bytes())?;
    stream.write_all(&message)?;
    let mut size = [0; 8];
    stream.read_exact(&mut size)?;
    let size = u64::from_le_bytes(size);
    if size > MAX_MESSAGE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the reply is too long"));
    }
    let mut reply = Vec::new();
    stream.take(size).read_to_end(&mut reply)?;
    Reply::from_bytes(&reply).map_err(io::Error::other)
}

/// A connection that waits for a reply while the daemon is alive.
struct Patient<'a> {
    stream: &'a mut UnixStream,
    socket: &'a Socket,
    deadline: Option<Instant>,
}

impl Patient<'_> {
    /// Repeats `step` while it times out and the daemon is alive.
    fn retry_while_alive<T>(
        &mut self,
        mut step: impl FnMut(&mut UnixStream) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match step(self.stream) {
                Err(error) if is_timeout(&error) => self.check()?,
                done => return done,
            }
        }
    }

    fn check(&self) -> io::Result<()> {
        let daemon = self.socket.describe_daemon();
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("{daemon} gives no reply")));
        }
        if !self.socket.is_alive() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("{daemon} was stopped, or hangs")));
        }
        Ok(())
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.retry_while_alive(|stream| stream.read(buffer))
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry_while_alive(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Whether the error is the timeout of a socket.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// The socket of a daemon.
#[derive(Debug)]
struct Socket {
    directory: PathBuf,
    /// The open directory, which gives the socket a short path.
    open: File,
    name: String,
    /// The time without a byte until a liveness check, and the timeout of the check.
    liveness_timeout: Duration,
}

impl Socket {
    fn new(directory: &Path, program: &Path, settings: &RemoteSettings) -> Result<Socket> {
        let open = File::open(directory).map_err(|error| Error::io("open", directory, error))?;
        let identity = format!("{}\0{}", program.display(), settings.to_toml());
        let name = format!("remote-{}.sock", Hash128::digest(identity.as_bytes()));
        Ok(Socket { directory: directory.to_path_buf(), open, name, liveness_timeout: LIVENESS_TIMEOUT })
    }

    /// Connects by a path of at most 107 bytes, the limit of sockets
    /// (<https://man7.org/linux/man-pages/man7/unix.7.html>).
    fn connect(&self) -> io::Result<UnixStream> {
        let full = self.directory.join(&self.name);
        if full.as_os_str().len() < 100 {
            return UnixStream::connect(full);
        }
        UnixStream::connect(format!("/proc/self/fd/{}/{}", self.open.as_raw_fd(), self.name))
    }

    /// Whether the daemon replies in time. An exited one counts as alive here: its closed connection is a better error.
    fn is_alive(&self) -> bool {
        !self.ping().is_err_and(|error| is_timeout(&error))
    }

    fn ping(&self) -> io::Result<Reply> {
        let mut stream = self.connect()?;
        stream.set_read_timeout(Some(self.liveness_timeout))?;
        stream.set_write_timeout(Some(self.liveness_timeout))?;
        exchange(&mut stream, &Request::Alive)
    }

    /// The daemon with the process id in its lock.
    fn describe_daemon(&self) -> String {
        let lock = self.directory.join(format!("{}.lock", self.name));
        let number = std::fs::read_to_string(lock).ok().and_then(|text| text.trim().parse::<u32>().ok());
        match number {
            Some(number) => format!("process {number} (`cargo-offload offload remote-server`)"),
            None => "the process `cargo-offload offload remote-server`".to_string(),
        }
    }
}

/// The path of `cargo-offload`.
fn program(context: &Context) -> Result<PathBuf> {
    let env = &context.env;
    if let Some(path) = env.setting(variable::CARGO_OFFLOAD) {
        return Ok(env.manifest_dir.join(path));
    }
    for directory in env.search_path() {
        let path = directory.join("cargo-offload");
        if path.is_file() {
            return Ok(path);
        }
    }
    Err(Error::new("`cargo-offload` is not in PATH")
        .with_hint("cargo install cargo-offload --features remote"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn server(directory: &Path, liveness_timeout: Duration) -> Server {
        let directory = directory.to_path_buf();
        let open = File::open(&directory).unwrap();
        let socket = Socket { directory, open, name: "s.sock".into(), liveness_timeout };
        Server { socket, idle: Mutex::default() }
    }

    fn answer(stream: &mut UnixStream, reply: &Reply) {
        let bytes = reply.to_bytes();
        stream.write_all(&(bytes.len() as u64).to_le_bytes()).unwrap();
        stream.write_all(&bytes).unwrap();
    }

    fn request(stream: &mut UnixStream) -> Request {
        let mut size = [0; 8];
        stream.read_exact(&mut size).unwrap();
        let mut bytes = vec![0; usize::try_from(u64::from_le_bytes(size)).unwrap()];
        stream.read_exact(&mut bytes).unwrap();
        Request::from_bytes(&bytes).unwrap()
    }

    #[test]
    fn a_process_that_does_nothing_is_named_after_a_while() {
        let directory = tempfile::tempdir().unwrap();
        // The system takes connections for it, as for a process that was stopped.
        let _listener = UnixListener::bind(directory.path().join("s.sock")).unwrap();
        std::fs::write(directory.path().join("s.sock.lock"), "4711").unwrap();
        let timeout = Duration::from_millis(500);
        let server = server(directory.path(), timeout);
        let start = Instant::now();
        // Longer than what the system keeps of a message.
        let put = Request::Put { key: Hash128([1; 16]), stored: vec![0; 8 << 20] };
        for request in [Request::Get { key: Hash128([1; 16]) }, put] {
            let error = server.ask(&request, Some(Duration::from_secs(3600))).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!(error.to_string().contains("process 4711"), "{error}");
        }
        // Far from the hour of the request, also on a machine that does other work.
        assert!(start.elapsed() < 120 * timeout, "{:?}", start.elapsed());
    }

    #[test]
    fn a_reply_may_take_longer_where_the_process_runs() {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("s.sock")).unwrap();
        let process = thread::spawn(move || {
            let (mut first, _) = listener.accept().unwrap();
            let asked = request(&mut first);
            let (mut second, _) = listener.accept().unwrap();
            assert_eq!(request(&mut second), Request::Alive);
            answer(&mut second, &Reply::Accepted);
            answer(&mut first, &Reply::Found(vec![7]));
            asked
        });
        let get = Request::Get { key: Hash128([1; 16]) };
        assert_eq!(
            server(directory.path(), Duration::from_secs(2)).ask(&get, None).unwrap(),
            Reply::Found(vec![7])
        );
        assert_eq!(process.join().unwrap(), get);
    }
}
