//! The trait of an action cache with its content-addressed storage.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use tonic::async_trait;

use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::Fault;

/// An action cache, and content-addressed storage.
#[async_trait]
pub(crate) trait Store: Debug + Send + Sync {
    /// Looks up an action. The server may inline the outputs in `inline`.
    async fn result(&self, action: &Digest, inline: &[String]) -> Result<Option<ActionResult>, Fault>;
    /// Checks the server's declared permission to upload results.
    ///
    /// # Errors
    /// If uploads are not permitted, or the server fails.
    async fn check_writable(&self) -> Result<(), Fault> {
        Ok(())
    }
    /// Uploads an action result, whose outputs are stored already.
    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault>;
    /// The `digests` that are not stored.
    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault>;
    /// Downloads the blob of each digest, if it is stored. The content is not verified yet.
    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault>;
    /// Uploads blobs.
    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault>;
    /// Whether an action result needs its action in the storage.
    fn keeps_actions(&self) -> bool {
        false
    }
}

/// A blob to upload.
#[derive(Clone, Debug)]
pub(crate) struct Blob {
    pub(crate) digest: Digest,
    pub(crate) content: Content,
}

/// The source of a blob.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Bytes(Bytes),
    /// A local file, read when it is sent.
    File(PathBuf),
}

impl Blob {
    pub(crate) fn from_bytes(bytes: impl Into<Bytes>) -> Blob {
        let bytes = bytes.into();
        Blob { digest: Digest::from_bytes(&bytes), content: Content::Bytes(bytes) }
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
