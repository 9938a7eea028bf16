//! The capabilities service.

use bazel_remote_apis::build::bazel::semver::SemVer;
use tonic::{Request, Response, Status};

use super::{Call, Standin};
use crate::api::capabilities_server::Capabilities;
use crate::api::{
    ActionCacheUpdateCapabilities, CacheCapabilities, ExecutionCapabilities, GetCapabilitiesRequest,
    ServerCapabilities, digest_function,
};

/// The default message limit of gRPC, as on other servers.
const MAX_BATCH: i64 = 4 << 20;

#[tonic::async_trait]
impl Capabilities for Standin {
    async fn get_capabilities(
        &self,
        request: Request<GetCapabilitiesRequest>,
    ) -> Result<Response<ServerCapabilities>, Status> {
        self.enter(Call::Capabilities, &request.get_ref().instance_name).await?;
        let sha256 = digest_function::Value::Sha256 as i32;
        Ok(Response::new(ServerCapabilities {
            cache_capabilities: Some(CacheCapabilities {
                digest_functions: vec![sha256],
                action_cache_update_capabilities: Some(ActionCacheUpdateCapabilities {
                    update_enabled: true,
                }),
                max_batch_total_size_bytes: MAX_BATCH,
                ..CacheCapabilities::default()
            }),
            execution_capabilities: Some(ExecutionCapabilities {
                digest_function: sha256,
                exec_enabled: true,
                digest_functions: vec![sha256],
                ..ExecutionCapabilities::default()
            }),
            low_api_version: Some(SemVer { major: 2, minor: 0, ..SemVer::default() }),
            high_api_version: Some(SemVer { major: 2, minor: 3, ..SemVer::default() }),
            ..ServerCapabilities::default()
        }))
    }
}
