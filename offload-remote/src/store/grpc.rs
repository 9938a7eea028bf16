//! A server of the Remote Execution API, version 2.

mod batch;
mod channel;
mod execute;
mod stream;

use std::fmt;

use bytes::Bytes;
use http::Uri;
use tokio::sync::OnceCell;
use tonic::{Code, async_trait};

use self::channel::{Connection, Connections, connect};
pub(crate) use self::execute::{Execution, Lookup};
use super::interface::{Blob, Store};
use crate::Error;
use crate::api::action_cache_client::ActionCacheClient;
use crate::api::capabilities_client::CapabilitiesClient;
use crate::api::content_addressable_storage_client::ContentAddressableStorageClient as CasClient;
use crate::api::{
    ActionResult, FindMissingBlobsRequest, GetActionResultRequest, GetCapabilitiesRequest,
    ServerCapabilities, UpdateActionResultRequest, digest_function,
};
use crate::digest::Digest;
use crate::fault::{Fault, FaultKind};
use crate::settings::Settings;

/// A client with lazy connections.
pub(crate) struct Grpc {
    instance: String,
    connection: Connection,
    /// Separate connections, so that no other call waits behind executions.
    executions: Connections,
    capabilities: OnceCell<Capabilities>,
}

/// The capabilities of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// The latest API version.
    pub(crate) version: String,
    /// The largest total size of blobs in one message.
    pub(crate) batch: u64,
    /// Whether it accepts action results.
    pub(crate) updates: bool,
    /// Whether it executes actions.
    pub(crate) executes: bool,
}

/// The default message limit of gRPC servers.
const MAX_MESSAGE_SIZE: u64 = 4 << 20;
/// The size of a message without its blobs.
const MESSAGE_OVERHEAD: u64 = 64 << 10;
/// The most digests in one request.
const MAX_DIGESTS: usize = 10_000;

impl Grpc {
    pub(super) fn new(settings: &Settings, url: &Uri) -> Result<Grpc, Error> {
        Ok(Grpc {
            instance: settings.instance().to_string(),
            connection: connect(settings, url)?,
            executions: Connections::new(settings, url)?,
            capabilities: OnceCell::new(),
        })
    }

    /// The capabilities of the server, fetched once.
    ///
    /// # Errors
    /// If the call fails, or the server does not support SHA-256.
    pub(crate) async fn capabilities(&self) -> Result<&Capabilities, Fault> {
        self.capabilities
            .get_or_try_init(async || {
                let request = GetCapabilitiesRequest { instance_name: self.instance.clone() };
                let answer = CapabilitiesClient::new(self.connection.clone()).get_capabilities(request).await;
                Capabilities::from_message(
                    &answer.map_err(|status| self.instance_fault(status))?.into_inner(),
                )
            })
            .await
    }

    fn instance_fault(&self, status: tonic::Status) -> Fault {
        let is_name =
            matches!(status.code(), Code::InvalidArgument | Code::NotFound | Code::FailedPrecondition);
        let fault = Fault::from(status);
        if !is_name {
            return fault;
        }
        let name = &self.instance;
        Fault { message: format!("the instance `{name}`: {}", fault.message), ..fault }
            .hint("`instance` in the table `remote` names it; who runs the server knows the name")
    }

    fn cas(&self) -> CasClient<Connection> {
        // Responses may be larger than requests.
        CasClient::new(self.connection.clone()).max_decoding_message_size(64 << 20)
    }

    fn cache(&self) -> ActionCacheClient<Connection> {
        ActionCacheClient::new(self.connection.clone()).max_decoding_message_size(64 << 20)
    }
}

impl Capabilities {
    fn from_message(answer: &ServerCapabilities) -> Result<Capabilities, Fault> {
        let cache = answer.cache_capabilities.clone().unwrap_or_default();
        let sha256 = i32::from(digest_function::Value::Sha256);
        if !cache.digest_functions.is_empty() && !cache.digest_functions.contains(&sha256) {
            return Err(Fault::lasting("the server does not support SHA-256 digests")
                .hint("who runs the server chooses the digest function"));
        }
        let execution = answer.execution_capabilities.clone().unwrap_or_default();
        let version = answer.high_api_version.clone().unwrap_or_default();
        let batch = u64::try_from(cache.max_batch_total_size_bytes).unwrap_or(0);
        let batch = if batch == 0 { MAX_MESSAGE_SIZE } else { batch.min(MAX_MESSAGE_SIZE) };
        Ok(Capabilities {
            version: format!("{}.{}", version.major, version.minor),
            batch: batch.saturating_sub(MESSAGE_OVERHEAD),
            updates: cache.action_cache_update_capabilities.unwrap_or_default().update_enabled,
            executes: execution.exec_enabled,
        })
    }
}

#[async_trait]
impl Store for Grpc {
    async fn result(&self, action: &Digest, inline: &[String]) -> Result<Option<ActionResult>, Fault> {
        self.capabilities().await?;
        let request = GetActionResultRequest {
            instance_name: self.instance.clone(),
            action_digest: Some(action.message()),
            inline_stdout: true,
            inline_stderr: true,
            inline_output_files: inline.to_vec(),
            ..Default::default()
        };
        match self.cache().get_action_result(request).await {
            Ok(answer) => Ok(Some(answer.into_inner())),
            Err(status) if status.code() == Code::NotFound => Ok(None),
            Err(status) => Err(status.into()),
        }
    }

    async fn check_writable(&self) -> Result<(), Fault> {
        if self.capabilities().await?.updates {
            return Ok(());
        }
        Err(Fault::new(FaultKind::Denied, "the server takes no results from this machine")
            .hint("give a credential with the right to write by `headers`, or set `upload = false`"))
    }

    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault> {
        let request = UpdateActionResultRequest {
            instance_name: self.instance.clone(),
            action_digest: Some(action.message()),
            action_result: Some(result.clone()),
            ..Default::default()
        };
        self.cache().update_action_result(request).await?;
        Ok(())
    }

    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault> {
        self.capabilities().await?;
        let mut missing = Vec::new();
        for digests in digests.chunks(MAX_DIGESTS) {
            let request = FindMissingBlobsRequest {
                instance_name: self.instance.clone(),
                blob_digests: digests.iter().map(Digest::message).collect(),
                ..Default::default()
            };
            let answer = self.cas().find_missing_blobs(request).await?.into_inner();
            let found = answer.missing_blob_digests.iter();
            missing.extend(found.filter_map(|digest| Digest::from_message(Some(digest))));
        }
        Ok(missing)
    }

    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault> {
        self.read_all(digests).await
    }

    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault> {
        self.write_all(blobs).await
    }

    fn keeps_actions(&self) -> bool {
        true
    }
}

impl fmt::Debug for Grpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grpc").field("instance", &self.instance).finish_non_exhaustive()
    }
}
