//! Batched transfers of small blobs; larger ones are streamed.

use std::collections::HashMap;

use bytes::Bytes;
use futures_util::future::try_join_all;
use tonic::Code;

use super::Grpc;
use crate::api::batch_update_blobs_request::Request;
use crate::api::{BatchReadBlobsRequest, BatchUpdateBlobsRequest};
use crate::digest::Digest;
use crate::fault::Fault;
use crate::store::interface::Blob;

/// The encoded size of a blob without its content: a digest, tags and lengths.
const BLOB_OVERHEAD: u64 = 128;
/// The messages in flight: a folder of tools needs hundreds.
const MAX_IN_FLIGHT: usize = 4;

impl Grpc {
    pub(super) async fn write_all(&self, blobs: &[Blob]) -> Result<(), Fault> {
        let batches = batches(blobs, self.capabilities().await?.batch, |blob| blob.digest.size);
        for batches in batches.small.chunks(MAX_IN_FLIGHT) {
            try_join_all(batches.iter().map(|batch| self.write_batch(batch))).await?;
        }
        for blobs in batches.large.chunks(MAX_IN_FLIGHT) {
            try_join_all(blobs.iter().map(|blob| self.write_stream(blob))).await?;
        }
        Ok(())
    }

    async fn write_batch(&self, blobs: &[&Blob]) -> Result<(), Fault> {
        let mut requests = Vec::new();
        for blob in blobs {
            let data = blob.read().await?.to_vec();
            requests.push(Request { digest: Some(blob.digest.message()), data, ..Default::default() });
        }
        let instance_name = self.instance.clone();
        let request = BatchUpdateBlobsRequest { instance_name, requests, ..Default::default() };
        let answer = self.cas().batch_update_blobs(request).await?.into_inner();
        let statuses = answer.responses.iter().filter_map(|response| response.status.as_ref());
        match statuses.into_iter().find(|status| status.code != 0) {
            Some(status) => Err(status.into()),
            None => Ok(()),
        }
    }

    /// Downloads blobs, in the order of `digests`.
    pub(super) async fn read_all(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault> {
        let batches = batches(digests, self.capabilities().await?.batch, |digest| digest.size);
        let mut found = HashMap::new();
        for batch in &batches.small {
            self.read_batch(batch, &mut found).await?;
        }
        for digest in batches.large {
            if let Some(bytes) = self.read_stream(digest).await? {
                found.insert(digest.hex(), bytes);
            }
        }
        Ok(digests.iter().map(|digest| found.get(&digest.hex()).cloned()).collect())
    }

    async fn read_batch(&self, digests: &[&Digest], found: &mut HashMap<String, Bytes>) -> Result<(), Fault> {
        let request = BatchReadBlobsRequest {
            instance_name: self.instance.clone(),
            digests: digests.iter().map(|digest| digest.message()).collect(),
            ..Default::default()
        };
        let answer = self.cas().batch_read_blobs(request).await?.into_inner();
        for response in answer.responses {
            match response.status {
                Some(status) if status.code == Code::NotFound as i32 => {}
                Some(status) if status.code != 0 => return Err((&status).into()),
                _ => {
                    let hash = response.digest.unwrap_or_default().hash;
                    found.insert(hash, response.data.into());
                }
            }
        }
        Ok(())
    }
}

/// Blobs by the way of their transfer.
struct Batches<'a, T> {
    small: Vec<Vec<&'a T>>,
    large: Vec<&'a T>,
}

fn batches<T>(items: &[T], limit: u64, size: impl Fn(&T) -> u64) -> Batches<'_, T> {
    let mut batches = Batches { small: Vec::new(), large: Vec::new() };
    let mut batch = Vec::new();
    let mut filled = 0_u64;
    for item in items {
        let size = size(item).saturating_add(BLOB_OVERHEAD);
        if size > limit {
            batches.large.push(item);
            continue;
        }
        if filled.saturating_add(size) > limit {
            batches.small.push(std::mem::take(&mut batch));
            filled = 0;
        }
        filled = filled.saturating_add(size);
        batch.push(item);
    }
    if !batch.is_empty() {
        batches.small.push(batch);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_below_the_limit() {
        let sizes = [100, 900, 3000, 500, 0, 600];
        let batches = batches(&sizes, 1300, |size| *size);
        assert_eq!(batches.small, [vec![&100, &900], vec![&500, &0], vec![&600]]);
        assert_eq!(batches.large, [&3000]);
        assert!(super::batches(&[], 1300, |size: &u64| *size).small.is_empty());
    }
}
