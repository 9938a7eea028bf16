//! Unix socket of the daemon, with a lock so that one daemon listens, and permissions for one user.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as Blocking;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::net::{UnixListener, UnixStream};

use crate::Error;

/// The exclusive right to listen on a path, held by a lock until the process ends.
#[derive(Debug)]
pub(super) struct Socket {
    path: SocketPath,
    _lock: File,
}

/// An open socket.
#[derive(Debug)]
pub(super) struct Listener(UnixListener);

/// The path of a socket, and its open directory.
#[derive(Debug)]
struct SocketPath {
    path: PathBuf,
    directory: File,
}

/// The longest time of a daemon between taking the lock and listening, or between closing the socket and exit.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(10);
/// A socket's path has 107 bytes at most (<https://man7.org/linux/man-pages/man7/unix.7.html>).
const MAX_PATH_LENGTH: usize = 100;

impl Socket {
    /// Takes the lock of `path`; `None` if another daemon listens.
    ///
    /// # Errors
    /// If the directory is writable by others, or another daemon holds the lock and does not listen.
    pub(super) fn take(path: &Path) -> Result<Option<Socket>, Error> {
        let place = SocketPath::open(path)?;
        let lock_path = place.with(".lock");
        let start = Instant::now();
        loop {
            let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
            let lock = lock.map_err(|error| cannot("open", &lock_path, &error))?;
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    note_owner(&lock).map_err(|error| cannot("write", &lock_path, &error))?;
                    return Ok(Some(Socket { path: place, _lock: lock }));
                }
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(cannot("lock", &lock_path, &error.into())),
            }
            if Blocking::connect(place.short(path)).is_ok() {
                return Ok(None);
            }
            if start.elapsed() > HANDOVER_TIMEOUT {
                let message = format!("another process holds `{}` and does not listen", lock_path.display());
                return Err(Error::new(message).hint("end that process"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Opens the socket. It gets its name after its permissions.
    ///
    /// # Errors
    /// If the system call fails.
    pub(super) fn listen(&self) -> Result<Listener, Error> {
        self.bind().map_err(|error| cannot("listen on", &self.path.path, &error))
    }

    fn bind(&self) -> io::Result<Listener> {
        let new = self.path.with(".new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(self.path.short(&new))?;
        fs::set_permissions(&new, Permissions::from_mode(0o600))?;
        fs::rename(&new, &self.path.path)?;
        Ok(Listener(listener))
    }

    /// Removes the name of the socket.
    pub(super) fn remove(&self) {
        // The next daemon replaces a leftover.
        let _ = fs::remove_file(&self.path.path);
    }
}

impl Listener {
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        self.0.accept().await.map(|(stream, _)| stream)
    }

    /// A pending connection, if there is one.
    pub(super) fn waiting(&self) -> Option<UnixStream> {
        match self.0.poll_accept(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok((stream, _))) => Some(stream),
            _ => None,
        }
    }
}

impl SocketPath {
    fn open(path: &Path) -> Result<SocketPath, Error> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = File::open(parent).map_err(|error| cannot("open", parent, &error))?;
        let metadata = directory.metadata().map_err(|error| cannot("open", parent, &error))?;
        if is_private(&metadata) {
            return Ok(SocketPath { path: path.to_path_buf(), directory });
        }
        let message = format!("others may write to `{}`, where the socket would be", parent.display());
        Err(Error::new(message).hint(format!("`chmod go-w {}`, or another directory", parent.display())))
    }

    fn with(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.as_os_str().to_os_string();
        path.push(suffix);
        path.into()
    }

    /// A path through the open directory, if the full one is too long for a socket.
    fn short(&self, path: &Path) -> PathBuf {
        match path.file_name() {
            Some(name) if path.as_os_str().len() > MAX_PATH_LENGTH => {
                Path::new("/proc/self/fd").join(self.directory.as_raw_fd().to_string()).join(name)
            }
            _ => path.to_path_buf(),
        }
    }
}

/// Writes the process id to the lock: clients name it if the daemon hangs.
fn note_owner(mut lock: &File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.write_all(std::process::id().to_string().as_bytes())
}

/// Whether the user alone may write. Many systems have a private group for each user, with write access.
fn is_private(directory: &fs::Metadata) -> bool {
    let is_ours = directory.uid() == rustix::process::geteuid().as_raw();
    let is_our_group = directory.gid() == rustix::process::getegid().as_raw();
    let allowed = if is_our_group { 0o775 } else { 0o755 };
    is_ours && directory.mode() & 0o777 & !allowed == 0
}

fn cannot(action: &str, path: &Path, error: &io::Error) -> Error {
    Error::new(format!("cannot {action} `{}`: {error}", path.display()))
}
