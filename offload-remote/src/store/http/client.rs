//! The client of HTTP, and what matters of an answer.

use bytes::Bytes;
use http::{HeaderMap, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::Error;
use crate::fault::FaultKind;
use crate::settings::Settings;
use crate::tls::{Protocol, connector};

pub(super) type HttpsClient = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The largest action result; larger ones are not results.
pub(super) const LARGEST_RESULT: u64 = 16 << 20;

/// The part of an answer that matters here.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Connects to `url` when it is asked something.
pub(super) fn client(settings: &Settings, url: &Uri) -> Result<HttpsClient, Error> {
    Ok(Client::builder(TokioExecutor::new()).build(connector(settings, url, Protocol::Http1)?))
}

/// A body, or more than `limit` bytes of it.
pub(super) async fn read<B: BodyExt<Data = Bytes> + Unpin>(
    mut incoming: B,
    limit: u64,
) -> Result<Bytes, B::Error> {
    let mut body = Vec::new();
    while let Some(frame) = incoming.frame().await {
        body.extend_from_slice(frame?.data_ref().map_or(&[], |data| data));
        if body.len() as u64 > limit {
            break;
        }
    }
    Ok(body.into())
}

/// The kind of fault for a status.
pub(super) fn kind_of(status: StatusCode) -> FaultKind {
    match status {
        StatusCode::UNAUTHORIZED
        | StatusCode::FORBIDDEN
        | StatusCode::METHOD_NOT_ALLOWED
        | StatusCode::PROXY_AUTHENTICATION_REQUIRED => FaultKind::Denied,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => FaultKind::Transient,
        status if status.is_server_error() => FaultKind::Transient,
        _ => FaultKind::Lasting,
    }
}
