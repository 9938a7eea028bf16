//! Remote cache: lookups and uploads by key. Faults are reported as notes, and a failed lookup is a miss.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use offload_format::Hash128;
use tokio::time::Instant;

use crate::Error;
use crate::digest::Digest;
use crate::entry::{self, Entry};
use crate::fault::{Fault, FaultKind};
use crate::health::{Health, Purpose};
use crate::notes::{Notes, Topic};
use crate::settings::Settings;
use crate::store::{Blob, Stores};
use crate::uploads::Uploads;

/// The server of one table `remote`.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) settings: Settings,
    pub(crate) stores: Stores,
    pub(crate) uploads: Uploads,
    pub(crate) health: Health,
    pub(crate) notes: Arc<Notes>,
    /// Cleared by the settings, or once the server has denied an upload.
    stores_results: AtomicBool,
}

/// The largest result: it fits in a message to a build script.
pub(crate) const MAX_RESULT_SIZE: u64 = offload_protocol::remote::MAX_MESSAGE - (1 << 20);

impl Remote {
    /// Connects lazily, in a tokio runtime.
    ///
    /// # Errors
    /// If a credential or a certificate cannot be read.
    pub(crate) fn new(settings: Settings) -> Result<Remote, Error> {
        let stores = Stores::open(&settings)?;
        Ok(Remote {
            uploads: Uploads::new(Arc::clone(&stores.store)),
            stores,
            health: Health::new(settings.timeout()),
            notes: Arc::default(),
            stores_results: AtomicBool::new(settings.uploads()),
            settings,
        })
    }

    /// Looks up `key`. A result that does not match its digest is a miss.
    pub(crate) async fn get(&self, key: Hash128) -> Option<Bytes> {
        if !self.health.allows(Purpose::Reading) {
            return None;
        }
        let begun = Instant::now();
        match self.look_up(&Entry::for_key(key).action).await {
            Ok(found) => {
                self.health.succeeded(Purpose::Reading);
                found
            }
            Err(fault) => {
                self.health.failed(Purpose::Reading, begun);
                self.report(&fault);
                None
            }
        }
    }

    /// Uploads a result.
    pub(crate) async fn put(&self, key: Hash128, stored: Bytes) {
        if !self.stores_results() || !self.health.allows(Purpose::Storing) {
            return;
        }
        let begun = Instant::now();
        match self.store(key, stored).await {
            Ok(()) => self.health.succeeded(Purpose::Storing),
            Err(fault) if fault.kind == FaultKind::Denied => {
                self.stores_results.store(false, Ordering::Relaxed);
                self.notes.keep(Topic::Storing, || self.not_stored(&fault));
            }
            Err(fault) => {
                let topic = match fault.kind {
                    // Shares a topic with lookups: the cause is reported once.
                    FaultKind::Transient => {
                        self.health.failed(Purpose::Storing, begun);
                        Topic::Server
                    }
                    // A server may reject a single file; others can still be uploaded.
                    _ => Topic::Storing,
                };
                self.notes.keep(topic, || self.not_stored(&fault));
            }
        }
    }

    /// Whether results are uploaded.
    pub(crate) fn stores_results(&self) -> bool {
        self.stores_results.load(Ordering::Relaxed)
    }

    /// Reports a failed lookup.
    fn report(&self, fault: &Fault) {
        self.notes
            .keep(Topic::Server, || fault.text(&format!("no results come from `{}`", self.settings.url())));
    }

    fn not_stored(&self, fault: &Fault) -> String {
        fault.text(&format!("results of this machine are not stored in `{}`", self.settings.url()))
    }

    /// Fetches the output file of an [`Entry`].
    ///
    /// # Errors
    /// If the server fails.
    pub(crate) async fn look_up(&self, action: &Digest) -> Result<Option<Bytes>, Fault> {
        let store = &self.stores.store;
        let Some(result) = store.result(action, &[entry::FILE.to_string()]).await? else { return Ok(None) };
        let Some(file) = entry::file(result) else { return Ok(None) };
        let Some(digest) = Digest::from_message(file.digest.as_ref()).filter(|it| it.size <= MAX_RESULT_SIZE)
        else {
            return Ok(self.damaged());
        };
        let inline = Bytes::from(file.contents);
        if digest.matches(&inline) {
            return Ok(Some(inline));
        }
        match store.blobs(&[digest]).await?.pop().flatten() {
            Some(bytes) if digest.matches(&bytes) => Ok(Some(bytes)),
            Some(_) => Ok(self.damaged()),
            None => Ok(None),
        }
    }

    /// Reports a corrupt result, which is a miss.
    fn damaged(&self) -> Option<Bytes> {
        self.notes.keep(Topic::Damage, || {
            format!("`{}` has corrupt results; they were ignored", self.settings.url())
        });
        None
    }

    /// Uploads a result, whatever the settings are.
    ///
    /// # Errors
    /// If the server fails.
    pub(crate) async fn store(&self, key: Hash128, stored: Bytes) -> Result<(), Fault> {
        self.stores.store.check_writable().await?;
        let entry = Entry::for_key(key);
        let blob = Blob::from_bytes(stored);
        let digest = blob.digest;
        let mut blobs = vec![blob];
        if self.stores.store.keeps_actions() {
            blobs.extend(entry.parts);
        }
        self.uploads.ensure(blobs).await?;
        self.stores.store.put_result(&entry.action, &entry::result(&digest)).await
    }
}

#[cfg(test)]
mod tests;
