//! An HTTP cache as Bazel has it: `ac/<SHA-256>` and `cas/<SHA-256>` below a URL, read with GET and written with PUT.
//!
//! bazel-remote serves it, and nginx or Apache with WebDAV. The client is hyper's, which gRPC needs anyway.
//! <https://bazel.build/remote/caching#http-caching>

use std::fmt;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{HeaderMap, HeaderName, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use prost::Message;
use tonic::async_trait;

use super::interface::{Blob, Store};
use crate::Error;
use crate::api::ActionResult;
use crate::digest::Digest;
use crate::fault::{Fault, Kind};
use crate::settings::Settings;
use crate::tls::{Protocol, connector};

pub(super) struct Http {
    base: String,
    headers: HeaderMap,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

/// Results of actions are small: a larger one is none.
const LARGEST_RESULT: u64 = 16 << 20;
/// So many questions at once.
const AT_ONCE: usize = 16;

/// The part of an answer that matters here.
struct Answer {
    status: StatusCode,
    body: Bytes,
}

impl Http {
    pub(super) fn new(settings: &Settings, url: &Uri) -> Result<Http, Error> {
        let mut headers = HeaderMap::new();
        for (name, secret) in settings.headers() {
            let value = secret.read(name)?;
            let name = HeaderName::from_bytes(name.as_bytes());
            headers.insert(name.map_err(|error| Error::new(error.to_string()))?, value);
        }
        let agent = concat!("cargo-offload/", env!("CARGO_PKG_VERSION"));
        headers.entry(http::header::USER_AGENT).or_insert(http::HeaderValue::from_static(agent));
        let client = Client::builder(TokioExecutor::new()).build(connector(settings, Protocol::Http1)?);
        Ok(Http { base: url.to_string().trim_end_matches('/').to_string(), headers, client })
    }

    async fn get(&self, kind: &str, digest: &Digest, limit: u64) -> Result<Option<Bytes>, Fault> {
        let answer = self.ask(Method::GET, &self.url(kind, digest), Limited::empty(limit)).await?;
        match answer.status {
            StatusCode::OK => Ok(Some(answer.body)),
            StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::NO_CONTENT => Ok(None),
            status => Err(refusal(&Method::GET, status)),
        }
    }

    async fn put(&self, kind: &str, digest: &Digest, body: Bytes) -> Result<(), Fault> {
        let request = Limited { body, answer: LARGEST_RESULT };
        let answer = self.ask(Method::PUT, &self.url(kind, digest), request).await?;
        if answer.status.is_success() { Ok(()) } else { Err(refusal(&Method::PUT, answer.status)) }
    }

    async fn has(&self, digest: &Digest) -> Result<bool, Fault> {
        // Everybody has it, and nginx takes no file without bytes.
        if digest.size == 0 {
            return Ok(true);
        }
        let answer = self.ask(Method::HEAD, &self.url("cas", digest), Limited::empty(0)).await?;
        match answer.status {
            status if status.is_success() => Ok(true),
            // A server without HEAD gets every blob.
            StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::METHOD_NOT_ALLOWED => Ok(false),
            status => Err(refusal(&Method::HEAD, status)),
        }
    }

    fn url(&self, kind: &str, digest: &Digest) -> String {
        format!("{}/{kind}/{}", self.base, digest.hex())
    }

    async fn ask(&self, method: Method, url: &str, sent: Limited) -> Result<Answer, Fault> {
        let mut request = Request::new(Full::new(sent.body));
        *request.method_mut() = method;
        *request.uri_mut() = url.parse().map_err(|error| Fault::lasting(format!("`{url}`: {error}")))?;
        *request.headers_mut() = self.headers.clone();
        let answer = self.client.request(request).await.map_err(|error| Fault::connection(&error))?;
        let status = answer.status();
        let (mut incoming, mut body) = (answer.into_body(), Vec::new());
        while let Some(frame) = incoming.frame().await {
            let frame = frame.map_err(|error| Fault::connection(&error))?;
            body.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
            if body.len() as u64 > sent.answer {
                break;
            }
        }
        Ok(Answer { status, body: body.into() })
    }
}

/// A body, and how many bytes of the answer are of use.
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
    let kind = match status {
        StatusCode::UNAUTHORIZED
        | StatusCode::FORBIDDEN
        | StatusCode::METHOD_NOT_ALLOWED
        | StatusCode::PROXY_AUTHENTICATION_REQUIRED => Kind::Denied,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Kind::Transient,
        status if status.is_server_error() => Kind::Transient,
        _ => Kind::Lasting,
    };
    let fault = Fault::new(kind, format!("the server answers {method} with {status}"));
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
        for digests in digests.chunks(AT_ONCE) {
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
