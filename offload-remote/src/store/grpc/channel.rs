//! Connections to a server, with credentials and request metadata.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{HeaderMap, Uri};
use prost::Message;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use crate::Error;
use crate::api::{RequestMetadata, ToolDetails};
use crate::settings::Settings;
use crate::tls::{Protocol, connector};

/// The connection that the clients of all services share.
pub(super) type Connection = InterceptedService<Channel, Headers>;

/// Adds credentials and request metadata.
#[derive(Clone)]
pub(super) struct Headers(MetadataMap);

/// <https://github.com/bazelbuild/remote-apis/blob/main/build/bazel/remote/execution/v2/remote_execution.proto>, `RequestMetadata`
const METADATA: &str = "build.bazel.remote.execution.v2.requestmetadata-bin";

/// The keep-alive interval: a lost peer is detected within twice this time, also during an execution.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Connections for executions, whose calls last as long as the command. Servers limit the concurrent calls of a connection.
pub(super) struct Connections {
    all: Vec<Connection>,
    calls: AtomicUsize,
}

/// The concurrent calls that every server allows on one connection.
const MAX_CALLS: usize = 100;

impl Connections {
    /// Lazy connections for `jobs` executions.
    ///
    /// # Errors
    /// If a credential or a certificate cannot be read.
    pub(super) fn new(settings: &Settings, url: &Uri) -> Result<Connections, Error> {
        let count = settings.jobs().div_ceil(MAX_CALLS);
        let all = (0..count).map(|_| connect(settings, url)).collect::<Result<_, Error>>()?;
        Ok(Connections { all, calls: AtomicUsize::new(0) })
    }

    /// The next connection, round-robin.
    pub(super) fn next(&self) -> Option<&Connection> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        self.all.get(call.checked_rem(self.all.len())?)
    }
}

/// A lazy connection to `url`.
///
/// # Errors
/// If a credential or a certificate cannot be read.
pub(super) fn connect(settings: &Settings, url: &Uri) -> Result<Connection, Error> {
    let endpoint = Endpoint::from(url.clone())
        .user_agent(concat!("cargo-offload/", env!("CARGO_PKG_VERSION")))
        .map_err(|error| Error::new(format!("`{url}`: {error}")))?
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .initial_stream_window_size(2 << 20)
        .initial_connection_window_size(16 << 20);
    let channel = endpoint.connect_with_connector_lazy(connector(settings, url, Protocol::Http2)?);
    Ok(InterceptedService::new(channel, Headers::from_settings(settings)?))
}

impl Headers {
    fn from_settings(settings: &Settings) -> Result<Headers, Error> {
        let mut headers = HeaderMap::new();
        for (name, secret) in settings.headers() {
            let value = secret.read(name)?;
            let name = http::HeaderName::from_bytes(name.as_bytes());
            headers.insert(name.map_err(|error| Error::new(error.to_string()))?, value);
        }
        let mut headers = MetadataMap::from_headers(headers);
        let details =
            ToolDetails { tool_name: "cargo-offload".into(), tool_version: env!("CARGO_PKG_VERSION").into() };
        let metadata = RequestMetadata { tool_details: Some(details), ..Default::default() };
        headers.insert_bin(METADATA, MetadataValue::from_bytes(&metadata.encode_to_vec()));
        Ok(Headers(headers))
    }
}

impl Interceptor for Headers {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let metadata = std::mem::take(request.metadata_mut()).into_headers();
        let mut headers = self.0.clone().into_headers();
        headers.extend(metadata);
        *request.metadata_mut() = MetadataMap::from_headers(headers);
        Ok(request)
    }
}
