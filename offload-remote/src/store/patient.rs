//! A store whose calls have a limit of time and are tried again.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tonic::async_trait;

use super::interface::{Blob, Store};
use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::Fault;
use crate::retry::retried;

/// Slower than this a build is better off without the server.
const BYTES_A_SECOND: u64 = 256 << 10;

/// `store`, with `timeout` for each call and more for bytes.
pub(super) fn patient(store: impl Store + 'static, timeout: Duration) -> Arc<dyn Store> {
    Arc::new(Patient { store, timeout })
}

/// How long a call with so many bytes may take.
fn limit(timeout: Duration, bytes: u64) -> Duration {
    timeout.saturating_add(Duration::from_secs(bytes / BYTES_A_SECOND))
}

#[derive(Debug)]
struct Patient<S> {
    store: S,
    timeout: Duration,
}

impl<S> Patient<S> {
    fn limit(&self, sizes: impl Iterator<Item = u64>) -> Duration {
        limit(self.timeout, sizes.fold(0, u64::saturating_add))
    }
}

#[async_trait]
impl<S: Store> Store for Patient<S> {
    async fn result(&self, action: &Digest, inline: &[String]) -> Result<Option<ActionResult>, Fault> {
        retried(self.timeout, || self.store.result(action, inline)).await
    }

    async fn check_writable(&self) -> Result<(), Fault> {
        retried(self.timeout, || self.store.check_writable()).await
    }

    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault> {
        retried(self.timeout, || self.store.put_result(action, result)).await
    }

    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault> {
        retried(self.timeout, || self.store.missing(digests)).await
    }

    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault> {
        let limit = self.limit(digests.iter().map(|digest| digest.size));
        retried(limit, || self.store.blobs(digests)).await
    }

    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault> {
        let limit = self.limit(blobs.iter().map(|blob| blob.digest.size));
        retried(limit, || self.store.put(blobs)).await
    }

    fn keeps_actions(&self) -> bool {
        self.store.keeps_actions()
    }
}
