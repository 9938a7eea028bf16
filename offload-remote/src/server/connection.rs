//! Connection of a build script: length-prefixed requests and replies until it closes.

use std::io;
use std::time::Duration;

use offload_protocol::remote::{MAX_MESSAGE, Reply, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::time::sleep;

use super::service::Service;

/// The interval of checks for a closed connection.
const CLOSE_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Serves requests in order. A malformed message closes the connection.
pub(super) async fn serve(mut stream: UnixStream, service: &Service) {
    let is_ours =
        stream.peer_cred().is_ok_and(|credentials| credentials.uid() == rustix::process::geteuid().as_raw());
    if !is_ours {
        return;
    }
    while let Ok(message) = read(&mut stream).await {
        let Ok(request) = Request::from_bytes(&message) else { return };
        drop(message);
        let reply = tokio::select! {
            reply = service.reply(request) => reply,
            () = closed(&stream) => return,
        };
        if write(&mut stream, &reply).await.is_err() {
            return;
        }
    }
}

async fn read(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let size = stream.read_u64_le().await?;
    if size > MAX_MESSAGE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Grows with the bytes received: the size is untrusted.
    let mut message = Vec::new();
    let read = stream.take(size).read_to_end(&mut message).await?;
    if read as u64 == size { Ok(message) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

async fn write(stream: &mut UnixStream, reply: &Reply) -> io::Result<()> {
    let message = reply.to_bytes();
    stream.write_u64_le(message.len() as u64).await?;
    stream.write_all(&message).await
}

/// Waits until the peer has closed the connection. A peer that has shut down its writing half still waits for a reply.
async fn closed(stream: &UnixStream) {
    loop {
        sleep(CLOSE_POLL_INTERVAL).await;
        let ready = stream.ready(Interest::READABLE | Interest::WRITABLE).await;
        if ready.map_or(true, |ready| ready.is_write_closed()) {
            return;
        }
    }
}
