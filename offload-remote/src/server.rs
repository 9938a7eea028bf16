//! The daemon beside a build, which serves build scripts through a Unix socket.

mod connection;
mod service;
mod socket;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::sleep;

use self::service::Service;
use self::socket::Socket;
use crate::{Error, Settings};

/// Options of [`serve`].
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The path of the socket. Its directory must be writable by the user alone.
    pub socket: PathBuf,
    /// The settings of the remote server.
    pub settings: Settings,
    /// The daemon exits after this time without a connection.
    pub idle: Duration,
}

/// Threads for the network; files are read on blocking threads.
const THREADS: usize = 2;

/// Serves build scripts until the daemon is idle and all uploads are done. Returns at once if another process listens on the
/// socket.
///
/// # Errors
/// If the socket cannot be created, its directory is writable by others, or a credential or certificate cannot be read.
pub fn serve(options: &ServeOptions) -> Result<(), Error> {
    let Some(socket) = Socket::take(&options.socket)? else { return Ok(()) };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|error| Error::new(format!("cannot start: {error}")))?;
    let served = runtime.block_on(run(socket, options));
    // Blocking tasks, such as reads of files, are abandoned.
    runtime.shutdown_background();
    served
}

async fn run(socket: Socket, options: &ServeOptions) -> Result<(), Error> {
    let service = Arc::new(Service::new(options.settings.clone())?);
    let listener = socket.listen()?;
    let (open, connections) = watch::channel(());
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(stream) => start(stream, &service, &connections),
                // Too many open files, for example: open connections go on.
                Err(_) => sleep(Duration::from_millis(50)).await,
            },
            () = idle(&open, &service, options.idle) => break,
        }
    }
    // New clients start another daemon; clients that have already connected are served.
    socket.remove();
    while let Some(stream) = listener.waiting() {
        start(stream, &service, &connections);
    }
    drop(connections);
    open.closed().await;
    service.finish().await;
    Ok(())
}

fn start(stream: UnixStream, service: &Arc<Service>, connections: &watch::Receiver<()>) {
    let service = Arc::clone(service);
    let is_open = connections.clone();
    tokio::spawn(async move {
        connection::serve(stream, &service).await;
        drop(is_open);
    });
}

/// Ends when there has been no connection for `time`, and nothing is left to store.
async fn idle(open: &watch::Sender<()>, service: &Service, time: Duration) {
    let step = (time / 20).max(Duration::from_millis(1));
    let mut quiet = Duration::ZERO;
    while quiet < time {
        sleep(step).await;
        // One receiver is that of the loop.
        let is_quiet = open.receiver_count() <= 1 && service.is_idle();
        quiet = if is_quiet { quiet.saturating_add(step) } else { Duration::ZERO };
    }
}

#[cfg(test)]
mod tests;
