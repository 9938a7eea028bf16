//! A server of the Remote Execution API that keeps everything in memory, and does what it should not on request.

mod actions;
mod capabilities;
mod cas;
mod counts;
mod execution;
mod fault;
mod run;
mod streams;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStreamServer;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tonic::Status;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

pub use self::counts::{Call, Counts};
pub use self::fault::Fault;
use crate::api::action_cache_server::ActionCacheServer;
use crate::api::capabilities_server::CapabilitiesServer;
use crate::api::content_addressable_storage_server::ContentAddressableStorageServer;
use crate::api::execution_server::ExecutionServer;
use crate::api::{ActionResult, Digest};
use crate::blobs;

/// The most bytes of a message that is taken: the protocol's batches have 4 MiB, and names beside them.
const MAX_MESSAGE: usize = 64 << 20;

/// The work of a worker for an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Runs its command in a directory of its own.
    Run,
    /// Waits, and answers with outputs that name themselves.
    Sleep(Duration),
}

/// Options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The only name that it answers to.
    pub instance: String,
    /// The number of concurrent actions.
    pub slots: usize,
    /// The work of the workers.
    pub work: Work,
}

/// The server.
#[derive(Clone, Debug)]
pub struct Standin(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: Options,
    slots: Semaphore,
    store: Mutex<Store>,
    faults: Mutex<Vec<Fault>>,
    counts: Mutex<Counts>,
}

/// The action cache and the content-addressed storage.
#[derive(Debug, Default)]
struct Store {
    blobs: HashMap<String, Arc<Vec<u8>>>,
    /// By the hash of the action: in an order, so that "another one" is the same each time.
    results: BTreeMap<String, ActionResult>,
}

impl Standin {
    /// An empty server without faults.
    pub fn new(options: Options) -> Standin {
        let slots = Semaphore::new(options.slots);
        let (store, faults, counts) = Default::default();
        Standin(Arc::new(Inner { options, slots, store, faults, counts }))
    }

    /// Answers until the runtime ends.
    ///
    /// # Errors
    /// If the listener fails.
    pub async fn serve(&self, listener: TcpListener) -> io::Result<()> {
        let cas = ContentAddressableStorageServer::new(self.clone());
        let actions = ActionCacheServer::new(self.clone());
        let execution = ExecutionServer::new(self.clone());
        let server = Server::builder()
            .add_service(CapabilitiesServer::new(self.clone()))
            .add_service(cas.max_decoding_message_size(MAX_MESSAGE).max_encoding_message_size(MAX_MESSAGE))
            .add_service(actions.max_decoding_message_size(MAX_MESSAGE))
            .add_service(execution.max_decoding_message_size(MAX_MESSAGE))
            .add_service(ByteStreamServer::new(self.clone()).max_decoding_message_size(MAX_MESSAGE));
        // Small answers would wait for the acknowledgement of earlier ones: 40 ms each.
        let connections = TcpIncoming::from(listener).with_nodelay(Some(true));
        server.serve_with_incoming(connections).await.map_err(io::Error::other)
    }

    /// From now on it does these things, and no others.
    pub fn set_faults(&self, faults: Vec<Fault>) {
        *lock(&self.0.faults) = faults;
    }

    /// The counters so far.
    pub fn counts(&self) -> Counts {
        lock(&self.0.counts).clone()
    }

    /// Forgets what it was asked, and keeps what it has.
    pub fn forget_counts(&self) {
        *lock(&self.0.counts) = Counts::default();
    }

    /// Begins a call: counts it, and injects faults.
    async fn enter(&self, call: Call, instance: &str) -> Result<(), Status> {
        let number = lock(&self.0.counts).add(call);
        for fault in self.faults() {
            fault.inject(number).await;
        }
        if instance != self.0.options.instance {
            return Err(Status::not_found(format!("there is no instance `{instance}`")));
        }
        Ok(())
    }

    fn faults(&self) -> Vec<Fault> {
        lock(&self.0.faults).clone()
    }

    fn has(&self, fault: Fault) -> bool {
        lock(&self.0.faults).contains(&fault)
    }

    /// A blob as it goes out.
    fn blob(&self, digest: &Digest) -> Option<Vec<u8>> {
        let found = lock(&self.0.store).blobs.get(&key(digest)).cloned();
        let mut bytes = found.map(|bytes| bytes.to_vec()).or_else(|| empty(digest))?;
        if self.has(Fault::Truncated) {
            bytes.truncate(bytes.len() / 2);
        }
        let mut counts = lock(&self.0.counts);
        counts.sent = counts.sent.saturating_add(bytes.len() as u64);
        Some(bytes)
    }

    /// A blob as it is.
    fn input(&self, digest: &Digest) -> Option<Arc<Vec<u8>>> {
        let found = lock(&self.0.store).blobs.get(&key(digest)).cloned();
        found.or_else(|| empty(digest).map(Arc::new))
    }

    /// A blob that comes in.
    fn add(&self, digest: &Digest, bytes: Vec<u8>) -> Result<(), Status> {
        if self.has(Fault::Full) {
            return Err(Status::resource_exhausted("no space is left on the device"));
        }
        if blobs::digest(&bytes) != *digest {
            return Err(Status::invalid_argument(format!("the bytes are not those of {}", digest.hash)));
        }
        let mut counts = lock(&self.0.counts);
        counts.received = counts.received.saturating_add(bytes.len() as u64);
        drop(counts);
        lock(&self.0.store).blobs.insert(key(digest), Arc::new(bytes));
        Ok(())
    }

    /// Keeps an output of a worker.
    fn keep(&self, bytes: Vec<u8>) -> Digest {
        let digest = blobs::digest(&bytes);
        lock(&self.0.store).blobs.insert(key(&digest), Arc::new(bytes));
        digest
    }
}

fn key(digest: &Digest) -> String {
    format!("{}/{}", digest.hash, digest.size_bytes)
}

/// The empty blob is always there, as the protocol has it.
fn empty(digest: &Digest) -> Option<Vec<u8>> {
    (digest.size_bytes == 0).then(Vec::new)
}

/// A thread that panicked has left nothing half done: each change is one call.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
