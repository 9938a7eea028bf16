//! S3: addresses of buckets, request signatures, and hints for error codes.
//!
//! `endpoint` names compatible servers (MinIO, Ceph, R2). Signatures and the credential chain are those of `reqsign`, which
//! OpenDAL uses too. <https://docs.aws.amazon.com/AmazonS3/latest/API/Welcome.html>

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use offload_protocol::variable;
use reqsign_aws_v4::{Credential, DefaultCredentialProvider, RequestSigner};
use reqsign_core::{Context, ErrorKind, HttpSend, OsEnv};
use reqsign_file_read_tokio::TokioFileRead;
use tokio::time::timeout;

use super::client::{Answer, HttpsClient, LARGEST_RESULT, kind_of, read};
use crate::Error;
use crate::digest::Digest;
use crate::fault::{Fault, FaultKind};
use crate::settings::{Bucket, Settings};

/// The address of a bucket.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The parent of `ac/` and `cas/`.
    pub(super) url: Uri,
    /// The region in signatures.
    pub(super) region: String,
}

/// The default region of the AWS tools.
const DEFAULT_REGION: &str = "us-east-1";

impl Address {
    /// Region and endpoint from the settings, else from the variables of the AWS tools, else the defaults of AWS.
    ///
    /// # Errors
    /// If the endpoint is not a URL.
    pub(super) fn from_settings(settings: &Settings, bucket: &Bucket) -> Result<Address, Error> {
        Address::with(settings, bucket, |name| std::env::var(name).ok())
    }

    fn with(
        settings: &Settings,
        bucket: &Bucket,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Address, Error> {
        let regions = [variable::AWS_REGION, variable::AWS_DEFAULT_REGION];
        let region = setting_or_variable(settings.region(), regions, &variable);
        let region = region.unwrap_or_else(|| DEFAULT_REGION.to_string());
        let endpoints = [variable::AWS_ENDPOINT_URL_S3, variable::AWS_ENDPOINT_URL];
        let endpoint = setting_or_variable(settings.endpoint(), endpoints, &variable);
        let Bucket { name, prefix } = bucket;
        let base = match &endpoint {
            Some(endpoint) => format!("{}/{name}", endpoint.trim_end_matches('/')),
            None => aws_url(name, &region),
        };
        let text = format!("{base}{prefix}");
        let url: Uri =
            text.parse().map_err(|error| invalid_address(&text, &format!("is not a URL ({error})")))?;
        match url.scheme_str() {
            Some("http" | "https") => Ok(Address { url, region }),
            _ => Err(invalid_address(&text, "has not `http://` or `https://`")),
        }
    }
}

/// The setting, or the first variable that is set.
fn setting_or_variable(
    setting: Option<&str>,
    names: [&str; 2],
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    if let Some(setting) = setting {
        return Some(setting.to_string());
    }
    names.into_iter().find_map(|name| variable(name).filter(|value| !value.is_empty()))
}

fn invalid_address(text: &str, reason: &str) -> Error {
    Error::new(format!("the bucket cannot be at `{text}`: that {reason}"))
        .hint("write `endpoint = \"https://HOST:PORT\"` and `region = \"NAME\"` in the table `remote`")
}

/// The URL of a bucket of AWS: virtual-hosted style, unless its name does not match the wildcard certificate.
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html>
fn aws_url(bucket: &str, region: &str) -> String {
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    if bucket.contains(['.', '_']) {
        format!("https://s3.{region}.{domain}/{bucket}")
    } else {
        format!("https://{bucket}.s3.{region}.{domain}")
    }
}

/// Signs requests with the default credential chain of AWS.
pub(super) struct Signer(reqsign_core::Signer<Credential>);

const CREDENTIALS: &str =
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them in `~/.aws/credentials`";

impl Signer {
    pub(super) fn new(region: &str, context: Context) -> Signer {
        let signer = RequestSigner::new("s3", region);
        Signer(reqsign_core::Signer::new(context, DefaultCredentialProvider::new(), signer))
    }

    /// Signs the request and its body.
    pub(super) async fn signed(&self, request: Request<Bytes>) -> Result<Request<Bytes>, Fault> {
        let (mut parts, body): (Parts, Bytes) = request.into_parts();
        let hash = HeaderValue::try_from(Digest::from_bytes(&body).hex());
        parts
            .headers
            .insert("x-amz-content-sha256", hash.map_err(|error| Fault::lasting(error.to_string()))?);
        match self.0.sign(&mut parts, None).await {
            Ok(()) => Ok(Request::from_parts(parts, body)),
            Err(error) if error.kind() == ErrorKind::CredentialInvalid => {
                Err(Fault::new(FaultKind::Denied, "this machine has no credentials for S3").hint(CREDENTIALS))
            }
            Err(error) => Err(Fault::lasting(format!("the request cannot be signed: {error}"))),
        }
    }
}

/// The context of the credential chain: environment, files, and HTTP requests by `client`.
pub(super) fn context(client: &HttpsClient) -> Context {
    let context = Context::new().with_file_read(TokioFileRead).with_env(OsEnv);
    context.with_http_send(Sender(client.clone()))
}

/// Sends requests to credential services: instance metadata, STS, SSO.
#[derive(Debug)]
struct Sender(HttpsClient);

/// The timeout of a credential request. The link-local metadata addresses are unreachable outside of AWS.
fn credential_timeout(url: &Uri) -> Duration {
    let of_link =
        url.host().is_some_and(|host| host.starts_with("169.254.") || host.starts_with("[fd00:ec2:"));
    Duration::from_secs(if of_link { 1 } else { 10 })
}

impl HttpSend for Sender {
    async fn http_send(&self, request: Request<Bytes>) -> reqsign_core::Result<Response<Bytes>> {
        let limit = credential_timeout(request.uri());
        let answered = async {
            let answer = self.0.request(request.map(Full::new)).await;
            let (parts, incoming) =
                answer.map_err(|error| reqsign_core::Error::unexpected(error.to_string()))?.into_parts();
            let body = read(incoming, LARGEST_RESULT)
                .await
                .map_err(|error| reqsign_core::Error::unexpected(error.to_string()))?;
            Ok(Response::from_parts(parts, body))
        };
        match timeout(limit, answered).await {
            Ok(response) => response,
            Err(_) => {
                let message = format!("no answer within {} s", limit.as_secs());
                Err(reqsign_core::Error::unexpected(message))
            }
        }
    }
}

pub(super) fn lacks_bucket(answer: &Answer) -> bool {
    ErrorDocument::parse(answer).code == "NoSuchBucket"
}

/// <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>
pub(super) fn refusal(method: &Method, answer: &Answer) -> Fault {
    let ErrorDocument { code, message } = ErrorDocument::parse(answer);
    let mut text = format!("S3 answers {method} with {}", answer.status);
    for part in [&code, &message].into_iter().filter(|part| !part.is_empty()) {
        text = format!("{text}: {part}");
    }
    let fault = Fault::new(kind_of(answer.status), text);
    match code.as_str() {
        "NoSuchBucket" => return fault.hint("make the bucket, or correct `url` in the table `remote`"),
        "InvalidAccessKeyId" | "SignatureDoesNotMatch" | "InvalidToken" | "ExpiredToken" => {
            return fault.hint(CREDENTIALS);
        }
        "RequestTimeTooSkewed" => return fault.hint("is the clock of this machine right?"),
        _ => {}
    }
    let region = answer.headers.get("x-amz-bucket-region").and_then(|region| region.to_str().ok());
    match (answer.status, region) {
        (StatusCode::MOVED_PERMANENTLY | StatusCode::TEMPORARY_REDIRECT | StatusCode::BAD_REQUEST, Some(region)) => {
            let region = plain(region);
            fault.hint(format!("the bucket is in `{region}`: write `region = \"{region}\"` in the table `remote`"))
        }
        (StatusCode::FORBIDDEN, _) if method == Method::PUT => {
            fault.hint("the credentials need `s3:PutObject`; who may only read sets `upload = false`")
        }
        (StatusCode::FORBIDDEN, _) => fault.hint(
            "the credentials need `s3:GetObject`, and `s3:ListBucket`: without it S3 says so of objects that are not there",
        ),
        _ => fault,
    }
}

/// The XML document of an error response.
struct ErrorDocument {
    code: String,
    message: String,
}

impl ErrorDocument {
    /// Extracts two flat elements, which needs no XML parser.
    fn parse(answer: &Answer) -> ErrorDocument {
        let text = String::from_utf8_lossy(&answer.body);
        ErrorDocument {
            code: element(&text, "Code").unwrap_or_default(),
            message: element(&text, "Message").unwrap_or_default(),
        }
    }
}

fn element(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(plain(rest.split_once('<')?.0))
}

/// Text for a terminal, without control characters and of limited length.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests;
