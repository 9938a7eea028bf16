//! A server as requests see it: results under keys, and no fault that a request has to deal with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use offload_format::Hash128;
use tokio::time::Instant;

use crate::Error;
use crate::digest::Digest;
use crate::entry::{self, Entry};
use crate::fault::{Fault, Kind};
use crate::health::{Health, Purpose};
use crate::notes::{Notes, Topic};
use crate::settings::Settings;
use crate::store::{Blob, Stores};
use crate::uploads::Uploads;

/// The server of one set of settings.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) settings: Settings,
    pub(crate) stores: Stores,
    pub(crate) uploads: Uploads,
    pub(crate) health: Health,
    pub(crate) notes: Arc<Notes>,
    /// Not if the settings say so, or the server has refused it.
    stores_results: AtomicBool,
}

/// Nothing of ours is larger.
pub(crate) const LARGEST: u64 = offload_format::remote::MAX_MESSAGE - (1 << 20);

impl Remote {
    /// Connects when it is asked something. It needs a runtime of tokio's.
    ///
    /// # Errors
    /// A credential or a certificate cannot be read.
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

    /// The result under `key`, if there is one that is sound as far as its digest tells.
    pub(crate) async fn get(&self, key: Hash128) -> Option<Bytes> {
        if !self.health.allows(Purpose::Reading) {
            return None;
        }
        let begun = Instant::now();
        match self.look_up(&Entry::of(key).action).await {
            Ok(found) => {
                self.health.succeeded(Purpose::Reading);
                found
            }
            Err(fault) => {
                self.health.failed(Purpose::Reading, begun);
                self.tell(&fault);
                None
            }
        }
    }

    /// Stores a result.
    pub(crate) async fn put(&self, key: Hash128, stored: Bytes) {
        if !self.stores_results() || !self.health.allows(Purpose::Storing) {
            return;
        }
        let begun = Instant::now();
        match self.store(key, stored).await {
            Ok(()) => self.health.succeeded(Purpose::Storing),
            Err(fault) if fault.kind == Kind::Denied => {
                self.stores_results.store(false, Ordering::Relaxed);
                self.notes.keep(Topic::Storing, || self.not_stored(&fault));
            }
            Err(fault) => {
                let topic = match fault.kind {
                    // One reason is enough, also if a request of another kind meets it first.
                    Kind::Transient => {
                        self.health.failed(Purpose::Storing, begun);
                        Topic::Server
                    }
                    // What a server does not take, one file say, is no reason not to ask it for others.
                    _ => Topic::Storing,
                };
                self.notes.keep(topic, || self.not_stored(&fault));
            }
        }
    }

    /// Whether it is of use to put anything.
    pub(crate) fn stores_results(&self) -> bool {
        self.stores_results.load(Ordering::Relaxed)
    }

    /// A request has failed for good; the user hears of the first.
    fn tell(&self, fault: &Fault) {
        self.notes
            .keep(Topic::Server, || fault.text(&format!("no results come from `{}`", self.settings.url())));
    }

    fn not_stored(&self, fault: &Fault) -> String {
        fault.text(&format!("results of this machine are not stored in `{}`", self.settings.url()))
    }

    /// The result of an action of ours.
    ///
    /// # Errors
    /// The server fails.
    pub(crate) async fn look_up(&self, action: &Digest) -> Result<Option<Bytes>, Fault> {
        let store = &self.stores.store;
        let Some(result) = store.result(action, &[entry::FILE.to_string()]).await? else { return Ok(None) };
        let Some(file) = entry::file(result) else { return Ok(None) };
        let Some(digest) = Digest::from_message(file.digest.as_ref()).filter(|it| it.size <= LARGEST) else {
            return Ok(self.damaged());
        };
        let inline = Bytes::from(file.contents);
        if digest.is_of(&inline) {
            return Ok(Some(inline));
        }
        match store.blobs(&[digest]).await?.pop().flatten() {
            Some(bytes) if digest.is_of(&bytes) => Ok(Some(bytes)),
            Some(_) => Ok(self.damaged()),
            None => Ok(None),
        }
    }

    /// Nothing, and the user hears that somebody should look after the server.
    fn damaged(&self) -> Option<Bytes> {
        self.notes.keep(Topic::Damage, || {
            format!("`{}` has results that are damaged; they were not used", self.settings.url())
        });
        None
    }

    /// Stores a result, whatever the settings say.
    ///
    /// # Errors
    /// The server fails.
    pub(crate) async fn store(&self, key: Hash128, stored: Bytes) -> Result<(), Fault> {
        self.stores.store.check_writable().await?;
        let entry = Entry::of(key);
        let blob = Blob::of(stored);
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
