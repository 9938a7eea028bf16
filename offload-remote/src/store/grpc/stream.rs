//! Transfers of large blobs by the ByteStream service.
//!
//! <https://github.com/googleapis/googleapis/blob/master/google/bytestream/bytestream.proto>

use std::hash::{BuildHasher, RandomState};
use std::io::Cursor;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;

use super::Grpc;
use super::channel::Connection;
use crate::api::bytestream::byte_stream_client::ByteStreamClient;
use crate::api::bytestream::{ReadRequest, WriteRequest};
use crate::digest::Digest;
use crate::fault::{Fault, FaultKind};
use crate::store::interface::{Blob, Content};

/// The chunk size.
const CHUNK_SIZE: usize = 1 << 20;

impl Grpc {
    pub(super) async fn write_stream(&self, blob: &Blob) -> Result<(), Fault> {
        let digest = blob.digest;
        let name = format!("{}uploads/{}/blobs/{}/{}", self.prefix(), unique(), digest.hex(), digest.size);
        let (pieces, receiver) = mpsc::channel(2);
        let content = blob.content.clone();
        let sender = tokio::spawn(async move { send(name, content, pieces).await });
        let answer = self.byte_stream().write(ReceiverStream::new(receiver)).await;
        match answer {
            Ok(answer) if answer.get_ref().committed_size == digest.message().size_bytes => Ok(()),
            Ok(answer) => {
                let size = answer.get_ref().committed_size;
                Err(Fault::new(
                    FaultKind::Transient,
                    format!("the server took {size} of {} bytes", digest.size),
                ))
            }
            // The read error of a file is the cause of the server's.
            Err(status) => match sender.await {
                Ok(Err(fault)) => Err(fault),
                _ => Err(status.into()),
            },
        }
    }

    /// Downloads the blob, if it is stored. Stops once the content is longer than the digest declares.
    pub(super) async fn read_stream(&self, digest: &Digest) -> Result<Option<Bytes>, Fault> {
        let resource_name = format!("{}blobs/{}/{}", self.prefix(), digest.hex(), digest.size);
        let request = ReadRequest { resource_name, ..Default::default() };
        let mut stream = match self.byte_stream().read(request).await {
            Ok(answer) => answer.into_inner(),
            Err(status) if status.code() == Code::NotFound => return Ok(None),
            Err(status) => return Err(status.into()),
        };
        let mut bytes = Vec::new();
        loop {
            match stream.message().await {
                Ok(Some(piece)) => bytes.extend_from_slice(&piece.data),
                Ok(None) => return Ok(Some(bytes.into())),
                // Some servers report a missing blob with the first chunk only.
                Err(status) if status.code() == Code::NotFound => return Ok(None),
                Err(status) => return Err(status.into()),
            }
            if bytes.len() as u64 > digest.size {
                return Ok(Some(bytes.into()));
            }
        }
    }

    fn byte_stream(&self) -> ByteStreamClient<Connection> {
        ByteStreamClient::new(self.connection.clone()).max_decoding_message_size(64 << 20)
    }

    fn prefix(&self) -> String {
        if self.instance.is_empty() { String::new() } else { format!("{}/", self.instance) }
    }
}

/// Sends chunks until the end, or until the server closes the stream.
async fn send(name: String, content: Content, pieces: mpsc::Sender<WriteRequest>) -> Result<(), Fault> {
    let mut reader: Box<dyn AsyncRead + Send + Unpin> = match content {
        Content::Bytes(bytes) => Box::new(Cursor::new(bytes)),
        Content::File(path) => {
            Box::new(tokio::fs::File::open(&path).await.map_err(|error| Fault::file("read", &path, &error))?)
        }
    };
    let mut offset = 0_i64;
    let mut resource_name = name;
    loop {
        let mut data = Vec::with_capacity(CHUNK_SIZE);
        let read = (&mut reader).take(CHUNK_SIZE as u64).read_to_end(&mut data).await;
        let size = read.map_err(|error| Fault::lasting(format!("cannot read an input: {error}")))?;
        let finish_write = size < CHUNK_SIZE;
        let piece = WriteRequest { resource_name, write_offset: offset, finish_write, data };
        if pieces.send(piece).await.is_err() || finish_write {
            return Ok(());
        }
        offset = offset.saturating_add(i64::try_from(size).unwrap_or(i64::MAX));
        // Required in the first message only.
        resource_name = String::new();
    }
}

/// A random UUID, which the API requires for each upload.
fn unique() -> String {
    // Each `RandomState` has its own random keys.
    let high = RandomState::new().hash_one(0);
    let low = RandomState::new().hash_one(0);
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_uploads_differ_and_look_like_uuids() {
        let name = unique();
        assert_ne!(name, unique());
        let lengths: Vec<usize> = name.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
    }

    #[tokio::test]
    async fn pieces_cover_the_content_and_the_last_says_so() {
        for size in [0, 1, CHUNK_SIZE, CHUNK_SIZE + 1, 3 * CHUNK_SIZE] {
            let content = Content::Bytes(vec![7; size].into());
            let (sender, mut pieces) = mpsc::channel(8);
            send("name".into(), content, sender).await.unwrap();
            let mut end = 0;
            let mut is_finished = false;
            while let Some(piece) = pieces.recv().await {
                assert!(!is_finished);
                assert_eq!((piece.write_offset, piece.resource_name.is_empty()), (end, end != 0));
                end += piece.data.len() as i64;
                is_finished = piece.finish_write;
            }
            assert!(is_finished);
            assert_eq!(end, size as i64);
        }
    }
}
