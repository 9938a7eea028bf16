//! Deduplicated uploads: each blob is sent once, whatever the number of concurrent requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use crate::digest::Digest;
use crate::fault::Fault;
use crate::store::{Blob, Store};
use crate::sync::locked;

/// The blobs that the server is known to have, and uploads in flight.
#[derive(Clone, Debug)]
pub(crate) struct Uploads {
    store: Arc<dyn Store>,
    known: Arc<Mutex<HashMap<Digest, UploadState>>>,
}

#[derive(Clone, Debug)]
enum UploadState {
    Stored,
    /// In flight, by another request.
    Sending(Outcome),
}

/// `None` while the upload is in flight.
type Outcome = watch::Receiver<Option<Result<(), Fault>>>;

impl Uploads {
    pub(crate) fn new(store: Arc<dyn Store>) -> Uploads {
        Uploads { store, known: Arc::default() }
    }

    /// Uploads the `blobs` that the server does not have.
    ///
    /// # Errors
    /// If an upload failed, of this request or of a concurrent one.
    pub(crate) async fn ensure(&self, blobs: Vec<Blob>) -> Result<(), Fault> {
        for mut outcome in self.claim(blobs) {
            let ended = outcome.wait_for(Option::is_some).await;
            ended.ok().and_then(|ended| ended.clone()).unwrap_or_else(|| Err(lost()))?;
        }
        Ok(())
    }

    /// Forgets blobs that the server may have evicted.
    pub(crate) fn forget(&self, digests: impl IntoIterator<Item = Digest>) {
        let mut known = locked(&self.known);
        for digest in digests {
            if matches!(known.get(&digest), Some(UploadState::Stored)) {
                known.remove(&digest);
            }
        }
    }

    /// Starts uploads of blobs that are not in flight. They outlive the request: others may wait for them.
    fn claim(&self, blobs: Vec<Blob>) -> Vec<Outcome> {
        let (sender, receiver) = watch::channel(None);
        let mut outcomes = Vec::new();
        let mut mine = Vec::new();
        let mut known = locked(&self.known);
        for blob in blobs {
            match known.get(&blob.digest) {
                Some(UploadState::Stored) => {}
                Some(UploadState::Sending(outcome)) if !outcome.same_channel(&receiver) => {
                    outcomes.push(outcome.clone());
                }
                // The same blob twice in this request.
                Some(UploadState::Sending(_)) => {}
                None => {
                    known.insert(blob.digest, UploadState::Sending(receiver.clone()));
                    mine.push(blob);
                }
            }
        }
        drop(known);
        if !mine.is_empty() {
            let uploads = self.clone();
            tokio::spawn(async move { uploads.send(mine, sender).await });
            outcomes.push(receiver);
        }
        outcomes
    }

    async fn send(&self, blobs: Vec<Blob>, sender: watch::Sender<Option<Result<(), Fault>>>) {
        let digests: Vec<Digest> = blobs.iter().map(|blob| blob.digest).collect();
        let outcome = self.send_missing(blobs, &digests).await;
        let mut known = locked(&self.known);
        for digest in digests {
            match outcome {
                Ok(()) => known.insert(digest, UploadState::Stored),
                Err(_) => known.remove(&digest),
            };
        }
        drop(known);
        sender.send_replace(Some(outcome));
    }

    async fn send_missing(&self, mut blobs: Vec<Blob>, digests: &[Digest]) -> Result<(), Fault> {
        let missing: std::collections::HashSet<Digest> =
            self.store.missing(digests).await?.into_iter().collect();
        blobs.retain(|blob| missing.contains(&blob.digest));
        if blobs.is_empty() { Ok(()) } else { self.store.put(&blobs).await }
    }
}

/// The task of the upload has panicked.
fn lost() -> Fault {
    Fault::lasting("an upload ended without an outcome")
}
