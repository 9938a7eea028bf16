//! What every kind of server is asked.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use tonic::async_trait;

use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::Fault;

/// An action cache, and a store of blobs by their digests.
#[async_trait]
pub(crate) trait Store: Debug + Send + Sync {
    /// The result of an action, if there is one. The server may send the outputs in `inline` with it.
    async fn result(&self, action: &Digest, inline: &[String]) -> Result<Option<ActionResult>, Fault>;
    /// Whether results may be stored, as far as the server says so before.
    ///
    /// # Errors
    /// They may not, or the server cannot be asked.
    async fn check_writable(&self) -> Result<(), Fault> {
        Ok(())
    }
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

#[async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn result(&self, action: &Digest, inline: &[String]) -> Result<Option<ActionResult>, Fault> {
        (**self).result(action, inline).await
    }
    async fn check_writable(&self) -> Result<(), Fault> {
        (**self).check_writable().await
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
