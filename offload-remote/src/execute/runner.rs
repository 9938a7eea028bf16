//! Running what is prepared: from the cache of the server, or on a worker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use offload_format::remote::{Executed, Origin};

use super::outputs;
use super::prepared::{Prepared, Terms};
use super::refusal::Refusal;
use super::times::{Calls, Times};
use super::window::Window;
use crate::api::{ActionResult, ExecuteResponse};
use crate::fault::{Fault, Kind};
use crate::files::Files;
use crate::notes::Topic;
use crate::remote::Remote;
use crate::store::{Execution, Grpc, Lookup};

/// One server, and the files of this machine.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) remote: Arc<Remote>,
    pub(super) files: Arc<Files>,
    pub(super) calls: Calls,
    pub(super) window: Window,
}

/// What a server has answered, and after how long.
struct Response {
    response: ExecuteResponse,
    call: Duration,
}

impl Response {
    async fn of(server: &Grpc, execution: &Execution) -> Result<Response, Fault> {
        let begun = Instant::now();
        let response = server.execute(execution).await?;
        Ok(Response { response, call: begun.elapsed() })
    }
}

/// A worker has so many times the time of a call to take a command.
const QUEUE: u32 = 10;

impl Runner {
    /// Terms with the platform of the settings.
    pub(super) fn terms(&self, salt: Vec<u8>, lookup: Lookup) -> Terms {
        Terms { salt, platform: self.remote.settings.platform().clone(), lookup }
    }

    /// The server, if commands may run there.
    ///
    /// # Errors
    /// The settings do not want it.
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

    /// Whether the server runs commands.
    ///
    /// # Errors
    /// It does not, or cannot be asked.
    pub(super) async fn check_server(&self, server: &Grpc) -> Result<(), Refusal> {
        let timeout = self.remote.settings.timeout();
        let capabilities = crate::retry::retried(timeout, || server.capabilities()).await?;
        if capabilities.executes {
            return Ok(());
        }
        let url = self.remote.settings.url();
        let text = format!(
            "`{url}` keeps results and runs no commands\nhint: set `execute = false` in the table `remote`"
        );
        Err(Refusal::Standing(Topic::Running, text))
    }

    /// The result that is there already, or that of a run.
    ///
    /// # Errors
    /// The server fails.
    pub(super) async fn outcome(&self, server: &Grpc, prepared: &Prepared) -> Result<Executed, Fault> {
        let store = &self.remote.stores.store;
        let mut execution = self.execution(prepared);
        if execution.lookup == Lookup::Cache {
            let known = store.result(&prepared.action, &prepared.outputs).await?;
            if let Some(result) = known.filter(|result| result.exit_code == 0) {
                match self.complete(result, prepared, Origin::Cache).await? {
                    Some(executed) => {
                        self.window.learn(Times::default());
                        return Ok(executed);
                    }
                    // The server would take the same result again.
                    None => execution.lookup = Lookup::Never,
                }
            }
        }
        let Response { response, call } = self.respond(server, prepared, &execution).await?;
        let result = response.result.ok_or_else(|| Fault::lasting("the server sent no result"))?;
        let is_known = response.cached_result;
        let metadata = result.execution_metadata.as_ref().filter(|_| !is_known);
        self.window.learn(self.calls.times(metadata, call));
        let origin = if is_known { Origin::Cache } else { Origin::Run };
        let executed = self.complete(result, prepared, origin).await?;
        executed.ok_or_else(|| Fault::lasting("the server lost what a command has written"))
    }

    /// Sends what is missing, and has the server run the action.
    async fn respond(
        &self,
        server: &Grpc,
        prepared: &Prepared,
        execution: &Execution,
    ) -> Result<Response, Fault> {
        self.remote.uploads.ensure(prepared.blobs.clone()).await?;
        match Response::of(server, execution).await {
            // What it had a while ago it may have removed since.
            Err(fault) if fault.kind == Kind::Evicted => {
                self.remote.uploads.forget(prepared.blobs.iter().map(|blob| blob.digest));
                self.remote.uploads.ensure(prepared.blobs.clone()).await?;
                Response::of(server, execution).await
            }
            outcome => outcome,
        }
    }

    fn execution(&self, prepared: &Prepared) -> Execution {
        let timeout = self.remote.settings.timeout();
        Execution {
            action: prepared.action,
            inline: prepared.outputs.clone(),
            lookup: prepared.lookup,
            queued: timeout.saturating_mul(QUEUE),
            running: match prepared.seconds {
                0 => None,
                seconds => Some(timeout.saturating_add(Duration::from_secs(seconds))),
            },
        }
    }

    /// The result with its outputs; `None` where one of them is lost or damaged.
    async fn complete(
        &self,
        result: ActionResult,
        prepared: &Prepared,
        origin: Origin,
    ) -> Result<Option<Executed>, Fault> {
        let executed = outputs::fetch(&*self.remote.stores.store, result, &prepared.outputs).await?;
        Ok(executed.map(|executed| Executed { origin, ..executed }))
    }
}
