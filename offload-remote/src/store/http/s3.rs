//! S3: where a bucket is, who asks, and what refusals mean.
//!
//! Other servers understand the same (MinIO, Ceph, R2); `endpoint` names them. The signature and where credentials come
//! from are those of `reqsign`, which OpenDAL has too. <https://docs.aws.amazon.com/AmazonS3/latest/API/Welcome.html>

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use offload_format::variable;
use reqsign_aws_v4::{Credential, DefaultCredentialProvider, RequestSigner};
use reqsign_core::{Context, ErrorKind, HttpSend, OsEnv};
use reqsign_file_read_tokio::TokioFileRead;
use tokio::time::timeout;

use super::client::{Answer, HttpsClient, LARGEST_RESULT, kind_of, read};
use crate::Error;
use crate::digest::Digest;
use crate::fault::{Fault, Kind};
use crate::settings::{Bucket, Settings};

/// Where a bucket is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// What `ac/` and `cas/` are below.
    pub(super) url: Uri,
    /// It is part of the signature.
    pub(super) region: String,
}

/// Where AWS's own programs make buckets if nobody says anything.
const REGION: &str = "us-east-1";

impl Address {
    /// What the settings say; else what the variables of AWS's own programs say; else AWS.
    ///
    /// # Errors
    /// The endpoint is no URL.
    pub(super) fn of(settings: &Settings, bucket: &Bucket) -> Result<Address, Error> {
        Address::with(settings, bucket, |name| std::env::var(name).ok())
    }

    fn with(
        settings: &Settings,
        bucket: &Bucket,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Address, Error> {
        let of = |said: Option<&str>, names: [&str; 2]| {
            let variables = || names.into_iter().find_map(|name| variable(name).filter(|it| !it.is_empty()));
            said.map(str::to_string).or_else(variables)
        };
        let region = of(settings.region(), [variable::AWS_REGION, variable::AWS_DEFAULT_REGION]);
        let region = region.unwrap_or_else(|| REGION.to_string());
        let endpoint = of(settings.endpoint(), [variable::AWS_ENDPOINT_URL_S3, variable::AWS_ENDPOINT_URL]);
        let Bucket { name, prefix } = bucket;
        let base = match &endpoint {
            Some(endpoint) => format!("{}/{name}", endpoint.trim_end_matches('/')),
            None => of_aws(name, &region),
        };
        let text = format!("{base}{prefix}");
        let refused = |why: String| {
            Error::new(format!("the bucket cannot be at `{text}`: that {why}")).hint(
                "write `endpoint = \"https://HOST:PORT\"` and `region = \"NAME\"` in the table `remote`",
            )
        };
        let url: Uri = text.parse().map_err(|error| refused(format!("is no URL ({error})")))?;
        match url.scheme_str() {
            Some("http" | "https") => Ok(Address { url, region }),
            _ => Err(refused("has not `http://` or `https://`".into())),
        }
    }
}

/// A host for each bucket is what AWS recommends; its certificates hold for names without dots.
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html>
fn of_aws(bucket: &str, region: &str) -> String {
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    match bucket.contains(['.', '_']) {
        true => format!("https://s3.{region}.{domain}/{bucket}"),
        false => format!("https://{bucket}.s3.{region}.{domain}"),
    }
}

/// Signs requests with the credentials that AWS's own programs would find.
pub(super) struct Signer(reqsign_core::Signer<Credential>);

const CREDENTIALS: &str =
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them in `~/.aws/credentials`";

impl Signer {
    pub(super) fn new(region: &str, context: Context) -> Signer {
        let signer = RequestSigner::new("s3", region);
        Signer(reqsign_core::Signer::new(context, DefaultCredentialProvider::new(), signer))
    }

    /// The request with its signature, which covers the body: S3 refuses one that has changed on the way.
    pub(super) async fn signed(&self, request: Request<Bytes>) -> Result<Request<Bytes>, Fault> {
        let (mut parts, body): (Parts, Bytes) = request.into_parts();
        let hash = HeaderValue::try_from(Digest::of(&body).hex());
        parts
            .headers
            .insert("x-amz-content-sha256", hash.map_err(|error| Fault::lasting(error.to_string()))?);
        match self.0.sign(&mut parts, None).await {
            Ok(()) => Ok(Request::from_parts(parts, body)),
            Err(error) if error.kind() == ErrorKind::CredentialInvalid => {
                Err(Fault::new(Kind::Denied, "this machine has no credentials for S3").hint(CREDENTIALS))
            }
            Err(error) => Err(Fault::lasting(format!("the request cannot be signed: {error}"))),
        }
    }
}

/// Where credentials come from: this process, its files, and what `client` reaches.
pub(super) fn context(client: &HttpsClient) -> Context {
    let context = Context::new().with_file_read(TokioFileRead).with_env(OsEnv);
    context.with_http_send(Sender(client.clone()))
}

/// Asks services of AWS for credentials: of the machine, of a role, of who has signed in.
#[derive(Debug)]
struct Sender(HttpsClient);

/// How long that may take. On a machine that is not AWS's, nobody answers under the addresses of this link.
fn patience(url: &Uri) -> Duration {
    let of_link =
        url.host().is_some_and(|host| host.starts_with("169.254.") || host.starts_with("[fd00:ec2:"));
    Duration::from_secs(if of_link { 1 } else { 10 })
}

impl HttpSend for Sender {
    async fn http_send(&self, request: Request<Bytes>) -> reqsign_core::Result<Response<Bytes>> {
        let unexpected = |text: String| reqsign_core::Error::unexpected(text);
        let limit = patience(request.uri());
        let answered = async {
            let answer = self.0.request(request.map(Full::new)).await;
            let (parts, incoming) = answer.map_err(|error| unexpected(error.to_string()))?.into_parts();
            let body = read(incoming, LARGEST_RESULT).await.map_err(|error| unexpected(error.to_string()))?;
            Ok(Response::from_parts(parts, body))
        };
        let late = |_| unexpected(format!("no answer within {} s", limit.as_secs()));
        timeout(limit, answered).await.map_err(late)?
    }
}

pub(super) fn lacks_bucket(answer: &Answer) -> bool {
    Said::of(answer).code == "NoSuchBucket"
}

/// <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>
pub(super) fn refusal(method: &Method, answer: &Answer) -> Fault {
    let Said { code, message } = Said::of(answer);
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

/// What the document in a refusal says.
struct Said {
    code: String,
    message: String,
}

impl Said {
    /// Two elements without others in them, as S3 writes them: that is no work for a reader of XML.
    fn of(answer: &Answer) -> Said {
        let text = String::from_utf8_lossy(&answer.body);
        let element = |name: &str| {
            let (_, rest) = text.split_once(&format!("<{name}>"))?;
            Some(plain(rest.split_once('<')?.0))
        };
        Said { code: element("Code").unwrap_or_default(), message: element("Message").unwrap_or_default() }
    }
}

/// For a terminal: a line of a few words.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests;
