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
        let limit = longest.unwrap_or_default().checked_add(LONGEST_REPLY);
        stream.set_read_timeout(limit)?;
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
        (&mut stream).take(size).read_to_end(&mut reply)?;
        let reply = Reply::from_bytes(&reply).map_err(io::Error::other)?;
        self.idle().push(stream);
        Ok(reply)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<UnixStream>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
}

/// `cargo-offload`.
pub(super) fn program(context: &Context) -> Result<PathBuf> {
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
