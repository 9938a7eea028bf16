//! The action cache.

use tonic::{Request, Response, Status};

use super::{Call, Fault, Standin, Store, lock};
use crate::api::action_cache_server::ActionCache;
use crate::api::{ActionResult, GetActionResultRequest, UpdateActionResultRequest};

impl Standin {
    /// The result of the action with this hash, or what a fault makes of it.
    pub(super) fn result(&self, hash: &str) -> Option<ActionResult> {
        let store = lock(&self.0.store);
        let result = store.results.get(hash)?.clone();
        if self.has(Fault::Exchanged) {
            return Some(exchanged(&store, (hash, result)));
        }
        Some(result)
    }
}

/// The result with the files of another: of one with as many, so that the exchange is as hard to see as can be.
fn exchanged(store: &Store, (hash, mut result): (&str, ActionResult)) -> ActionResult {
    let files = result.output_files.len();
    let later = store.results.range(hash.to_string()..).skip(1).chain(&store.results);
    let mut others = later.filter(|(other, it)| {
        let mut pairs = it.output_files.iter().zip(&result.output_files);
        *other != hash
            && it.output_files.len() == files
            && pairs.any(|(theirs, ours)| theirs.digest != ours.digest)
    });
    if let Some((_, other)) = others.next() {
        for (ours, theirs) in result.output_files.iter_mut().zip(&other.output_files) {
            ours.digest.clone_from(&theirs.digest);
            ours.contents.clone_from(&theirs.contents);
        }
    }
    result
}

#[tonic::async_trait]
impl ActionCache for Standin {
    async fn get_action_result(
        &self,
        request: Request<GetActionResultRequest>,
    ) -> Result<Response<ActionResult>, Status> {
        let request = request.into_inner();
        self.enter(Call::GetResult, &request.instance_name).await?;
        let digest = request.action_digest.unwrap_or_default();
        let result = self.result(&digest.hash).ok_or_else(|| Status::not_found("no such result"))?;
        let mut counts = lock(&self.0.counts);
        counts.hits = counts.hits.saturating_add(1);
        Ok(Response::new(result))
    }

    async fn update_action_result(
        &self,
        request: Request<UpdateActionResultRequest>,
    ) -> Result<Response<ActionResult>, Status> {
        let request = request.into_inner();
        self.enter(Call::UpdateResult, &request.instance_name).await?;
        if self.has(Fault::Full) {
            return Err(Status::resource_exhausted("no space is left on the device"));
        }
        let result = request.action_result.unwrap_or_default();
        let digest = request.action_digest.unwrap_or_default();
        lock(&self.0.store).results.insert(digest.hash, result.clone());
        let mut counts = lock(&self.0.counts);
        counts.puts = counts.puts.saturating_add(1);
        Ok(Response::new(result))
    }
}
