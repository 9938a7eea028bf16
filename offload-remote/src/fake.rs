//! An in-memory server of the Remote Execution API for tests, with fault injection.

mod cas;
mod execution;
pub(crate) mod secure;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Barrier;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, async_trait};

use crate::api::action_cache_server::{ActionCache, ActionCacheServer};
use crate::api::bytestream::byte_stream_server::ByteStreamServer;
use crate::api::capabilities_server::{Capabilities, CapabilitiesServer};
use crate::api::content_addressable_storage_server::ContentAddressableStorageServer;
use crate::api::execution_server::ExecutionServer;
use crate::api::{
    ActionCacheUpdateCapabilities, ActionResult, CacheCapabilities, ExecutionCapabilities,
    GetActionResultRequest, GetCapabilitiesRequest, ServerCapabilities, UpdateActionResultRequest,
    digest_function,
};
use crate::settings::Settings;

/// The server, and what it knows.
#[derive(Clone)]
pub(crate) struct Fake {
    state: Arc<Mutex<State>>,
    pub(crate) url: String,
}

/// All that a test may look at and change.
pub(crate) struct State {
    pub(crate) blobs: HashMap<String, Vec<u8>>,
    pub(crate) results: HashMap<String, ActionResult>,
    /// Every call, in order; a command that runs is the call `run`.
    pub(crate) calls: Vec<&'static str>,
    /// Each of these fails one call.
    pub(crate) faults: Vec<(&'static str, Code)>,
    pub(crate) instance: String,
    pub(crate) updates: bool,
    pub(crate) executes: bool,
    pub(crate) batch: i64,
    /// Calls that are never answered.
    pub(crate) hangs: Vec<&'static str>,
    /// Before each answer.
    pub(crate) delay: Duration,
    /// Commands wait until so many are there.
    pub(crate) gather: Option<Arc<Barrier>>,
    /// The number of operation streams that end without a result.
    pub(crate) breaks: usize,
    /// Files of this machine that the worker has in another version.
    pub(crate) others: BTreeSet<String>,
    /// Files that `sha256sum` has read.
    pub(crate) hashed: Vec<String>,
    /// A header without which nothing is answered.
    pub(crate) secret: Option<(&'static str, &'static str)>,
}

impl Fake {
    pub(crate) async fn start() -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("grpc://{}", listener.local_addr().unwrap());
        let fake = Fake { state: Arc::new(Mutex::new(State::new())), url };
        // As many servers have it.
        let server = Server::builder()
            .max_concurrent_streams(100)
            .add_service(CapabilitiesServer::new(fake.clone()))
            .add_service(ActionCacheServer::new(fake.clone()))
            .add_service(ContentAddressableStorageServer::new(fake.clone()))
            .add_service(ExecutionServer::new(fake.clone()))
            .add_service(ByteStreamServer::new(fake.clone()));
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        fake
    }

    /// Settings with this server, and `rest`.
    pub(crate) fn settings(&self, rest: &str) -> Settings {
        Settings::parse(&format!("url = \"{}\"\n{rest}", self.url)).unwrap()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The number of calls of `call`.
    pub(crate) fn count(&self, call: &str) -> usize {
        self.state().calls.iter().filter(|made| **made == call).count()
    }

    /// Begins a call.
    async fn enter<T>(&self, call: &'static str, request: &Request<T>) -> Result<(), Status> {
        let (delay, fault, hangs) = {
            let mut state = self.state();
            state.calls.push(call);
            if let Some((name, value)) = state.secret
                && request.metadata().get(name).is_none_or(|given| given.as_bytes() != value.as_bytes())
            {
                return Err(Status::unauthenticated("no credential"));
            }
            let place = state.faults.iter().position(|(name, _)| *name == call);
            let hangs = state.hangs.contains(&call);
            (state.delay, place.map(|place| state.faults.remove(place).1), hangs)
        };
        if hangs {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(delay).await;
        fault.map_or(Ok(()), |code| Err(Status::new(code, format!("{call} fails"))))
    }

    fn check_instance(&self, instance: &str) -> Result<(), Status> {
        let known = self.state().instance.clone();
        if instance == known { Ok(()) } else { Err(Status::invalid_argument("unknown instance")) }
    }
}

impl State {
    fn new() -> State {
        State {
            blobs: HashMap::new(),
            results: HashMap::new(),
            calls: Vec::new(),
            faults: Vec::new(),
            instance: String::new(),
            updates: true,
            executes: true,
            batch: 0,
            hangs: Vec::new(),
            delay: Duration::ZERO,
            gather: None,
            breaks: 0,
            others: BTreeSet::new(),
            hashed: Vec::new(),
            secret: None,
        }
    }
}

#[async_trait]
impl Capabilities for Fake {
    async fn get_capabilities(
        &self,
        request: Request<GetCapabilitiesRequest>,
    ) -> Result<Response<ServerCapabilities>, Status> {
        self.enter("capabilities", &request).await?;
        self.check_instance(&request.get_ref().instance_name)?;
        let state = self.state();
        let updates = ActionCacheUpdateCapabilities { update_enabled: state.updates };
        Ok(Response::new(ServerCapabilities {
            cache_capabilities: Some(CacheCapabilities {
                digest_functions: vec![digest_function::Value::Sha256.into()],
                action_cache_update_capabilities: Some(updates),
                max_batch_total_size_bytes: state.batch,
                ..Default::default()
            }),
            execution_capabilities: Some(ExecutionCapabilities {
                exec_enabled: state.executes,
                ..Default::default()
            }),
            high_api_version: Some(bazel_remote_apis::build::bazel::semver::SemVer {
                major: 2,
                minor: 3,
                ..Default::default()
            }),
            ..Default::default()
        }))
    }
}

#[async_trait]
impl ActionCache for Fake {
    async fn get_action_result(
        &self,
        request: Request<GetActionResultRequest>,
    ) -> Result<Response<ActionResult>, Status> {
        self.enter("result", &request).await?;
        let hash = request.into_inner().action_digest.unwrap().hash;
        let result = self.state().results.get(&hash).cloned();
        result.map(Response::new).ok_or_else(|| Status::not_found("no such result"))
    }

    async fn update_action_result(
        &self,
        request: Request<UpdateActionResultRequest>,
    ) -> Result<Response<ActionResult>, Status> {
        self.enter("put result", &request).await?;
        let request = request.into_inner();
        let hash = request.action_digest.unwrap().hash;
        let result = request.action_result.unwrap();
        let mut state = self.state();
        let files = result.output_files.iter().map(|file| &file.digest.as_ref().unwrap().hash);
        // Some servers look whether everything is there.
        if !files.chain([&hash]).all(|hash| state.blobs.contains_key(hash)) {
            return Err(Status::failed_precondition("something is missing"));
        }
        state.results.insert(hash, result.clone());
        Ok(Response::new(result))
    }
}
