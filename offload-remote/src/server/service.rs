//! Dispatch of requests to cache, upload queue and executor.

use std::sync::Arc;
use std::time::Duration;

use offload_protocol::remote::{Program, Reply, Request};

use crate::execute::Executor;
use crate::fault::Fault;
use crate::files::Files;
use crate::identity::identify;
use crate::notes::Topic;
use crate::queue::{FlushOutcome, Queue};
use crate::remote::Remote;
use crate::{Error, Settings};

/// Serves requests.
#[derive(Debug)]
pub(super) struct Service {
    remote: Arc<Remote>,
    queue: Arc<Queue>,
    executor: Executor,
    files: Arc<Files>,
}

/// The longest time for uploads after the last connection.
const FINISH: Duration = Duration::from_secs(600);

impl Service {
    pub(super) fn new(settings: Settings) -> Result<Service, Error> {
        let remote = Arc::new(Remote::new(settings)?);
        let queue = Queue::new(Arc::clone(&remote));
        let files = Arc::new(Files::default());
        let executor = Executor::new(Arc::clone(&remote), Arc::clone(&files));
        Ok(Service { remote, queue, executor, files })
    }

    /// Serves `request`. Dropping the future cancels work that no other request shares.
    pub(super) async fn reply(&self, request: Request) -> Reply {
        match request {
            Request::Get { key } => match self.remote.get(key).await {
                Some(stored) => Reply::Found(stored.into()),
                None => Reply::Missing { room: self.executor.room() },
            },
            Request::Put { key, stored } => {
                self.queue.put(key, stored);
                Reply::Accepted
            }
            Request::Flush { seconds } => self.flush(Duration::from_secs(seconds)).await,
            Request::Alive => Reply::Accepted,
            Request::Execute(action) => self.executor.execute(action).await,
            Request::Identify(program) => self.identify(program).await,
        }
    }

    /// Whether no upload is left.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// Waits for the remaining uploads.
    pub(super) async fn finish(&self) {
        self.queue.flush(FINISH).await;
    }

    async fn identify(&self, program: Program) -> Reply {
        let files = Arc::clone(&self.files);
        let identified = tokio::task::spawn_blocking(move || identify(&program, &files)).await;
        match identified.unwrap_or_else(|error| Err(Fault::lasting(error.to_string()))) {
            Ok(files) => Reply::Identified(files),
            Err(fault) => {
                let topic = Topic::Local(fault.message.clone());
                Reply::Declined { reason: self.remote.notes.once(topic, || fault.message) }
            }
        }
    }

    /// Flushes the uploads. The reply carries the pending notes, which most replies cannot.
    async fn flush(&self, limit: Duration) -> Reply {
        let flushed = self.queue.flush(limit).await;
        let mut reason = self.remote.notes.take();
        if flushed == FlushOutcome::TimedOut && reason.is_empty() {
            reason = self.remote.notes.once(Topic::Late, || {
                format!("results are still being stored after {} s; that goes on", limit.as_secs())
            });
        }
        if reason.is_empty() { Reply::Accepted } else { Reply::Declined { reason } }
    }
}
