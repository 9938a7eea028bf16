//! The process beside a build: a Unix socket, and whoever asks through it.

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

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens. The directory belongs to the user, and nobody else may write to it.
    pub socket: PathBuf,
    /// Which server it asks.
    pub settings: Settings,
    /// It ends after this time without a connection.
    pub idle: Duration,
}

/// Threads that wait for the network; files are read by others.
const THREADS: usize = 2;

/// Answers build scripts until none has been there for a while, and everything is stored. If another process listens on
/// the socket already, it ends at once.
///
/// # Errors
/// The socket cannot be made, its directory is open to others, or a credential or certificate cannot be read.
pub fn serve(options: &Options) -> Result<(), Error> {
    let Some(socket) = Socket::take(&options.socket)? else { return Ok(()) };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .map_err(|error| Error::new(format!("cannot start: {error}")))?;
    let served = runtime.block_on(run(socket, options));
    // Nobody waits for what still runs, such as a file that is read.
    runtime.shutdown_background();
    served
}

async fn run(socket: Socket, options: &Options) -> Result<(), Error> {
    let service = Arc::new(Service::new(options.settings.clone())?);
    let listener = socket.listen()?;
    let (open, connections) = watch::channel(());
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(stream) => start(stream, &service, &connections),
                // Too many open files, say: those that are open go on.
                Err(_) => sleep(Duration::from_millis(50)).await,
            },
            () = idle(&open, &service, options.idle) => break,
        }
    }
    // Whoever comes from now on starts another server; who came in the meantime is served.
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
    let (service, is_open) = (Arc::clone(service), connections.clone());
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
