//! Execution of an action with its cache lookup, uploads and downloads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use offload_protocol::remote::{Executed, Origin};

use super::outputs;
use super::refusal::Refusal;
use super::remote_action::{ActionOptions, RemoteAction};
use super::times::{ActionTimes, CallOverhead};
use super::window::Window;
use crate::api::{ActionResult, ExecuteResponse};
use crate::fault::{Fault, FaultKind};
use crate::files::Files;
use crate::notes::Topic;
use crate::remote::Remote;
use crate::store::{Execution, Grpc, Lookup};

/// A server, and the digests of local files.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) remote: Arc<Remote>,
    pub(super) files: Arc<Files>,
    pub(super) calls: CallOverhead,
    pub(super) window: Window,
}

/// A response and the duration of its call.
struct TimedResponse {
    response: ExecuteResponse,
    call: Duration,
}

impl TimedResponse {
    async fn execute(server: &Grpc, execution: &Execution) -> Result<TimedResponse, Fault> {
        let begun = Instant::now();
        let response = server.execute(execution).await?;
        Ok(TimedResponse { response, call: begun.elapsed() })
    }
}

/// The longest time in the queue of the server, in timeouts.
const QUEUE_TIMEOUTS: u32 = 10;

impl Runner {
    /// Options with the platform of the settings.
    pub(super) fn options(&self, salt: Vec<u8>, lookup: Lookup) -> ActionOptions {
        ActionOptions { salt, platform: self.remote.settings.platform().clone(), lookup }
    }

    /// The server, if it may execute actions.
    ///
    /// # Errors
    /// If `execute` is not set.
    pub(super) fn server(&self) -> Result<&Arc<Grpc>, Refusal> {
        let settings = &self.remote.settings;
        match &self.remote.stores.server {
            Some(server) if settings.executes() => Ok(server),
            _ => {
                let text = format!("`{}` runs no commands: `execute` is not set", settings.url());
                Err(Refusal::Standing(Topic::Running, text))
            }
        }
    }

    /// Checks the execution capability of the server.
    ///
    /// # Errors
    /// If it has none, or the call fails.
    pub(super) async fn check_server(&self, server: &Grpc) -> Result<(), Refusal> {
        let timeout = self.remote.settings.timeout();
        let capabilities = crate::retry::with_retries(timeout, || server.capabilities()).await?;
        if capabilities.executes {
            return Ok(());
        }
        let url = self.remote.settings.url();
        let text = format!(
            "`{url}` keeps results and runs no commands\nhint: set `execute = false` in the table `remote`"
        );
        Err(Refusal::Standing(Topic::Running, text))
    }

    /// The cached result, or that of an execution.
    ///
    /// # Errors
    /// If the server fails.
    pub(super) async fn outcome(&self, server: &Grpc, prepared: &RemoteAction) -> Result<Executed, Fault> {
        let store = &self.remote.stores.store;
        let mut execution = self.execution(prepared);
        if execution.lookup == Lookup::Cache {
            let known = store.result(&prepared.action, &prepared.outputs).await?;
            if let Some(result) = known.filter(|result| result.exit_code == 0) {
                match self.complete(result, prepared, Origin::Cache).await? {
                    Some(executed) => {
                        self.window.record(ActionTimes::default());
                        return Ok(executed);
                    }
                    // The server would return the same incomplete result.
                    None => execution.lookup = Lookup::Never,
                }
            }
        }
        let TimedResponse { response, call } = self.respond(server, prepared, &execution).await?;
        let result = response.result.ok_or_else(|| Fault::lasting("the server sent no result"))?;
        let is_known = response.cached_result;
        let metadata = result.execution_metadata.as_ref().filter(|_| !is_known);
        self.window.record(self.calls.times(metadata, call));
        let origin = if is_known { Origin::Cache } else { Origin::Run };
        let executed = self.complete(result, prepared, origin).await?;
        executed.ok_or_else(|| Fault::lasting("the server lost what a command has written"))
    }

    /// Uploads missing blobs, and executes the action.
    async fn respond(
        &self,
        server: &Grpc,
        prepared: &RemoteAction,
        execution: &Execution,
    ) -> Result<TimedResponse, Fault> {
        self.remote.uploads.ensure(prepared.blobs.clone()).await?;
        match TimedResponse::execute(server, execution).await {
            // Blobs may have been evicted since they were checked.
            Err(fault) if fault.kind == FaultKind::Evicted => {
                self.remote.uploads.forget(prepared.blobs.iter().map(|blob| blob.digest));
                self.remote.uploads.ensure(prepared.blobs.clone()).await?;
                TimedResponse::execute(server, execution).await
            }
            outcome => outcome,
        }
    }

    fn execution(&self, prepared: &RemoteAction) -> Execution {
        let timeout = self.remote.settings.timeout();
        Execution {
            action: prepared.action,
            inline: prepared.outputs.clone(),
            lookup: prepared.lookup,
            queued: timeout.saturating_mul(QUEUE_TIMEOUTS),
            running: match prepared.seconds {
                0 => None,
                seconds => Some(timeout.saturating_add(Duration::from_secs(seconds))),
            },
        }
    }

    /// The result with its outputs; `None` if one is missing or corrupt.
    async fn complete(
        &self,
        result: ActionResult,
        prepared: &RemoteAction,
        origin: Origin,
    ) -> Result<Option<Executed>, Fault> {
        let executed = outputs::fetch(&*self.remote.stores.store, result, &prepared.outputs).await?;
        Ok(executed.map(|executed| Executed { origin, ..executed }))
    }
}
