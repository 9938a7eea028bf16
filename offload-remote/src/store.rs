//! Action caches and content-addressed storage (CAS): one trait with an implementation for each kind of server.

mod folder;
mod grpc;
mod http;
mod interface;
mod patient;

use std::sync::Arc;

pub(crate) use self::grpc::{Execution, Grpc, Lookup};
pub(crate) use self::interface::{Blob, Content, Store};
use crate::Error;
use crate::settings::{Location, Settings};

/// The store of the settings.
#[derive(Clone, Debug)]
pub(crate) struct Stores {
    pub(crate) store: Arc<dyn Store>,
    /// The same server, if it may execute actions.
    pub(crate) server: Option<Arc<Grpc>>,
}

impl Stores {
    /// Connects lazily, in a tokio runtime.
    ///
    /// # Errors
    /// If a credential or a certificate cannot be read.
    pub(crate) fn open(settings: &Settings) -> Result<Stores, Error> {
        let timeout = settings.timeout();
        Ok(match settings.location() {
            Location::Folder(path) => {
                Stores { store: patient::patient(folder::Folder::new(path), timeout), server: None }
            }
            Location::Http(url) => {
                Stores { store: patient::patient(http::Http::new(settings, url)?, timeout), server: None }
            }
            Location::S3(bucket) => {
                Stores { store: patient::patient(http::Http::s3(settings, bucket)?, timeout), server: None }
            }
            Location::Grpc(url) => {
                let server = Arc::new(Grpc::new(settings, url)?);
                Stores { store: patient::patient(Arc::clone(&server), timeout), server: Some(server) }
            }
        })
    }
}
