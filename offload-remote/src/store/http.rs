//! HTTP cache with Bazel's protocol: `ac/<SHA-256>` and `cas/<SHA-256>` below a URL, read with GET and written with PUT.
//!
//! bazel-remote serves it, nginx or Apache with WebDAV, and S3, where requests are signed. The client is hyper's, which gRPC
//! needs anyway. <https://bazel.build/remote/caching#http-caching>

mod client;
mod s3;

use std::fmt;

use bytes::Bytes;
use futures_util::future::join_all;
use http::header::USER_AGENT;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use prost::Message;
use tonic::async_trait;

use self::client::{Answer, HttpsClient, LARGEST_RESULT, client, kind_of, read};
use super::interface::{Blob, Store};
use crate::Error;
use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::Fault;
use crate::settings::{Bucket, Settings};

pub(super) struct Http {
    base: String,
    headers: HeaderMap,
    client: HttpsClient,
    service: Service,
}

/// The kind of server.
enum Service {
    /// A cache for Bazel.
    Cache,
    S3(s3::Signer),
}

/// The requests in flight.
const MAX_IN_FLIGHT: usize = 16;
/// The largest body of an error response.
const MAX_ERROR_SIZE: u64 = 4 << 10;

const AGENT: &str = concat!("cargo-offload/", env!("CARGO_PKG_VERSION"));

impl Http {
    /// The cache below `url`.
    pub(super) fn new(settings: &Settings, url: &Uri) -> Result<Http, Error> {
        Http::with_service(settings, url, client(settings, url)?, Service::Cache)
    }

    /// A bucket of S3, or of a compatible server.
    pub(super) fn s3(settings: &Settings, bucket: &Bucket) -> Result<Http, Error> {
        let address = s3::Address::from_settings(settings, bucket)?;
        let client = client(settings, &address.url)?;
        let signer = s3::Signer::new(&address.region, s3::context(&client));
        Http::with_service(settings, &address.url, client, Service::S3(signer))
    }

    fn with_service(
        settings: &Settings,
        url: &Uri,
        client: HttpsClient,
        service: Service,
    ) -> Result<Http, Error> {
        let mut headers = HeaderMap::new();
        for (name, secret) in settings.headers() {
            let value = secret.read(name)?;
            let name = HeaderName::from_bytes(name.as_bytes());
            headers.insert(name.map_err(|error| Error::new(error.to_string()))?, value);
        }
        Ok(Http { base: url.to_string().trim_end_matches('/').to_string(), headers, client, service })
    }

    async fn get(&self, kind: &str, digest: &Digest, limit: u64) -> Result<Option<Bytes>, Fault> {
        let answer = self.ask(Method::GET, &self.url(kind, digest), Limited::empty(limit)).await?;
        match answer.status {
            StatusCode::OK => Ok(Some(answer.body)),
            StatusCode::GONE | StatusCode::NO_CONTENT => Ok(None),
            StatusCode::NOT_FOUND if !self.service.lacks_bucket(&answer) => Ok(None),
            _ => Err(self.service.refusal(&Method::GET, &answer)),
        }
    }

    async fn put(&self, kind: &str, digest: &Digest, body: Bytes) -> Result<(), Fault> {
        let request = Limited { body, answer: LARGEST_RESULT };
        let answer = self.ask(Method::PUT, &self.url(kind, digest), request).await?;
        if answer.status.is_success() { Ok(()) } else { Err(self.service.refusal(&Method::PUT, &answer)) }
    }

    async fn has(&self, digest: &Digest) -> Result<bool, Fault> {
        // The empty blob always exists, and nginx rejects empty files.
        if digest.size == 0 {
            return Ok(true);
        }
        let answer = self.ask(Method::HEAD, &self.url("cas", digest), Limited::empty(0)).await?;
        match answer.status {
            status if status.is_success() => Ok(true),
            // Servers without HEAD get every blob.
            StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::METHOD_NOT_ALLOWED => Ok(false),
            _ => Err(self.service.refusal(&Method::HEAD, &answer)),
        }
    }

    fn url(&self, kind: &str, digest: &Digest) -> String {
        format!("{}/{kind}/{}", self.base, digest.hex())
    }

    async fn ask(&self, method: Method, url: &str, sent: Limited) -> Result<Answer, Fault> {
        let mut request = Request::new(sent.body);
        *request.method_mut() = method;
        *request.uri_mut() = url.parse().map_err(|error| Fault::lasting(format!("`{url}`: {error}")))?;
        *request.headers_mut() = self.headers.clone();
        let mut request = self.service.signed(request).await?;
        // Not signed: a proxy may change it.
        request.headers_mut().entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        let answer = self.client.request(request.map(Full::new)).await;
        let (parts, incoming) = answer.map_err(|error| Fault::connection(&error))?.into_parts();
        let limit = if parts.status.is_success() { sent.answer } else { MAX_ERROR_SIZE };
        let body = read(incoming, limit).await.map_err(|error| Fault::connection(&error))?;
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }
}

impl Service {
    async fn signed(&self, request: Request<Bytes>) -> Result<Request<Bytes>, Fault> {
        match self {
            Service::Cache => Ok(request),
            Service::S3(signer) => signer.signed(request).await,
        }
    }

    /// Whether the bucket is missing, not just the object.
    fn lacks_bucket(&self, answer: &Answer) -> bool {
        match self {
            Service::Cache => false,
            Service::S3(_) => s3::lacks_bucket(answer),
        }
    }

    fn refusal(&self, method: &Method, answer: &Answer) -> Fault {
        match self {
            Service::Cache => refusal(method, answer.status),
            Service::S3(_) => s3::refusal(method, answer),
        }
    }
}

/// A request body, and the largest response body.
struct Limited {
    body: Bytes,
    answer: u64,
}

impl Limited {
    fn empty(answer: u64) -> Limited {
        Limited { body: Bytes::new(), answer }
    }
}

fn refusal(method: &Method, status: StatusCode) -> Fault {
    let fault = Fault::new(kind_of(status), format!("the server answers {method} with {status}"));
    match status {
        StatusCode::UNAUTHORIZED => fault.hint("give a credential by `headers` in the table `remote`"),
        StatusCode::FORBIDDEN | StatusCode::METHOD_NOT_ALLOWED if method == Method::PUT => {
            fault.hint("ask who runs the server for the right to write, or set `upload = false`")
        }
        StatusCode::CONFLICT | StatusCode::NOT_FOUND => {
            fault.hint("the folders `ac` and `cas` must be there (nginx: `create_full_put_path on`)")
        }
        StatusCode::PAYLOAD_TOO_LARGE => {
            fault.hint("the server takes smaller files only (nginx: `client_max_body_size`)")
        }
        StatusCode::INSUFFICIENT_STORAGE => fault.hint("the server's disk is full"),
        status if status.is_redirection() => fault.hint("write in `url` where the server redirects to"),
        _ => fault,
    }
}

#[async_trait]
impl Store for Http {
    async fn result(&self, action: &Digest, _inline: &[String]) -> Result<Option<ActionResult>, Fault> {
        let bytes = self.get("ac", action, LARGEST_RESULT).await?;
        Ok(bytes.and_then(|bytes| ActionResult::decode(bytes).ok()))
    }

    async fn put_result(&self, action: &Digest, result: &ActionResult) -> Result<(), Fault> {
        self.put("ac", action, result.encode_to_vec().into()).await
    }

    async fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Fault> {
        let mut missing = Vec::new();
        for digests in digests.chunks(MAX_IN_FLIGHT) {
            let answers = join_all(digests.iter().map(|digest| self.has(digest))).await;
            for (digest, answer) in digests.iter().zip(answers) {
                if !answer? {
                    missing.push(*digest);
                }
            }
        }
        Ok(missing)
    }

    async fn blobs(&self, digests: &[Digest]) -> Result<Vec<Option<Bytes>>, Fault> {
        let blobs = digests.iter().map(|digest| self.get("cas", digest, digest.size));
        join_all(blobs).await.into_iter().collect()
    }

    async fn put(&self, blobs: &[Blob]) -> Result<(), Fault> {
        for blob in blobs {
            Http::put(self, "cas", &blob.digest, blob.read().await?).await?;
        }
        Ok(())
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("base", &self.base).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
