//! Blobs that are too large for a batch.

use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStream;
use bazel_remote_apis::google::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};
use tokio_stream::Iter;
use tonic::{Request, Response, Status, Streaming};

use super::{Call, Standin};
use crate::blobs;

/// What other servers send at a time.
const PIECE: usize = 64 << 10;

#[tonic::async_trait]
impl ByteStream for Standin {
    type ReadStream = Iter<std::vec::IntoIter<Result<ReadResponse, Status>>>;

    async fn read(&self, request: Request<ReadRequest>) -> Result<Response<Self::ReadStream>, Status> {
        let request = request.into_inner();
        self.enter(Call::StreamRead, blobs::instance(&request.resource_name)).await?;
        let digest = blobs::of_resource(&request.resource_name);
        let digest = digest.ok_or_else(|| Status::invalid_argument(request.resource_name.clone()))?;
        let bytes = self.blob(&digest).ok_or_else(|| Status::not_found(request.resource_name.clone()))?;
        let from = usize::try_from(request.read_offset).unwrap_or(usize::MAX);
        let rest = bytes.get(from..).ok_or_else(|| Status::out_of_range("offset"))?;
        let pieces: Vec<_> =
            rest.chunks(PIECE).map(|piece| Ok(ReadResponse { data: piece.to_vec() })).collect();
        Ok(Response::new(tokio_stream::iter(pieces)))
    }

    async fn write(
        &self,
        request: Request<Streaming<WriteRequest>>,
    ) -> Result<Response<WriteResponse>, Status> {
        let mut stream = request.into_inner();
        let mut name = String::new();
        let mut bytes = Vec::new();
        while let Some(piece) = stream.message().await? {
            if name.is_empty() {
                name = piece.resource_name;
            }
            bytes.extend_from_slice(&piece.data);
            if piece.finish_write {
                break;
            }
        }
        self.enter(Call::StreamWrite, blobs::instance(&name)).await?;
        let digest = blobs::of_resource(&name).ok_or_else(|| Status::invalid_argument(name))?;
        let committed_size = digest.size_bytes;
        self.add(&digest, bytes)?;
        Ok(Response::new(WriteResponse { committed_size }))
    }

    async fn query_write_status(
        &self,
        request: Request<QueryWriteStatusRequest>,
    ) -> Result<Response<QueryWriteStatusResponse>, Status> {
        let name = request.into_inner().resource_name;
        self.enter(Call::StreamWrite, blobs::instance(&name)).await?;
        let digest = blobs::of_resource(&name).ok_or_else(|| Status::invalid_argument(name))?;
        let complete = self.input(&digest).is_some();
        let committed_size = if complete { digest.size_bytes } else { 0 };
        Ok(Response::new(QueryWriteStatusResponse { committed_size, complete }))
    }
}
