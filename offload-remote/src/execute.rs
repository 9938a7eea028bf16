//! Commands on other machines: inputs go there, outputs come back, and every byte is compared with its digest.

mod outputs;
mod prepared;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use offload_format::remote::{Action, Executed, Origin, Reply};
use tokio::sync::Semaphore;

use self::prepared::{Prepared, Terms, platform};
use self::worker::Workers;
use crate::api::ActionResult;
use crate::fault::{Fault, Kind, NO_WORKER};
use crate::files::Files;
use crate::notes::Topic;
use crate::remote::Remote;
use crate::store::{Execution, Grpc, Lookup};

/// Runs commands on the workers of one server.
#[derive(Debug)]
pub(crate) struct Executor {
    remote: Arc<Remote>,
    files: Arc<Files>,
    workers: Workers,
    jobs: Semaphore,
}

/// Why a command does not run there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The settings, or the server, or its workers: it stays so.
    Standing(Topic, String),
    /// Something went wrong.
    Fault(Fault),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}

/// A worker has so many times the time of a call to take a command.
const QUEUE: u32 = 10;

impl Executor {
    pub(crate) fn new(remote: Arc<Remote>, files: Arc<Files>) -> Executor {
        let jobs = Semaphore::new(remote.settings.jobs().min(Semaphore::MAX_PERMITS));
        Executor { remote, files, workers: Workers::default(), jobs }
    }

    /// The outcome of `action`, or why there is none.
    pub(crate) async fn execute(&self, action: Action) -> Reply {
        let notes = &self.remote.notes;
        match self.run(action).await {
            Ok(executed) => Reply::Executed(executed),
            Err(Refusal::Standing(topic, text)) => Reply::Declined { reason: notes.once(topic, || text) },
            Err(Refusal::Fault(fault)) => Reply::Declined { reason: self.failed(&fault) },
        }
    }

    /// Runs a command that does nothing, also if it ran before.
    ///
    /// # Errors
    /// The server or its workers run no commands.
    pub(crate) async fn try_out(&self) -> Result<(), Refusal> {
        let server = self.server()?;
        self.check_server(server).await?;
        let action = Action {
            arguments: vec!["/bin/true".into()],
            variables: Vec::new(),
            directory: String::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            worker: None,
            seconds: 60,
        };
        let terms = Terms { salt: Vec::new(), platform: platform(self), lookup: Lookup::Never };
        let prepared = Prepared::with(action, terms, self).await?;
        // Who asks sits before it.
        let limit = self.remote.settings.timeout().saturating_mul(2);
        let outcome = tokio::time::timeout(limit, self.outcome(server, &prepared)).await;
        let executed = outcome.unwrap_or_else(|_| Err(Fault::late(limit).hint(NO_WORKER)))?;
        if executed.exit_code == 0 {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&executed.stderr);
        let said = said.lines().next().unwrap_or("it said nothing");
        Err(Fault::lasting(format!("`/bin/true` ends with {} ({said})", executed.exit_code)).into())
    }

    fn failed(&self, fault: &Fault) -> String {
        let url = self.remote.settings.url();
        let topic = match fault.kind {
            Kind::Local => Topic::Local(fault.message.clone()),
            // Results are looked up there all the same.
            Kind::Denied => Topic::Running,
            _ => {
                self.remote.health.failed();
                Topic::Server
            }
        };
        self.remote.notes.once(topic, || fault.text(&format!("commands do not run on `{url}`")))
    }

    async fn run(&self, action: Action) -> Result<Executed, Refusal> {
        let server = self.server()?;
        if !self.remote.health.allows() {
            return Err(Refusal::Standing(Topic::Server, format!("`{}` fails", self.remote.settings.url())));
        }
        // Nobody closes it.
        let _job = self.jobs.acquire().await.map_err(|_| Fault::lasting("the server ends"))?;
        self.check_server(server).await?;
        let salt = match &action.worker {
            Some(program) => self.workers.salt(self, program).await?,
            None => Vec::new(),
        };
        let prepared = Prepared::of(action, salt, self).await?;
        let executed = self.outcome(server, &prepared).await?;
        self.remote.health.succeeded();
        Ok(executed)
    }

    fn server(&self) -> Result<&Arc<Grpc>, Refusal> {
        let settings = &self.remote.settings;
        match &self.remote.stores.server {
            Some(server) if settings.executes() => Ok(server),
            _ => {
                let text = format!("`{}` runs no commands: `execute` is not set", settings.url());
                Err(Refusal::Standing(Topic::Running, text))
            }
        }
    }

    async fn check_server(&self, server: &Grpc) -> Result<(), Refusal> {
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
    async fn outcome(&self, server: &Grpc, prepared: &Prepared) -> Result<Executed, Fault> {
        let store = &self.remote.stores.store;
        if prepared.lookup == Lookup::Cache {
            let known = store.result(&prepared.action, &prepared.outputs).await?;
            if let Some(result) = known.filter(|result| result.exit_code == 0)
                && let Some(executed) = self.complete(result, prepared, Origin::Cache).await?
            {
                return Ok(executed);
            }
        }
        let mut evictions = 0;
        loop {
            self.remote.uploads.ensure(prepared.blobs.clone()).await?;
            match server.execute(&self.execution(prepared)).await {
                Err(fault) if fault.kind == Kind::Evicted && evictions == 0 => {
                    evictions += 1;
                    self.remote.uploads.forget(prepared.blobs.iter().map(|blob| blob.digest));
                }
                Err(fault) => return Err(fault),
                Ok(response) => {
                    let origin = if response.cached_result { Origin::Cache } else { Origin::Run };
                    let executed =
                        self.complete(response.result.unwrap_or_default(), prepared, origin).await?;
                    return executed
                        .ok_or_else(|| Fault::lasting("the server lost what a command has written"));
                }
            }
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

#[cfg(test)]
mod tests;
