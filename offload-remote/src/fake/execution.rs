//! Executions of the fake server: `sha256sum` hashes files, every other command writes its arguments.

use prost::Message;
use tonic::{Request, Response, Status, async_trait};

use super::Fake;
use super::cas::Boxed;
use crate::api::execution_server::Execution;
use crate::api::longrunning::{Operation, operation};
use crate::api::{
    Action, ActionResult, Command, Directory, ExecuteRequest, ExecuteResponse, OutputFile,
    WaitExecutionRequest, protobuf,
};
use crate::digest::Digest;
use crate::store::Lookup;

impl Fake {
    fn blob<M: Message + Default>(&self, digest: Option<&crate::api::Digest>) -> Result<M, Status> {
        let state = self.state();
        let bytes = state.blobs.get(&digest.unwrap().hash);
        let bytes = bytes.ok_or_else(|| Status::failed_precondition("a blob is missing"))?;
        Ok(M::decode(bytes.as_slice()).unwrap())
    }

    /// Whether everything below is there.
    fn check(&self, folder: Option<&crate::api::Digest>) -> Result<(), Status> {
        let folder: Directory = self.blob(folder)?;
        for file in &folder.files {
            if !self.state().blobs.contains_key(&file.digest.as_ref().unwrap().hash) {
                return Err(Status::failed_precondition("an input is missing"));
            }
        }
        folder.directories.iter().try_for_each(|folder| self.check(folder.digest.as_ref()))
    }

    /// The response to an action, whose result is kept if that may be.
    fn run(&self, digest: Option<&crate::api::Digest>, lookup: Lookup) -> Result<ExecuteResponse, Status> {
        let action: Action = self.blob(digest)?;
        self.check(action.input_root_digest.as_ref())?;
        let hash = &digest.unwrap().hash;
        let known = self.state().results.get(hash).cloned();
        if let Some(result) = known.filter(|_| lookup == Lookup::Cache) {
            return Ok(ExecuteResponse { result: Some(result), cached_result: true, ..Default::default() });
        }
        let result = self.result(&self.blob(action.command_digest.as_ref())?);
        let mut state = self.state();
        state.calls.push("run");
        if !action.do_not_cache && result.exit_code == 0 {
            state.results.insert(hash.clone(), result.clone());
        }
        Ok(ExecuteResponse { result: Some(result), ..Default::default() })
    }

    fn result(&self, command: &Command) -> ActionResult {
        let (program, arguments) = command.arguments.split_first().unwrap();
        if program == "/usr/bin/sha256sum" {
            self.state().hashed.extend_from_slice(arguments);
            let others = self.state().others.clone();
            let mut stdout = String::new();
            for path in arguments {
                let mut content = std::fs::read(path).unwrap();
                if others.contains(path) {
                    content.push(0);
                }
                stdout.push_str(&format!("{}  {path}\n", Digest::from_bytes(&content).hex()));
            }
            let stdout_raw = stdout.into_bytes();
            return ActionResult { stdout_raw, ..Default::default() };
        }
        let content = command.arguments.join(" ").into_bytes();
        let digest = Digest::from_bytes(&content);
        self.state().blobs.insert(digest.hex(), content);
        let output_files = command.output_paths.iter().filter(|path| *path != "missing").map(|path| {
            OutputFile { path: path.clone(), digest: Some(digest.message()), ..Default::default() }
        });
        ActionResult {
            output_files: output_files.collect(),
            exit_code: i32::from(arguments.iter().any(|argument| argument == "fail")),
            stdout_raw: b"printed".to_vec(),
            stderr_digest: Some(digest.message()),
            ..Default::default()
        }
    }

    /// A message that names the operation, and the one with the response unless the stream is to break.
    fn operation(
        &self,
        digest: Option<&crate::api::Digest>,
        lookup: Lookup,
    ) -> Result<Response<Boxed<Operation>>, Status> {
        let response = self.run(digest, lookup)?;
        let name = operation_name(digest);
        let first = Operation { name: name.clone(), ..Default::default() };
        let any = protobuf::Any { value: response.encode_to_vec(), ..Default::default() };
        let last =
            Operation { name, done: true, result: Some(operation::Result::Response(any)), metadata: None };
        let mut state = self.state();
        let end = if state.breaks > 0 {
            state.breaks -= 1;
            Err(Status::unavailable("restarting"))
        } else {
            Ok(last)
        };
        Ok(Response::new(Box::pin(tokio_stream::iter([Ok(first), end]))))
    }
}

/// Names of operations are the server's affair: here they are the digest.
fn operation_name(digest: Option<&crate::api::Digest>) -> String {
    let digest = digest.unwrap();
    format!("{}/{}", digest.hash, digest.size_bytes)
}

#[async_trait]
impl Execution for Fake {
    type ExecuteStream = Boxed<Operation>;
    type WaitExecutionStream = Boxed<Operation>;

    async fn execute(
        &self,
        request: Request<ExecuteRequest>,
    ) -> Result<Response<Self::ExecuteStream>, Status> {
        self.enter("execute", &request).await?;
        let gather = self.state().gather.clone();
        if let Some(gather) = gather {
            gather.wait().await;
        }
        let request = request.into_inner();
        let lookup = if request.skip_cache_lookup { Lookup::Never } else { Lookup::Cache };
        self.operation(request.action_digest.as_ref(), lookup)
    }

    async fn wait_execution(
        &self,
        request: Request<WaitExecutionRequest>,
    ) -> Result<Response<Self::WaitExecutionStream>, Status> {
        self.enter("wait", &request).await?;
        let name = request.into_inner().name;
        let (hash, size) = name.split_once('/').unwrap();
        let digest = crate::api::Digest { hash: hash.into(), size_bytes: size.parse().unwrap() };
        self.operation(Some(&digest), Lookup::Cache)
    }
}
