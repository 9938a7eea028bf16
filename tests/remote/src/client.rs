//! A small client of the Remote Execution API, which checks a server before the client under test uses it.

use bazel_remote_apis::google::longrunning::operation;
use prost::Message;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use crate::api::action_cache_client::ActionCacheClient;
use crate::api::capabilities_client::CapabilitiesClient;
use crate::api::content_addressable_storage_client::ContentAddressableStorageClient;
use crate::api::execution_client::ExecutionClient;
use crate::api::{
    Action, ActionResult, BatchReadBlobsRequest, BatchUpdateBlobsRequest, Command, Digest, Directory,
    ExecuteRequest, ExecuteResponse, FileNode, FindMissingBlobsRequest, GetActionResultRequest,
    GetCapabilitiesRequest, ServerCapabilities, UpdateActionResultRequest, batch_update_blobs_request,
};
use crate::blobs;

/// A connection to a server.
#[derive(Clone, Debug)]
pub struct Client {
    channel: Channel,
    instance: String,
}

/// An input file: its name and its bytes.
pub type File<'a> = (&'a str, &'a [u8]);

impl Client {
    /// Connects to `http://HOST:PORT`.
    ///
    /// # Errors
    /// If the connection is refused.
    pub async fn connect(url: String, instance: &str) -> Result<Client, tonic::transport::Error> {
        let channel = Endpoint::from_shared(url)?.connect().await?;
        Ok(Client { channel, instance: instance.to_string() })
    }

    /// The same connection with another name of the server's part.
    #[must_use]
    pub fn with_instance(&self, instance: &str) -> Client {
        Client { channel: self.channel.clone(), instance: instance.to_string() }
    }

    /// The capabilities of the server.
    ///
    /// # Errors
    /// The status of a failed call.
    pub async fn capabilities(&self) -> Result<ServerCapabilities, Status> {
        let request = GetCapabilitiesRequest { instance_name: self.instance.clone() };
        let response = CapabilitiesClient::new(self.channel.clone()).get_capabilities(request).await?;
        Ok(response.into_inner())
    }

    /// Uploads blobs in one batch.
    ///
    /// # Errors
    /// The status of a failed call or blob.
    pub async fn upload(&self, all: Vec<(Digest, Vec<u8>)>) -> Result<(), Status> {
        let requests = all.into_iter().map(|(digest, data)| batch_update_blobs_request::Request {
            digest: Some(digest),
            data,
            ..Default::default()
        });
        let request = BatchUpdateBlobsRequest {
            instance_name: self.instance.clone(),
            requests: requests.collect(),
            ..Default::default()
        };
        let response = self.cas().batch_update_blobs(request).await?.into_inner();
        let failed = response.responses.into_iter().filter_map(|it| it.status).find(|it| it.code != 0);
        failed.map_or(Ok(()), |status| Err(Status::new(Code::from_i32(status.code), status.message)))
    }

    /// Those of `digests` that the server does not have.
    ///
    /// # Errors
    /// The status of a failed call.
    pub async fn missing(&self, digests: Vec<Digest>) -> Result<Vec<Digest>, Status> {
        let request = FindMissingBlobsRequest {
            instance_name: self.instance.clone(),
            blob_digests: digests,
            ..Default::default()
        };
        Ok(self.cas().find_missing_blobs(request).await?.into_inner().missing_blob_digests)
    }

    /// Downloads a blob without verifying its digest.
    ///
    /// # Errors
    /// The status of a failed call.
    pub async fn read(&self, digest: &Digest) -> Result<Vec<u8>, Status> {
        let request = BatchReadBlobsRequest {
            instance_name: self.instance.clone(),
            digests: vec![digest.clone()],
            ..Default::default()
        };
        let response = self.cas().batch_read_blobs(request).await?.into_inner();
        let first = response.responses.into_iter().next().ok_or_else(|| Status::internal("no answer"))?;
        let status = first.status.unwrap_or_default();
        match status.code {
            0 => Ok(first.data),
            code => Err(Status::new(Code::from_i32(code), status.message)),
        }
    }

    /// The stored result of an action, if there is one.
    ///
    /// # Errors
    /// The status of a failed call, except `NotFound`.
    pub async fn result(&self, action: &Digest) -> Result<Option<ActionResult>, Status> {
        let request = GetActionResultRequest {
            instance_name: self.instance.clone(),
            action_digest: Some(action.clone()),
            ..Default::default()
        };
        match ActionCacheClient::new(self.channel.clone()).get_action_result(request).await {
            Ok(response) => Ok(Some(response.into_inner())),
            Err(status) if status.code() == Code::NotFound => Ok(None),
            Err(status) => Err(status),
        }
    }

    /// Stores the result of an action.
    ///
    /// # Errors
    /// The status of a failed call.
    pub async fn set_result(&self, action: &Digest, result: ActionResult) -> Result<(), Status> {
        let request = UpdateActionResultRequest {
            instance_name: self.instance.clone(),
            action_digest: Some(action.clone()),
            action_result: Some(result),
            ..Default::default()
        };
        ActionCacheClient::new(self.channel.clone()).update_action_result(request).await?;
        Ok(())
    }

    /// Runs a command with input files in one directory, and waits for its end.
    ///
    /// # Errors
    /// The status of a failed call.
    pub async fn execute(&self, command: &Command, files: &[File<'_>]) -> Result<ExecuteResponse, Status> {
        let (action, all) = action(command, files);
        self.upload(all).await?;
        self.execute_action(&action).await
    }

    /// Runs an action whose blobs are there, and waits for its end.
    ///
    /// # Errors
    /// The status of a failed call.
    pub async fn execute_action(&self, action: &Digest) -> Result<ExecuteResponse, Status> {
        let request = ExecuteRequest {
            instance_name: self.instance.clone(),
            action_digest: Some(action.clone()),
            ..Default::default()
        };
        let mut stream = ExecutionClient::new(self.channel.clone()).execute(request).await?.into_inner();
        while let Some(operation) = stream.message().await? {
            if let Some(operation::Result::Response(any)) = operation.result {
                let response = ExecuteResponse::decode(any.value.as_slice());
                return response.map_err(|error| Status::internal(error.to_string()));
            }
        }
        Err(Status::internal("the operation has no end"))
    }

    fn cas(&self) -> ContentAddressableStorageClient<Channel> {
        let client = ContentAddressableStorageClient::new(self.channel.clone());
        client.max_decoding_message_size(usize::MAX)
    }
}

/// The name of an action, and all blobs that it consists of.
pub fn action(command: &Command, files: &[File<'_>]) -> (Digest, Vec<(Digest, Vec<u8>)>) {
    let contents = files.iter().map(|(_, bytes)| (blobs::digest(bytes), bytes.to_vec()));
    let mut all: Vec<_> = contents.collect();
    let mut nodes: Vec<FileNode> = Vec::new();
    for ((name, _), (digest, _)) in files.iter().zip(&all) {
        let digest = Some(digest.clone());
        nodes.push(FileNode { name: (*name).to_string(), digest, ..FileNode::default() });
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    let root = blobs::of_message(&Directory { files: nodes, ..Directory::default() });
    let command = blobs::of_message(command);
    let action = blobs::of_message(&Action {
        command_digest: Some(command.0.clone()),
        input_root_digest: Some(root.0.clone()),
        ..Action::default()
    });
    let digest = action.0.clone();
    all.extend([root, command, action]);
    (digest, all)
}
