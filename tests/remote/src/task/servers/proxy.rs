//! Proxy between client and server that can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::free_address;
use offload_tests::error::Result;

/// The kind of cut, after a number of bytes in both directions together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Cut {
    /// Connections end, and new ones end at once.
    Closed(u64),
    /// Connections stay open, and nothing goes through.
    Silent(u64),
}

/// A running proxy.
#[derive(Debug)]
pub(in super::super) struct Proxy {
    address: SocketAddr,
    state: Arc<ProxyState>,
}

#[derive(Debug)]
struct ProxyState {
    cut: Cut,
    server: SocketAddr,
    passed: AtomicU64,
    ended: AtomicBool,
}

/// The interval at which a silent connection checks for the end of the proxy.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

impl Proxy {
    /// Starts before `server`.
    pub(in super::super) fn start(server: SocketAddr, cut: Cut) -> Result<Proxy> {
        let listener = TcpListener::bind(free_address()?)?;
        let address = listener.local_addr()?;
        let passed = AtomicU64::new(0);
        let ended = AtomicBool::new(false);
        let state = Arc::new(ProxyState { cut, server, passed, ended });
        let of_thread = Arc::clone(&state);
        thread::spawn(move || accept(&listener, &of_thread));
        Ok(Proxy { address, state })
    }

    pub(in super::super) fn url(&self) -> String {
        format!("grpc://{}", self.address)
    }

    /// Whether it is cut.
    pub(in super::super) fn is_cut(&self) -> bool {
        self.state.is_closed() || self.state.is_silent()
    }

    /// The bytes that went through.
    pub(in super::super) fn passed(&self) -> u64 {
        self.state.passed.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        // The thread that accepts looks once more.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, state: &Arc<ProxyState>) {
    for client in listener.incoming().flatten() {
        if state.ended.load(Ordering::Relaxed) {
            return;
        }
        let state = Arc::clone(state);
        thread::spawn(move || connect(&client, &state));
    }
}

fn connect(client: &TcpStream, state: &Arc<ProxyState>) {
    if state.is_closed() {
        let _ = client.shutdown(Shutdown::Both);
        return;
    }
    let Ok(server) = TcpStream::connect(state.server) else { return };
    let ends = client.try_clone().and_then(|client| Ok((client, server.try_clone()?)));
    let Ok((client_too, server_too)) = ends else { return };
    let of_thread = Arc::clone(state);
    let back = thread::spawn(move || pass(&server_too, &client_too, &of_thread));
    pass(client, &server, state);
    let _ = back.join();
}

/// Hands on what comes, until an end or the cut.
fn pass(mut from: &TcpStream, mut to: &TcpStream, state: &ProxyState) {
    let mut buffer = vec![0; 1 << 14];
    while let Ok(size @ 1..) = from.read(&mut buffer) {
        state.passed.fetch_add(size as u64, Ordering::Relaxed);
        if state.is_closed() {
            break;
        }
        while state.is_silent() {
            if state.ended.load(Ordering::Relaxed) {
                return;
            }
            thread::sleep(POLL_INTERVAL);
        }
        if to.write_all(buffer.get(..size).unwrap_or_default()).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

impl ProxyState {
    fn is_closed(&self) -> bool {
        matches!(self.cut, Cut::Closed(after) if self.passed.load(Ordering::Relaxed) > after)
    }

    fn is_silent(&self) -> bool {
        matches!(self.cut, Cut::Silent(after) if self.passed.load(Ordering::Relaxed) > after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes back of two bytes, sent one after the other to a server that sends back what it gets.
    fn echoed(cut: Cut) -> Vec<u8> {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy::start(server.local_addr().unwrap(), cut).unwrap();
        thread::spawn(move || {
            let (stream, _) = server.accept().unwrap();
            let _ = std::io::copy(&mut &stream, &mut &stream);
        });
        let mut client = TcpStream::connect(proxy.address).unwrap();
        client.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut found = Vec::new();
        for byte in [1, 2] {
            let mut back = [0];
            let _ = client.write_all(&[byte]);
            if matches!(client.read(&mut back), Ok(1)) {
                found.push(back[0]);
            }
        }
        found
    }

    #[test]
    fn what_is_not_cut_goes_through() {
        assert_eq!(echoed(Cut::Closed(9)), [1, 2]);
        assert_eq!(echoed(Cut::Closed(2)), [1]);
        assert_eq!(echoed(Cut::Silent(2)), [1]);
    }
}
