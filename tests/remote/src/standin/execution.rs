//! Execution: a stream of operations, of which the last has the result.

use bazel_remote_apis::google::longrunning::{Operation, operation};
use bazel_remote_apis::google::protobuf::Any;
use bazel_remote_apis::google::rpc::Status as RpcStatus;
use prost::Message;
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::Empty;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status};

use super::{Call, Fault, Standin, Work, lock, run};
use crate::api::execution_server::Execution;
use crate::api::{
    Action, ActionResult, Command, Digest, ExecuteOperationMetadata, ExecuteRequest, ExecuteResponse,
    WaitExecutionRequest, execution_stage,
};

const TYPES: &str = "type.googleapis.com/build.bazel.remote.execution.v2.";

/// A decoded action.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) action: Action,
    pub(super) command: Command,
}

#[tonic::async_trait]
impl Execution for Standin {
    type ExecuteStream = ReceiverStream<Result<Operation, Status>>;
    type WaitExecutionStream = Empty<Result<Operation, Status>>;

    async fn execute(
        &self,
        request: Request<ExecuteRequest>,
    ) -> Result<Response<Self::ExecuteStream>, Status> {
        let request = request.into_inner();
        self.enter(Call::Execute, &request.instance_name).await?;
        if self.has(Fault::Unavailable) {
            return Err(Status::unavailable("no worker"));
        }
        let (sender, receiver) = mpsc::channel(4);
        let server = self.clone();
        tokio::spawn(async move { server.answer(request, sender).await });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn wait_execution(
        &self,
        _: Request<WaitExecutionRequest>,
    ) -> Result<Response<Self::WaitExecutionStream>, Status> {
        // An operation ends with the stream of the call that began it.
        Err(Status::not_found("no such operation"))
    }
}

impl Standin {
    async fn answer(&self, request: ExecuteRequest, sender: Sender<Result<Operation, Status>>) {
        let digest = request.action_digest.clone().unwrap_or_default();
        let queued = operation(&digest, execution_stage::Value::Queued);
        // The client is gone: the work goes on, as on other servers.
        let _ = sender.send(Ok(queued)).await;
        let cached = if request.skip_cache_lookup { None } else { self.result(&digest.hash) };
        let is_cached = cached.is_some();
        let done = match cached {
            Some(result) => Ok(result),
            None => self.work(&digest).await,
        };
        let last = match done {
            Ok(result) => ended(&digest, (Some(result), is_cached, Status::new(Code::Ok, ""))),
            Err(status) => ended(&digest, (None, false, status)),
        };
        let _ = sender.send(Ok(last)).await;
    }

    /// Does the work of an action once a worker is free.
    async fn work(&self, digest: &Digest) -> Result<ActionResult, Status> {
        let _slot = self.0.slots.acquire().await.map_err(|_| Status::unavailable("no worker"))?;
        let action: Action = self.message(digest)?;
        let command: Command = self.message(&action.command_digest.clone().unwrap_or_default())?;
        let job = Job { action, command };
        let result = match self.0.options.work {
            Work::Run => run::run(self, &job).await?,
            Work::Sleep(time) => {
                tokio::time::sleep(time).await;
                run::pretend(self, (digest, &job))
            }
        };
        let mut counts = lock(&self.0.counts);
        counts.worked = counts.worked.saturating_add(1);
        drop(counts);
        if result.exit_code == 0 && !job.action.do_not_cache {
            lock(&self.0.store).results.insert(digest.hash.clone(), result.clone());
        }
        Ok(result)
    }

    fn message<T: Message + Default>(&self, digest: &Digest) -> Result<T, Status> {
        let bytes = self.input(digest).ok_or_else(|| run::missing(digest))?;
        T::decode(bytes.as_slice()).map_err(|error| Status::invalid_argument(error.to_string()))
    }
}

fn operation(digest: &Digest, stage: execution_stage::Value) -> Operation {
    let metadata = ExecuteOperationMetadata {
        stage: stage as i32,
        action_digest: Some(digest.clone()),
        ..ExecuteOperationMetadata::default()
    };
    let metadata = any("ExecuteOperationMetadata", &metadata);
    Operation { name: digest.hash.clone(), metadata: Some(metadata), ..Operation::default() }
}

fn ended(
    digest: &Digest,
    (result, cached_result, status): (Option<ActionResult>, bool, Status),
) -> Operation {
    let code = status.code() as i32;
    let status = RpcStatus { code, message: status.message().to_string(), details: Vec::new() };
    let response =
        ExecuteResponse { result, cached_result, status: Some(status), ..ExecuteResponse::default() };
    let response = operation::Result::Response(any("ExecuteResponse", &response));
    Operation { done: true, result: Some(response), ..operation(digest, execution_stage::Value::Completed) }
}

fn any(name: &str, message: &impl Message) -> Any {
    Any { type_url: format!("{TYPES}{name}"), value: message.encode_to_vec() }
}
