//! Servers on this machine. Each ends when its value is dropped, and with this task, however that ends.

mod buildbox;
mod buildgrid;
mod certificates;
mod namespace;
mod nativelink;
mod nginx;
mod process;
mod proxy;
mod s3;
mod standin;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

pub(super) use self::buildbox::Buildbox;
pub(super) use self::buildgrid::Buildgrid;
pub(super) use self::certificates::Authority;
pub(super) use self::namespace::Namespace;
pub(super) use self::nativelink::Nativelink;
pub(super) use self::nginx::{Nginx, Serves};
pub(super) use self::process::{Process, bound};
pub(super) use self::proxy::{Cut, Proxy};
pub(super) use self::s3::S3;
pub(super) use self::standin::Standin;
use offload_tests::error::{Error, Result};

/// A server that has not answered by then has not started.
const START: Duration = Duration::from_secs(20);

/// The name of the part of a server that serves, where servers have several.
pub(super) const INSTANCE: &str = "main";

/// A free address.
fn free_address() -> Result<SocketAddr> {
    // The port stays free for a while: the system hands out others first.
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?)
}

/// Waits until `process` listens.
fn wait_for(address: SocketAddr, process: &mut Process) -> Result<()> {
    let begun = Instant::now();
    while TcpStream::connect(address).is_err() {
        if let Some(status) = process.ended()? {
            return Err(Error::new(format!("`{}` has ended: {status}", process.name())));
        }
        if begun.elapsed() > START {
            return Err(Error::new(format!("`{}` does not listen on {address}", process.name())));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
