//! Blobs go to the server once, however many requests want them there at the same time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use crate::digest::Digest;
use crate::fault::Fault;
use crate::store::{Blob, Store};
use crate::sync::locked;

/// The blobs that the server has, as far as this process knows.
#[derive(Clone, Debug)]
pub(crate) struct Uploads {
    store: Arc<dyn Store>,
    known: Arc<Mutex<HashMap<Digest, State>>>,
}

#[derive(Clone, Debug)]
enum State {
    Stored,
    /// Another request sends it.
    Sending(Outcome),
}

/// `None` until the blobs are stored, or are not.
type Outcome = watch::Receiver<Option<Result<(), Fault>>>;

impl Uploads {
    pub(crate) fn new(store: Arc<dyn Store>) -> Uploads {
        Uploads { store, known: Arc::default() }
    }

    /// Sees to it that the server has `blobs`.
    ///
    /// # Errors
    /// One of them could not be sent, by this request or by the one that sent it.
    pub(crate) async fn ensure(&self, blobs: Vec<Blob>) -> Result<(), Fault> {
        for mut outcome in self.claim(blobs) {
            let ended = outcome.wait_for(Option::is_some).await;
            ended.ok().and_then(|ended| ended.clone()).unwrap_or_else(|| Err(lost()))?;
        }
        Ok(())
    }

    /// Asks the server anew about these: it has lost some.
    pub(crate) fn forget(&self, digests: impl IntoIterator<Item = Digest>) {
        let mut known = locked(&self.known);
        for digest in digests {
            if matches!(known.get(&digest), Some(State::Stored)) {
                known.remove(&digest);
            }
        }
    }

    /// Starts to send what nobody sends yet. It goes on without the request: others may wait for it.
    fn claim(&self, blobs: Vec<Blob>) -> Vec<Outcome> {
        let (sender, receiver) = watch::channel(None);
        let (mut outcomes, mut mine) = (Vec::new(), Vec::new());
        let mut known = locked(&self.known);
        for blob in blobs {
            match known.get(&blob.digest) {
                Some(State::Stored) => {}
                Some(State::Sending(outcome)) if !outcome.same_channel(&receiver) => {
                    outcomes.push(outcome.clone());
                }
                // The same blob twice in this request.
                Some(State::Sending(_)) => {}
                None => {
                    known.insert(blob.digest, State::Sending(receiver.clone()));
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
                Ok(()) => known.insert(digest, State::Stored),
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

/// Whoever sent it has panicked.
fn lost() -> Fault {
    Fault::lasting("an upload ended without an outcome")
}
