//! Content-addressed storage of the fake server.

use tokio_stream::Stream;
use tonic::{Code, Request, Response, Status, Streaming, async_trait};

use super::Fake;
use crate::api::bytestream::byte_stream_server::ByteStream;
use crate::api::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};
use crate::api::content_addressable_storage_server::ContentAddressableStorage;
use crate::api::{
    BatchReadBlobsRequest, BatchReadBlobsResponse, BatchUpdateBlobsRequest, BatchUpdateBlobsResponse,
    FindMissingBlobsRequest, FindMissingBlobsResponse, GetChunkMappingRequest, GetChunkMappingResponse,
    GetTreeRequest, GetTreeResponse, RegisterChunkMappingRequest, RegisterChunkMappingResponse,
    SpliceBlobRequest, SpliceBlobResponse, SplitBlobRequest, SplitBlobResponse, batch_read_blobs_response,
    batch_update_blobs_response, rpc,
};
use crate::digest::Digest;

pub(super) type Boxed<T> = std::pin::Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl Fake {
    /// Takes a blob, if it is what its digest says.
    fn take(&self, hash: &str, data: Vec<u8>) -> Result<(), Status> {
        if Digest::from_bytes(&data).hex() != hash {
            return Err(Status::invalid_argument("another digest"));
        }
        self.state().blobs.insert(hash.to_string(), data);
        Ok(())
    }
}

#[async_trait]
impl ContentAddressableStorage for Fake {
    type GetTreeStream = Boxed<GetTreeResponse>;
    type GetChunkMappingStream = Boxed<GetChunkMappingResponse>;

    async fn find_missing_blobs(
        &self,
        request: Request<FindMissingBlobsRequest>,
    ) -> Result<Response<FindMissingBlobsResponse>, Status> {
        self.enter("missing", &request).await?;
        let mut missing = request.into_inner().blob_digests;
        missing.retain(|digest| !self.state().blobs.contains_key(&digest.hash));
        Ok(Response::new(FindMissingBlobsResponse { missing_blob_digests: missing }))
    }

    async fn batch_update_blobs(
        &self,
        request: Request<BatchUpdateBlobsRequest>,
    ) -> Result<Response<BatchUpdateBlobsResponse>, Status> {
        self.enter("batch update", &request).await?;
        let mut responses = Vec::new();
        for blob in request.into_inner().requests {
            let digest = blob.digest.unwrap();
            self.take(&digest.hash, blob.data)?;
            let status = Some(rpc::Status::default());
            responses.push(batch_update_blobs_response::Response { digest: Some(digest), status });
        }
        Ok(Response::new(BatchUpdateBlobsResponse { responses }))
    }

    async fn batch_read_blobs(
        &self,
        request: Request<BatchReadBlobsRequest>,
    ) -> Result<Response<BatchReadBlobsResponse>, Status> {
        self.enter("batch read", &request).await?;
        let mut responses = Vec::new();
        for digest in request.into_inner().digests {
            let data = self.state().blobs.get(&digest.hash).cloned();
            let code = if data.is_some() { Code::Ok } else { Code::NotFound };
            responses.push(batch_read_blobs_response::Response {
                digest: Some(digest),
                data: data.unwrap_or_default(),
                status: Some(rpc::Status { code: code.into(), ..Default::default() }),
                ..Default::default()
            });
        }
        Ok(Response::new(BatchReadBlobsResponse { responses }))
    }

    async fn get_tree(&self, _: Request<GetTreeRequest>) -> Result<Response<Self::GetTreeStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn split_blob(&self, _: Request<SplitBlobRequest>) -> Result<Response<SplitBlobResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_chunk_mapping(
        &self,
        _: Request<GetChunkMappingRequest>,
    ) -> Result<Response<Self::GetChunkMappingStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn splice_blob(
        &self,
        _: Request<SpliceBlobRequest>,
    ) -> Result<Response<SpliceBlobResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn register_chunk_mapping(
        &self,
        _: Request<Streaming<RegisterChunkMappingRequest>>,
    ) -> Result<Response<RegisterChunkMappingResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}

#[async_trait]
impl ByteStream for Fake {
    type ReadStream = Boxed<ReadResponse>;

    async fn read(&self, request: Request<ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        self.enter("stream read", &request).await?;
        let name = request.into_inner().resource_name;
        let hash = name.rsplit('/').nth(1).unwrap();
        let data = self.state().blobs.get(hash).cloned().ok_or_else(|| Status::not_found("no such blob"))?;
        let pieces: Vec<_> =
            data.chunks(100_000).map(|piece| Ok(ReadResponse { data: piece.to_vec() })).collect();
        Ok(Response::new(Box::pin(tokio_stream::iter(pieces))))
    }

    async fn write(
        &self,
        request: Request<Streaming<WriteRequest>>,
    ) -> Result<Response<WriteResponse>, Status> {
        self.enter("stream write", &request).await?;
        let mut stream = request.into_inner();
        let mut name = String::new();
        let mut data = Vec::new();
        let mut is_finished = false;
        while let Some(piece) = stream.message().await? {
            if name.is_empty() {
                name = piece.resource_name;
            }
            assert_eq!(piece.write_offset, data.len() as i64);
            data.extend(piece.data);
            is_finished = piece.finish_write;
        }
        let instance = self.state().instance.clone();
        let start = if instance.is_empty() { "uploads/".into() } else { format!("{instance}/uploads/") };
        if !is_finished || !name.starts_with(&start) {
            return Err(Status::invalid_argument("no whole upload"));
        }
        let size = data.len() as i64;
        self.take(name.rsplit('/').nth(1).unwrap(), data)?;
        Ok(Response::new(WriteResponse { committed_size: size }))
    }

    async fn query_write_status(
        &self,
        _: Request<QueryWriteStatusRequest>,
    ) -> Result<Response<QueryWriteStatusResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}
