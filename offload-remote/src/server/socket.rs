//! The socket: one server listens on it, and only its user may connect.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as Blocking;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::net::{UnixListener, UnixStream};

use crate::Error;

/// The right to listen on a path, kept by a lock until the process ends.
#[derive(Debug)]
pub(super) struct Socket {
    path: PathBuf,
    _lock: File,
}

/// A socket that is open.
#[derive(Debug)]
pub(super) struct Listener(UnixListener);

/// The longest that a server takes from its lock to its socket, or from the end of its socket to its own.
const CHANGE: Duration = Duration::from_secs(10);

impl Socket {
    /// Takes the right to listen on `path`; `None` if another server does.
    ///
    /// # Errors
    /// The directory is not the user's alone, or a server neither listens nor ends.
    pub(super) fn take(path: &Path) -> Result<Option<Socket>, Error> {
        check_directory(path)?;
        let lock_path = with_suffix(path, ".lock");
        let start = Instant::now();
        loop {
            let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
            let lock = lock.map_err(|error| cannot("open", &lock_path, &error))?;
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Socket { path: path.to_path_buf(), _lock: lock })),
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(cannot("lock", &lock_path, &error.into())),
            }
            if Blocking::connect(path).is_ok() {
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
    /// The system makes none: the path is too long, say.
    pub(super) fn listen(&self) -> Result<Listener, Error> {
        let new = with_suffix(&self.path, ".new");
        let remove = |path: &Path| match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        let open = || {
            remove(&new)?;
            let listener = UnixListener::bind(&new)?;
            fs::set_permissions(&new, Permissions::from_mode(0o600))?;
            fs::rename(&new, &self.path)?;
            Ok(Listener(listener))
        };
        open().map_err(|error| cannot("listen on", &self.path, &error))
    }

    /// Nobody finds the socket any more.
    pub(super) fn remove(&self) {
        // The next server replaces what could not be removed.
        let _ = fs::remove_file(&self.path);
    }
}

impl Listener {
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        self.0.accept().await.map(|(stream, _)| stream)
    }

    /// Somebody who has connected and was not accepted yet.
    pub(super) fn waiting(&self) -> Option<UnixStream> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match self.0.poll_accept(&mut context) {
            std::task::Poll::Ready(Ok((stream, _))) => Some(stream),
            _ => None,
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_os_string();
    path.push(suffix);
    path.into()
}

fn check_directory(path: &Path) -> Result<(), Error> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let metadata = fs::metadata(directory).map_err(|error| cannot("open", directory, &error))?;
    let is_ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if is_ours && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    let message = format!("others may write to `{}`, where the socket would be", directory.display());
    Err(Error::new(message).hint(format!("`chmod 700 {}`, or another directory", directory.display())))
}

fn cannot(action: &str, path: &Path, error: &io::Error) -> Error {
    Error::new(format!("cannot {action} `{}`: {error}", path.display()))
}
