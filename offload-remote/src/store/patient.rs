//! Timeouts and retries around a store.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tonic::async_trait;

use super::interface::{Blob, Store};
use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::Fault;
use crate::retry::with_retries;

/// The minimum throughput: below it a build is faster without the server.
const BYTES_A_SECOND: u64 = 256 << 10;

/// `store` with a timeout for each call, extended by the size of its blobs.
pub(super) fn patient(store: impl Store + 'static, timeout: Duration) -> Arc<dyn Store> {
    Arc::new(Patient { store, timeout })
}

/// The timeout of a call that transfers `bytes`.
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
        with_retries(self.timeout, || self.store.result(action, inline)).await
    }

    async fn check_writable(&self) -> Result<(), Fault> {
        with_retries(self.timeout, || self.store.check_writable()).await
    }

    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault> {
        with_retries(self.timeout, || self.store.put_result(action, result)).await
    }

    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault> {
        with_retries(self.timeout, || self.store.missing(digests)).await
    }

    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault> {
        let limit = self.limit(digests.iter().map(|digest| digest.size));
        with_retries(limit, || self.store.blobs(digests)).await
    }

    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault> {
        let limit = self.limit(blobs.iter().map(|blob| blob.digest.size));
        with_retries(limit, || self.store.put(blobs)).await
    }

    fn keeps_actions(&self) -> bool {
        self.store.keeps_actions()
    }
}
