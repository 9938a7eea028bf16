//! Commands on other machines: inputs go there, outputs come back, and every byte is compared with its digest.

mod outputs;
mod prepared;
mod refusal;
mod runner;
mod times;
mod window;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use offload_format::remote::{Action, Executed, Reply, Room};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use self::prepared::Prepared;
pub(crate) use self::refusal::Refusal;
use self::runner::Runner;
use self::times::Calls;
use self::window::Window;
use self::worker::Workers;
use crate::fault::{Fault, Kind, NO_WORKER};
use crate::files::Files;
use crate::health::Purpose;
use crate::notes::Topic;
use crate::remote::Remote;
use crate::store::Lookup;

/// Runs commands on the workers of one server.
#[derive(Debug)]
pub(crate) struct Executor {
    runner: Runner,
    workers: Workers,
    jobs: Semaphore,
    /// Once the server has refused a command, it gets no more.
    is_refused: AtomicBool,
}

impl Executor {
    pub(crate) fn new(remote: Arc<Remote>, files: Arc<Files>) -> Executor {
        let most = remote.settings.jobs();
        let jobs = Semaphore::new(most.min(Semaphore::MAX_PERMITS));
        Executor {
            runner: Runner { remote, files, calls: Calls::default(), window: Window::new(most) },
            workers: Workers::default(),
            jobs,
            is_refused: AtomicBool::new(false),
        }
    }

    /// The outcome of `action`, or why there is none.
    pub(crate) async fn execute(&self, action: Action) -> Reply {
        let notes = &self.runner.remote.notes;
        match self.run(action).await {
            Ok(executed) => Reply::Executed { executed, room: self.room() },
            Err(Refusal::Standing(topic, text)) => Reply::Declined { reason: notes.once(topic, || text) },
            Err(Refusal::Fault(fault)) => Reply::Declined { reason: self.failed(&fault) },
        }
    }

    /// What the workers have room for.
    pub(crate) fn room(&self) -> Room {
        self.runner.window.room()
    }

    /// Runs a command that does nothing, also if it ran before.
    ///
    /// # Errors
    /// The server or its workers run no commands.
    pub(crate) async fn try_out(&self) -> Result<(), Refusal> {
        let server = self.runner.server()?;
        self.runner.check_server(server).await?;
        let action = Action {
            arguments: vec!["/bin/true".into()],
            variables: Vec::new(),
            directory: String::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            programs: Vec::new(),
            seconds: 60,
        };
        let terms = self.runner.terms(Vec::new(), Lookup::Never);
        let prepared = Prepared::of(action, terms, &self.runner.files).await?;
        // Who asks sits before it.
        let limit = self.runner.remote.settings.timeout().saturating_mul(2);
        let outcome = tokio::time::timeout(limit, self.runner.outcome(server, &prepared)).await;
        let executed = outcome.unwrap_or_else(|_| Err(Fault::late(limit).hint(NO_WORKER)))?;
        if executed.exit_code == 0 {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&executed.stderr);
        let said = said.lines().next().unwrap_or("it said nothing");
        Err(Fault::lasting(format!("`/bin/true` ends with {} ({said})", executed.exit_code)).into())
    }

    fn failed(&self, fault: &Fault) -> String {
        let url = self.runner.remote.settings.url();
        let topic = match fault.kind {
            Kind::Local => Topic::Local(fault.message.clone()),
            // Results are looked up there all the same.
            Kind::Denied => {
                self.is_refused.store(true, Ordering::Relaxed);
                Topic::Running
            }
            _ => {
                self.runner.remote.health.failed(Purpose::Running, Instant::now());
                Topic::Server
            }
        };
        self.runner.remote.notes.once(topic, || fault.text(&format!("commands do not run on `{url}`")))
    }

    async fn run(&self, action: Action) -> Result<Executed, Refusal> {
        let server = self.runner.server()?;
        if self.is_refused.load(Ordering::Relaxed) {
            return Err(Refusal::Standing(Topic::Running, "the server refuses commands".to_string()));
        }
        if !self.runner.remote.health.allows(Purpose::Running) {
            return Err(Refusal::Standing(
                Topic::Server,
                format!("`{}` fails", self.runner.remote.settings.url()),
            ));
        }
        // Nobody closes it.
        let _job = self.jobs.acquire().await.map_err(|_| Fault::lasting("the server ends"))?;
        self.runner.check_server(server).await?;
        let salt = self.workers.salt(&self.runner, &action.programs).await?;
        let prepared =
            Prepared::of(action, self.runner.terms(salt, Lookup::Cache), &self.runner.files).await?;
        let executed = self.runner.outcome(server, &prepared).await?;
        self.runner.remote.health.succeeded(Purpose::Running);
        Ok(executed)
    }
}

#[cfg(test)]
mod tests;
