//! Execution of an action: the stream of its long-running operation, resumed with WaitExecution when it breaks.

use std::time::Duration;

use prost::Message;
use tokio::time::{Instant, sleep, timeout_at};
use tonic::{Code, Status, Streaming};

use super::Grpc;
use super::channel::Connection;
use crate::api::execution_client::ExecutionClient;
use crate::api::execution_stage::Value as Stage;
use crate::api::longrunning::{Operation, operation};
use crate::api::{ExecuteOperationMetadata, ExecuteRequest, ExecuteResponse, WaitExecutionRequest};
use crate::digest::Digest;
use crate::fault::{Fault, FaultKind, NO_WORKER};
use crate::retry::pause;

/// An execution and its timeouts.
#[derive(Clone, Debug)]
pub(crate) struct Execution {
    pub(crate) action: Digest,
    /// Outputs that the server may inline.
    pub(crate) inline: Vec<String>,
    /// The cache lookup of the server.
    pub(crate) lookup: Lookup,
    /// The longest time in the queue.
    pub(crate) queued: Duration,
    /// The longest time on a worker; `None` is unlimited.
    pub(crate) running: Option<Duration>,
}

/// Whether a cached result is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    Cache,
    Never,
}

/// The consecutive broken streams without a message.
const MAX_BREAKS: u32 = 3;

/// The progress of an operation.
struct Progress<'a> {
    execution: &'a Execution,
    /// By which the server knows the operation.
    name: Option<String>,
    stage: Stage,
    deadline: Option<Instant>,
    breaks: u32,
}

impl Grpc {
    /// Runs an action whose parts are stored.
    ///
    /// # Errors
    /// On a timeout, or if the server fails. A failed action is a response.
    pub(crate) async fn execute(&self, execution: &Execution) -> Result<ExecuteResponse, Fault> {
        let mut progress = Progress::new(execution);
        loop {
            let fault = match self.follow(&mut progress).await {
                Ok(response) => match response.status.as_ref().filter(|status| status.code != 0) {
                    None => return Ok(response),
                    Some(status) => {
                        // The operation is over: another attempt is another operation.
                        progress.name = None;
                        response_fault(status.into(), Code::from_i32(status.code))
                    }
                },
                Err(fault) => fault,
            };
            if fault.kind != FaultKind::Transient || progress.breaks >= MAX_BREAKS || progress.is_late() {
                return Err(fault);
            }
            sleep(pause(progress.breaks)).await;
            progress.breaks = progress.breaks.saturating_add(1);
        }
    }

    /// Follows the operation until its response or the end of the stream.
    async fn follow(&self, progress: &mut Progress<'_>) -> Result<ExecuteResponse, Fault> {
        let mut stream = progress.in_time(self.stream(progress)).await?.map_err(|status| {
            if progress.name.take().is_some() && status.code() == Code::NotFound {
                return Fault::new(FaultKind::Transient, "the server has forgotten the command");
            }
            execute_fault(status)
        })?;
        loop {
            match progress.in_time(stream.message()).await?.map_err(execute_fault)? {
                Some(operation) => {
                    if let Some(response) = progress.message(operation)? {
                        return Ok(response);
                    }
                }
                None => return Err(Fault::new(FaultKind::Transient, "the server sent no result")),
            }
        }
    }

    async fn stream(&self, progress: &Progress<'_>) -> Result<Streaming<Operation>, Status> {
        let connection = self.executions.next().unwrap_or(&self.connection);
        let mut client: ExecutionClient<Connection> = ExecutionClient::new(connection.clone());
        client = client.max_decoding_message_size(64 << 20);
        let answer = match &progress.name {
            Some(name) => client.wait_execution(WaitExecutionRequest { name: name.clone() }).await,
            None => client.execute(self.request(progress.execution)).await,
        };
        answer.map(tonic::Response::into_inner)
    }

    fn request(&self, execution: &Execution) -> ExecuteRequest {
        ExecuteRequest {
            instance_name: self.instance.clone(),
            skip_cache_lookup: execution.lookup == Lookup::Never,
            action_digest: Some(execution.action.message()),
            inline_stdout: true,
            inline_stderr: true,
            inline_output_files: execution.inline.clone(),
            ..Default::default()
        }
    }
}

impl<'a> Progress<'a> {
    fn new(execution: &'a Execution) -> Progress<'a> {
        let deadline = execution.running.map(|running| Instant::now() + execution.queued + running);
        Progress { execution, name: None, stage: Stage::Unknown, deadline, breaks: 0 }
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }

    async fn in_time<T>(&self, call: impl Future<Output = T>) -> Result<T, Fault> {
        match self.deadline {
            Some(deadline) => timeout_at(deadline, call).await.map_err(|_| self.late()),
            None => Ok(call.await),
        }
    }

    fn late(&self) -> Fault {
        match self.stage {
            Stage::Queued | Stage::CacheCheck => {
                let seconds = self.execution.queued.as_secs();
                Fault::lasting(format!("no worker took the command within {seconds} s")).hint(NO_WORKER)
            }
            _ => Fault::lasting("the command did not end in time"),
        }
    }

    /// Takes the response out of a message, if it is there.
    fn message(&mut self, operation: Operation) -> Result<Option<ExecuteResponse>, Fault> {
        self.breaks = 0;
        if !operation.name.is_empty() {
            self.name = Some(operation.name);
        }
        let stage = operation.metadata.and_then(|metadata| {
            let metadata = ExecuteOperationMetadata::decode(metadata.value.as_slice()).ok()?;
            Stage::try_from(metadata.stage).ok()
        });
        self.enter(stage.unwrap_or(Stage::Unknown));
        match operation.result {
            Some(operation::Result::Response(response)) => {
                ExecuteResponse::decode(response.value.as_slice()).map(Some).map_err(|error| {
                    Fault::lasting(format!("the server sent a response that cannot be read: {error}"))
                })
            }
            Some(operation::Result::Error(status)) => {
                self.name = None;
                Err(response_fault((&status).into(), Code::from_i32(status.code)))
            }
            None => Ok(None),
        }
    }

    /// Enters a stage, which starts its timeout.
    fn enter(&mut self, stage: Stage) {
        if stage == self.stage {
            return;
        }
        self.stage = stage;
        match stage {
            Stage::Queued => self.deadline = Some(Instant::now() + self.execution.queued),
            Stage::Executing => {
                self.deadline = self.execution.running.map(|running| Instant::now() + running);
            }
            _ => {}
        }
    }
}

fn execute_fault(status: Status) -> Fault {
    let code = status.code();
    response_fault(status.into(), code)
}

fn response_fault(fault: Fault, code: Code) -> Fault {
    match code {
        Code::FailedPrecondition => Fault { kind: FaultKind::Evicted, ..fault },
        Code::DeadlineExceeded => Fault { kind: FaultKind::Lasting, ..fault }
            .hint("the worker stopped the command, which took too long"),
        Code::PermissionDenied => {
            fault.hint("ask who runs the server for the right to run commands, or set `execute = false`")
        }
        Code::Unimplemented => fault.hint("the server runs no commands: set `execute = false`"),
        _ => fault,
    }
}
