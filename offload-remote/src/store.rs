//! Where results and blobs are kept: the same questions to every kind of server.

mod folder;
mod grpc;
mod http;
mod interface;
mod patient;

use std::sync::Arc;

pub(crate) use self::grpc::{Execution, Grpc, Lookup};
pub(crate) use self::interface::{Blob, Content, Store};
use crate::Error;
use crate::settings::{Place, Settings};

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
            Place::S3(bucket) => {
                Stores { store: patient::patient(http::Http::s3(settings, bucket)?, timeout), server: None }
            }
            Place::Grpc(url) => {
                let server = Arc::new(Grpc::new(settings, url)?);
                Stores { store: patient::patient(Arc::clone(&server), timeout), server: Some(server) }
            }
        })
    }
}
