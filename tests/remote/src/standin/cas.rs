//! The store of blobs.

use bazel_remote_apis::google::rpc::Status as RpcStatus;
use prost::Message;
use tokio_stream::Empty;
use tonic::{Code, Request, Response, Status, Streaming};

use super::{Call, Standin};
use crate::api::content_addressable_storage_server::ContentAddressableStorage;
use crate::api::{
    BatchReadBlobsRequest, BatchReadBlobsResponse, BatchUpdateBlobsRequest, BatchUpdateBlobsResponse, Digest,
    Directory, FindMissingBlobsRequest, FindMissingBlobsResponse, GetChunkMappingRequest,
    GetChunkMappingResponse, GetTreeRequest, GetTreeResponse, RegisterChunkMappingRequest,
    RegisterChunkMappingResponse, SpliceBlobRequest, SpliceBlobResponse, SplitBlobRequest, SplitBlobResponse,
    batch_read_blobs_response, batch_update_blobs_response,
};

impl Standin {
    /// All directories below the one that is named, itself first.
    fn tree(&self, root: &Digest) -> Result<Vec<Directory>, Status> {
        let bytes = self.input(root).ok_or_else(|| Status::not_found(root.hash.clone()))?;
        let directory = Directory::decode(bytes.as_slice());
        let directory = directory.map_err(|error| Status::invalid_argument(error.to_string()))?;
        let mut all = vec![directory.clone()];
        for digest in directory.directories.iter().filter_map(|node| node.digest.as_ref()) {
            all.extend(self.tree(digest)?);
        }
        Ok(all)
    }
}

#[tonic::async_trait]
impl ContentAddressableStorage for Standin {
    type GetTreeStream = tokio_stream::Once<Result<GetTreeResponse, Status>>;
    type GetChunkMappingStream = Empty<Result<GetChunkMappingResponse, Status>>;

    async fn find_missing_blobs(
        &self,
        request: Request<FindMissingBlobsRequest>,
    ) -> Result<Response<FindMissingBlobsResponse>, Status> {
        let mut request = request.into_inner();
        self.enter(Call::FindMissing, &request.instance_name).await?;
        request.blob_digests.retain(|digest| self.input(digest).is_none());
        Ok(Response::new(FindMissingBlobsResponse { missing_blob_digests: request.blob_digests }))
    }

    async fn batch_update_blobs(
        &self,
        request: Request<BatchUpdateBlobsRequest>,
    ) -> Result<Response<BatchUpdateBlobsResponse>, Status> {
        let request = request.into_inner();
        self.enter(Call::Update, &request.instance_name).await?;
        let responses = request.requests.into_iter().map(|it| {
            let digest = it.digest.unwrap_or_default();
            let added = self.add(&digest, it.data);
            batch_update_blobs_response::Response { digest: Some(digest), status: Some(status(added.err())) }
        });
        Ok(Response::new(BatchUpdateBlobsResponse { responses: responses.collect() }))
    }

    async fn batch_read_blobs(
        &self,
        request: Request<BatchReadBlobsRequest>,
    ) -> Result<Response<BatchReadBlobsResponse>, Status> {
        let request = request.into_inner();
        self.enter(Call::Read, &request.instance_name).await?;
        let responses = request.digests.into_iter().map(|digest| {
            let found = self.blob(&digest);
            let missing = found.is_none().then(|| Status::not_found("no such blob"));
            batch_read_blobs_response::Response {
                digest: Some(digest),
                data: found.unwrap_or_default(),
                status: Some(status(missing)),
                ..Default::default()
            }
        });
        Ok(Response::new(BatchReadBlobsResponse { responses: responses.collect() }))
    }

    async fn get_tree(
        &self,
        request: Request<GetTreeRequest>,
    ) -> Result<Response<Self::GetTreeStream>, Status> {
        let request = request.into_inner();
        self.enter(Call::Tree, &request.instance_name).await?;
        let directories = self.tree(&request.root_digest.unwrap_or_default())?;
        let response = GetTreeResponse { directories, ..GetTreeResponse::default() };
        Ok(Response::new(tokio_stream::once(Ok(response))))
    }

    async fn split_blob(&self, _: Request<SplitBlobRequest>) -> Result<Response<SplitBlobResponse>, Status> {
        Err(Status::unimplemented("SplitBlob"))
    }

    async fn get_chunk_mapping(
        &self,
        _: Request<GetChunkMappingRequest>,
    ) -> Result<Response<Self::GetChunkMappingStream>, Status> {
        Err(Status::unimplemented("GetChunkMapping"))
    }

    async fn splice_blob(
        &self,
        _: Request<SpliceBlobRequest>,
    ) -> Result<Response<SpliceBlobResponse>, Status> {
        Err(Status::unimplemented("SpliceBlob"))
    }

    async fn register_chunk_mapping(
        &self,
        _: Request<Streaming<RegisterChunkMappingRequest>>,
    ) -> Result<Response<RegisterChunkMappingResponse>, Status> {
        Err(Status::unimplemented("RegisterChunkMapping"))
    }
}

/// The status of one blob of a batch.
fn status(error: Option<Status>) -> RpcStatus {
    let error = error.unwrap_or_else(|| Status::new(Code::Ok, ""));
    RpcStatus { code: error.code() as i32, message: error.message().to_string(), details: Vec::new() }
}
