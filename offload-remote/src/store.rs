//! Where results and blobs are kept: the same questions to every kind of server.

mod folder;
mod grpc;
mod http;
mod patient;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use tonic::async_trait;

pub(crate) use self::grpc::{Execution, Grpc, Lookup};
use crate::Error;
use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::Fault;
use crate::settings::{Place, Settings};

/// An action cache, and a store of blobs by their digests.
#[async_trait]
pub(crate) trait Store: Debug + Send + Sync {
    /// The result of an action, if there is one. The server may send the outputs in `inline` with it.
    async fn result(&self, action: &Digest, inline: &[String]) -> Result<Option<ActionResult>, Fault>;
    /// Stores the result of an action. What it names is stored already.
    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault>;
    /// Those of `digests` that are not stored.
    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault>;
    /// The blob of each digest, if it is stored. Nothing compares them with the digests yet.
    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault>;
    /// Stores blobs.
    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault>;
    /// Whether a result is of use only with its action in the store.
    fn keeps_actions(&self) -> bool {
        false
    }
}

/// A blob to store.
#[derive(Clone, Debug)]
pub(crate) struct Blob {
    pub(crate) digest: Digest,
    pub(crate) content: Content,
}

/// Where the bytes of a blob are.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Bytes(Bytes),
    /// A file of this machine, which is read when it is sent.
    File(PathBuf),
}

impl Blob {
    pub(crate) fn of(bytes: impl Into<Bytes>) -> Blob {
        let bytes = bytes.into();
        Blob { digest: Digest::of(&bytes), content: Content::Bytes(bytes) }
    }

    pub(crate) async fn read(&self) -> Result<Bytes, Fault> {
        match &self.content {
            Content::Bytes(bytes) => Ok(bytes.clone()),
            Content::File(path) => tokio::fs::read(path)
                .await
                .map(Bytes::from)
                .map_err(|error| Fault::file("read", path, &error)),
        }
    }
}

/// What the settings name.
#[derive(Clone, Debug)]
pub(crate) struct Stores {
    pub(crate) store: Arc<dyn Store>,
    /// The same server, if it can run commands.
    pub(crate) server: Option<Arc<Grpc>>,
}

impl Stores {
    /// Connects when it is asked something. It needs a runtime of tokio's.
    ///
    /// # Errors
    /// A credential or a certificate cannot be read.
    pub(crate) fn open(settings: &Settings) -> Result<Stores, Error> {
        let timeout = settings.timeout();
        Ok(match settings.place() {
            Place::Folder(path) => {
                Stores { store: patient::patient(folder::Folder::new(path), timeout), server: None }
            }
            Place::Http(url) => {
                Stores { store: patient::patient(http::Http::new(settings, url)?, timeout), server: None }
            }
            Place::Grpc(url) => {
                let server = Arc::new(Grpc::new(settings, url)?);
                Stores { store: patient::patient(Arc::clone(&server), timeout), server: Some(server) }
            }
        })
    }
}

#[async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn result(&self, action: &Digest, inline: &[String]) -> Result<Option<ActionResult>, Fault> {
        (**self).result(action, inline).await
    }
    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault> {
        (**self).put_result(action, result).await
    }
    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault> {
        (**self).missing(digests).await
    }
    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault> {
        (**self).blobs(digests).await
    }
    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault> {
        (**self).put(blobs).await
    }
    fn keeps_actions(&self) -> bool {
        (**self).keeps_actions()
    }
}
