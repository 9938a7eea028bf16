//! Remote execution of actions. Every output is compared with its digest.

mod outputs;
mod refusal;
mod remote_action;
mod runner;
mod times;
mod window;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use offload_protocol::remote::{Action, Executed, Reply, Room};
use tokio::sync::Semaphore;
use tokio::time::Instant;

pub(crate) use self::refusal::Refusal;
use self::remote_action::RemoteAction;
use self::runner::Runner;
use self::times::CallOverhead;
use self::window::Window;
use self::worker::Workers;
use crate::fault::{Fault, FaultKind, NO_WORKER};
use crate::files::Files;
use crate::health::Purpose;
use crate::notes::Topic;
use crate::remote::Remote;
use crate::store::Lookup;

/// Executes actions on the workers of one server.
#[derive(Debug)]
pub(crate) struct Executor {
    runner: Runner,
    workers: Workers,
    jobs: Semaphore,
    /// Set once the server has denied an execution.
    is_refused: AtomicBool,
}

impl Executor {
    pub(crate) fn new(remote: Arc<Remote>, files: Arc<Files>) -> Executor {
        let most = remote.settings.jobs();
        let jobs = Semaphore::new(most.min(Semaphore::MAX_PERMITS));
        Executor {
            runner: Runner { remote, files, calls: CallOverhead::default(), window: Window::new(most) },
            workers: Workers::default(),
            jobs,
            is_refused: AtomicBool::new(false),
        }
    }

    /// Executes `action`, or declines with a reason.
    pub(crate) async fn execute(&self, action: Action) -> Reply {
        let notes = &self.runner.remote.notes;
        match self.run(action).await {
            Ok(executed) => Reply::Executed { executed, room: self.room() },
            Err(Refusal::Standing(topic, text)) => Reply::Declined { reason: notes.once(topic, || text) },
            Err(Refusal::Fault(fault)) => Reply::Declined { reason: self.decline_reason(&fault) },
        }
    }

    /// The number of actions that the workers have room for.
    pub(crate) fn room(&self) -> Room {
        self.runner.window.room()
    }

    /// Executes `/bin/true` without a cache lookup.
    ///
    /// # Errors
    /// If the server or its workers execute nothing.
    pub(crate) async fn probe(&self) -> Result<(), Refusal> {
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
        let options = self.runner.options(Vec::new(), Lookup::Never);
        let prepared = RemoteAction::build(action, options, &self.runner.files).await?;
        // A user waits for it in a terminal.
        let limit = self.runner.remote.settings.timeout().saturating_mul(2);
        let outcome = tokio::time::timeout(limit, self.runner.outcome(server, &prepared)).await;
        let executed = outcome.unwrap_or_else(|_| Err(Fault::late(limit).hint(NO_WORKER)))?;
        if executed.exit_code == 0 {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&executed.stderr);
        let line = stderr.lines().next().unwrap_or("no output");
        Err(Fault::lasting(format!("`/bin/true` exited with {} ({line})", executed.exit_code)).into())
    }

    fn decline_reason(&self, fault: &Fault) -> String {
        let url = self.runner.remote.settings.url();
        let topic = match fault.kind {
            FaultKind::Local => Topic::Local(fault.message.clone()),
            // Cache lookups go on.
            FaultKind::Denied => {
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
        // It is never closed.
        let _job = self.jobs.acquire().await.map_err(|_| Fault::lasting("the server ends"))?;
        self.runner.check_server(server).await?;
        let salt = self.workers.salt(&self.runner, &action.programs).await?;
        let prepared =
            RemoteAction::build(action, self.runner.options(salt, Lookup::Cache), &self.runner.files).await?;
        let executed = self.runner.outcome(server, &prepared).await?;
        self.runner.remote.health.succeeded(Purpose::Running);
        Ok(executed)
    }
}

#[cfg(test)]
mod tests;
