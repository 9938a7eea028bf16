//! The socket: one server listens on it, and only its user may connect.

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

/// The right to listen on a path, kept by a lock until the process ends.
#[derive(Debug)]
pub(super) struct Socket {
    place: Place,
    _lock: File,
}

/// A socket that is open.
#[derive(Debug)]
pub(super) struct Listener(UnixListener);

/// A path, and the open directory that it is in.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    directory: File,
}

/// The longest that a server takes from its lock to its socket, or from the end of its socket to its own.
const CHANGE: Duration = Duration::from_secs(10);
/// A socket's path has 107 bytes at most (<https://man7.org/linux/man-pages/man7/unix.7.html>).
const LONGEST: usize = 100;

impl Socket {
    /// Takes the right to listen on `path`; `None` if another server does.
    ///
    /// # Errors
    /// The directory is not the user's alone, or a server neither listens nor ends.
    pub(super) fn take(path: &Path) -> Result<Option<Socket>, Error> {
        let place = Place::open(path)?;
        let lock_path = place.with(".lock");
        let start = Instant::now();
        loop {
            let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
            let lock = lock.map_err(|error| cannot("open", &lock_path, &error))?;
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    note_owner(&lock).map_err(|error| cannot("write", &lock_path, &error))?;
                    return Ok(Some(Socket { place, _lock: lock }));
                }
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(cannot("lock", &lock_path, &error.into())),
            }
            if Blocking::connect(place.short(path)).is_ok() {
                return Ok(None);
            }
            if start.elapsed() > CHANGE {
                let message = format!("another process holds `{}` and does not listen", lock_path.display());
                return Err(Error::new(message).hint("end that process"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Opens the socket. Under its name it is never open to others.
    ///
    /// # Errors
    /// The system makes none.
    pub(super) fn listen(&self) -> Result<Listener, Error> {
        let new = self.place.with(".new");
        let open = || {
            match fs::remove_file(&new) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let listener = UnixListener::bind(self.place.short(&new))?;
            fs::set_permissions(&new, Permissions::from_mode(0o600))?;
            fs::rename(&new, &self.place.path)?;
            Ok(Listener(listener))
        };
        open().map_err(|error| cannot("listen on", &self.place.path, &error))
    }

    /// Nobody finds the socket any more.
    pub(super) fn remove(&self) {
        // The next server replaces what could not be removed.
        let _ = fs::remove_file(&self.place.path);
    }
}

impl Listener {
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        self.0.accept().await.map(|(stream, _)| stream)
    }

    /// Somebody who has connected and was not accepted yet.
    pub(super) fn waiting(&self) -> Option<UnixStream> {
        match self.0.poll_accept(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok((stream, _))) => Some(stream),
            _ => None,
        }
    }
}

impl Place {
    fn open(path: &Path) -> Result<Place, Error> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let directory = File::open(parent).map_err(|error| cannot("open", parent, &error))?;
        let metadata = directory.metadata().map_err(|error| cannot("open", parent, &error))?;
        if is_private(&metadata) {
            return Ok(Place { path: path.to_path_buf(), directory });
        }
        let message = format!("others may write to `{}`, where the socket would be", parent.display());
        Err(Error::new(message).hint(format!("`chmod go-w {}`, or another directory", parent.display())))
    }

    fn with(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.as_os_str().to_os_string();
        path.push(suffix);
        path.into()
    }

    /// A path of the directory, through the open directory if it is too long for a socket.
    fn short(&self, path: &Path) -> PathBuf {
        match path.file_name() {
            Some(name) if path.as_os_str().len() > LONGEST => {
                Path::new("/proc/self/fd").join(self.directory.as_raw_fd().to_string()).join(name)
            }
            _ => path.to_path_buf(),
        }
    }
}

/// Who finds that this process does not answer can tell which one it is.
fn note_owner(mut lock: &File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.write_all(std::process::id().to_string().as_bytes())
}

/// Many systems make a group for each user, which may write to whatever the user makes.
fn is_private(directory: &fs::Metadata) -> bool {
    let is_ours = directory.uid() == rustix::process::geteuid().as_raw();
    let is_our_group = directory.gid() == rustix::process::getegid().as_raw();
    let allowed = if is_our_group { 0o775 } else { 0o755 };
    is_ours && directory.mode() & 0o777 & !allowed == 0
}

fn cannot(action: &str, path: &Path, error: &io::Error) -> Error {
    Error::new(format!("cannot {action} `{}`: {error}", path.display()))
}
