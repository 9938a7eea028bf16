//! The process that reaches other machines: starting it as compilers are started, and asking it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use offload_format::Hash128;
use offload_format::remote::{MAX_MESSAGE, Reply, Request};
use offload_format::variable;

use super::settings::RemoteSettings;
use crate::error::{Error, Result};
use crate::tool::{Context, Server as Program};

/// A process that listens on a socket in the compile cache. All build scripts with the same settings share it.
#[derive(Debug)]
pub(super) struct Server {
    socket: Socket,
    /// Connections that wait for a request.
    idle: Mutex<Vec<UnixStream>>,
}

/// Longer than any reply but that of a command takes: the process has limits of its own, which come first.
const LONGEST_REPLY: Duration = Duration::from_secs(180);
/// After so long without a byte the process is asked whether it runs at all, and has as long to say so.
const SILENCE: Duration = Duration::from_secs(5);
/// A process that was just started listens after so long at most.
const LONGEST_START: Duration = Duration::from_secs(10);

impl Server {
    /// The process that listens already, or a new one.
    ///
    /// # Errors
    /// If there is no `cargo-offload`, or it ends at once; the message has what it printed.
    pub(super) fn start(context: &Context, settings: &RemoteSettings) -> Result<Server> {
        let program = program(context)?;
        let socket = Socket::of(context.cache.dir(), &program, settings)?;
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
            // Another build script's process may have been first: then this one ended well.
            if ended.is_some_and(|status| !status.success()) || begun.elapsed() > LONGEST_START {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                let said = said.trim().trim_start_matches("error: ");
                let said = if said.is_empty() { "it does not listen" } else { said };
                return Err(Error::new(format!("`{}` does not start: {said}", program.display())));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The reply to `request`; a command of it may run for `longest`.
    ///
    /// # Errors
    /// If the process is gone or does not answer.
    pub(super) fn ask(&self, request: &Request, longest: Option<Duration>) -> io::Result<Reply> {
        let mut stream = match self.idle().pop() {
            Some(stream) => stream,
            None => self.socket.connect()?,
        };
        let deadline = longest
            .unwrap_or_default()
            .checked_add(LONGEST_REPLY)
            .and_then(|limit| Instant::now().checked_add(limit));
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        let reply = exchange(&mut Patient { stream: &mut stream, socket: &self.socket, deadline }, request)?;
        self.idle().push(stream);
        Ok(reply)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<UnixStream>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends `request`, and takes the reply.
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

/// A connection on which a reply may take long, as long as the process runs at all.
struct Patient<'a> {
    stream: &'a mut UnixStream,
    socket: &'a Socket,
    deadline: Option<Instant>,
}

impl Patient<'_> {
    /// Repeats `step` while nothing comes and the process runs.
    fn patiently<T>(&mut self, mut step: impl FnMut(&mut UnixStream) -> io::Result<T>) -> io::Result<T> {
        loop {
            match step(self.stream) {
                Err(error) if is_silence(&error) => self.check()?,
                done => return done,
            }
        }
    }

    fn check(&self) -> io::Result<()> {
        let late = |text: String| Err(io::Error::new(io::ErrorKind::TimedOut, text));
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return late(format!("{} gives no reply", self.socket.shown()));
        }
        match self.socket.is_alive() {
            true => Ok(()),
            false => late(format!("{} was stopped, or hangs", self.socket.shown())),
        }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.patiently(|stream| stream.read(buffer))
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// What a socket says whose limit of time is over.
fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Where a process listens.
#[derive(Debug)]
struct Socket {
    directory: PathBuf,
    /// Keeps the directory open, so that it has a short name.
    open: File,
    name: String,
}

impl Socket {
    fn of(directory: &Path, program: &Path, settings: &RemoteSettings) -> Result<Socket> {
        let open = File::open(directory).map_err(|error| Error::io("open", directory, error))?;
        let who = format!("{}\0{}", program.display(), settings.to_toml());
        let name = format!("remote-{}.sock", Hash128::of(who.as_bytes()));
        Ok(Socket { directory: directory.to_path_buf(), open, name })
    }

    /// The path of a socket has 107 bytes at most; those of caches may be longer
    /// (<https://man7.org/linux/man-pages/man7/unix.7.html>).
    fn connect(&self) -> io::Result<UnixStream> {
        let full = self.directory.join(&self.name);
        match full.as_os_str().len() < 100 {
            true => UnixStream::connect(full),
            false => UnixStream::connect(format!("/proc/self/fd/{}/{}", self.open.as_raw_fd(), self.name)),
        }
    }

    /// Whether the process answers a question that takes it no time. One that is gone ends the connection, which tells more.
    fn is_alive(&self) -> bool {
        let ask = || {
            let mut stream = self.connect()?;
            stream.set_read_timeout(Some(SILENCE))?;
            stream.set_write_timeout(Some(SILENCE))?;
            exchange(&mut stream, &Request::Alive)
        };
        !ask().is_err_and(|error: io::Error| is_silence(&error))
    }

    /// The process, by the number that it has left in its lock.
    fn shown(&self) -> String {
        let lock = self.directory.join(format!("{}.lock", self.name));
        let number = std::fs::read_to_string(lock).ok().and_then(|text| text.trim().parse::<u32>().ok());
        match number {
            Some(number) => format!("process {number} (`cargo-offload offload remote-server`)"),
            None => "the process `cargo-offload offload remote-server`".to_string(),
        }
    }
}

/// `cargo-offload`.
fn program(context: &Context) -> Result<PathBuf> {
    let env = &context.env;
    let named = env.setting(variable::CARGO_OFFLOAD).map(|path| env.manifest_dir.join(path));
    let installed = || {
        let mut found = env.search_path().into_iter().map(|dir| dir.join("cargo-offload"));
        found.find(|path| path.is_file())
    };
    named.or_else(installed).ok_or_else(|| {
        Error::new("`cargo-offload` is not in PATH")
            .with_hint("cargo install cargo-offload --features remote")
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn server(directory: &Path) -> Server {
        let open = File::open(directory).unwrap();
        let socket = Socket { directory: directory.to_path_buf(), open, name: "s.sock".into() };
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
        let server = server(directory.path());
        let start = Instant::now();
        // Longer than what the system keeps of a message.
        let put = Request::Put { key: Hash128([1; 16]), stored: vec![0; 8 << 20] };
        for request in [Request::Get { key: Hash128([1; 16]) }, put] {
            let error = server.ask(&request, Some(Duration::from_secs(3600))).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!(error.to_string().contains("process 4711"), "{error}");
        }
        assert!(start.elapsed() < 6 * SILENCE, "{:?}", start.elapsed());
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
        assert_eq!(server(directory.path()).ask(&get, None).unwrap(), Reply::Found(vec![7]));
        assert_eq!(process.join().unwrap(), get);
    }
}
