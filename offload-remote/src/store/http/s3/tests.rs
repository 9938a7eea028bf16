//! Addresses of buckets, signed requests, and messages for refusals.

use http::HeaderMap;
use reqsign_core::StaticEnv;

use super::super::client::client;
use super::super::tests::{Server, header};
use super::super::{Http, Service};
use super::*;
use crate::settings::Location;
use crate::store::{Blob, Store};

const DOCUMENT: &str = "<?xml version=\"1.0\"?>\n<Error><Code>{}</Code><Message>In \u{1b}words.</Message><RequestId>1</RequestId></Error>";

fn settings(text: &str) -> Settings {
    Settings::parse(text).unwrap()
}

fn address(text: &str, variables: &[(&str, &str)]) -> Result<String, Error> {
    let settings = settings(text);
    let Location::S3(bucket) = settings.location() else { panic!("{text}") };
    let address = Address::with(&settings, bucket, |name| {
        variables.iter().find(|it| it.0 == name).map(|it| it.1.to_string())
    });
    address.map(|it| format!("{} {}", it.region, it.url))
}

#[test]
fn a_bucket_is_where_the_settings_or_the_variables_say() {
    let plain = "url = \"s3://kernels/team\"";
    let region = format!("{plain}\nregion = \"eu-west-1\"");
    let endpoint = format!("{plain}\nendpoint = \"http://minio:9000/\"");
    let variables = [("AWS_REGION", "cn-north-1"), ("AWS_DEFAULT_REGION", "x")];
    let server = [("AWS_REGION", ""), ("AWS_DEFAULT_REGION", "auto"), ("AWS_ENDPOINT_URL", "https://r2")];
    for (text, variables, expected) in [
        (plain, &[][..], "us-east-1 https://kernels.s3.us-east-1.amazonaws.com/team"),
        (&region, &variables, "eu-west-1 https://kernels.s3.eu-west-1.amazonaws.com/team"),
        (plain, &variables, "cn-north-1 https://kernels.s3.cn-north-1.amazonaws.com.cn/team"),
        ("url = \"s3://a.b\"", &[], "us-east-1 https://s3.us-east-1.amazonaws.com/a.b"),
        (plain, &server, "auto https://r2/kernels/team"),
        (&endpoint, &server, "auto http://minio:9000/kernels/team"),
    ] {
        assert_eq!(address(text, variables).unwrap(), expected);
    }
    for endpoint in ["minio:9000", "ftp://minio", "https://a b"] {
        let text = format!("{plain}\nendpoint = \"{endpoint}\"");
        assert!(address(&text, &[]).unwrap_err().to_string().contains("hint: write `endpoint"), "{endpoint}");
    }
}

fn signer(variables: &[(&str, &str)]) -> Signer {
    let envs = variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Signer::new("eu-west-1", Context::new().with_env(StaticEnv { home_dir: None, envs }))
}

const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "AKEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "secret")];

#[tokio::test]
async fn each_request_has_the_hash_of_its_body_and_a_signature() {
    let server = Server::default();
    let url = server.start().await;
    let settings = settings(&format!("url = \"{url}\"\nheaders = {{ x-amz-acl = {{ env = \"PATH\" }} }}"));
    let url = url.parse().unwrap();
    let client = client(&settings, &url).unwrap();
    let http = Http::with_service(&settings, &url, client, Service::S3(signer(&KEYS))).unwrap();
    let blob = Blob::from_bytes(&b"content"[..]);
    Store::put(&http, std::slice::from_ref(&blob)).await.unwrap();
    assert_eq!(http.blobs(&[blob.digest]).await.unwrap(), [Some(Bytes::from_static(b"content"))]);
    let heads = server.heads();
    assert_eq!(heads.len(), 2);
    for (head, body) in heads.iter().zip([&b"content"[..], b""]) {
        assert_eq!(header(head, "x-amz-content-sha256").unwrap(), Digest::from_bytes(body).hex());
        let signature = header(head, "authorization").unwrap();
        assert!(signature.starts_with("AWS4-HMAC-SHA256 Credential=AKEXAMPLE/"), "{signature}");
        let scope =
            "/eu-west-1/s3/aws4_request, SignedHeaders=host;x-amz-acl;x-amz-content-sha256;x-amz-date, ";
        assert!(signature.contains(scope), "{signature}");
        assert!(header(head, "user-agent").unwrap().starts_with("cargo-offload/"));
    }
}

#[tokio::test]
async fn who_has_no_credentials_is_told_where_they_belong() {
    let off = [("AWS_EC2_METADATA_DISABLED", "true")];
    let fault =
        signer(&off).signed(Request::get("http://host/x").body(Bytes::new()).unwrap()).await.unwrap_err();
    assert_eq!((fault.kind, fault.hint.as_deref()), (FaultKind::Denied, Some(CREDENTIALS)));
}

fn answer(status: StatusCode, code: &str, region: Option<&'static str>) -> Answer {
    let headers: HeaderMap =
        region.map(|it| ("x-amz-bucket-region".parse().unwrap(), it.parse().unwrap())).into_iter().collect();
    Answer { status, headers, body: DOCUMENT.replace("{}", code).into() }
}

#[test]
fn each_refusal_has_its_hint() {
    for (status, code, region, kind, hint) in [
        (403, "AccessDenied", None, FaultKind::Denied, "`s3:PutObject`"),
        (403, "SignatureDoesNotMatch", None, FaultKind::Denied, "AWS_SECRET_ACCESS_KEY"),
        (403, "RequestTimeTooSkewed", None, FaultKind::Denied, "clock"),
        (404, "NoSuchBucket", None, FaultKind::Lasting, "make the bucket"),
        (301, "PermanentRedirect", Some("eu-west-3"), FaultKind::Lasting, "write `region = \"eu-west-3\"`"),
        (
            400,
            "AuthorizationHeaderMalformed",
            Some("eu-west-3"),
            FaultKind::Lasting,
            "`region = \"eu-west-3\"`",
        ),
    ] {
        let status = StatusCode::from_u16(status).unwrap();
        let fault = refusal(&Method::PUT, &answer(status, code, region));
        assert_eq!(fault.message, format!("S3 answers PUT with {status}: {code}: In words."));
        assert_eq!(fault.kind, kind, "{code}");
        assert!(fault.hint.unwrap().contains(hint), "{code}");
    }
    let answer = answer(StatusCode::FORBIDDEN, "AccessDenied", None);
    assert!(refusal(&Method::GET, &answer).hint.unwrap().contains("`s3:ListBucket`"));
    let busy =
        Answer { status: StatusCode::SERVICE_UNAVAILABLE, headers: HeaderMap::new(), body: Bytes::new() };
    let fault = refusal(&Method::HEAD, &busy);
    assert_eq!((fault.kind, fault.hint), (FaultKind::Transient, None));
    assert_eq!(fault.message, "S3 answers HEAD with 503 Service Unavailable");
}

#[tokio::test]
async fn a_bucket_that_is_not_there_is_no_missing_object() {
    for (code, hint) in [("NoSuchKey", None), ("NoSuchBucket", Some("make the bucket"))] {
        assert_eq!(lacks_bucket(&answer(StatusCode::NOT_FOUND, code, None)), hint.is_some());
    }
}

#[test]
fn addresses_of_this_link_get_a_second() {
    for (url, seconds) in [
        ("http://169.254.169.254/latest/api/token", 1),
        ("http://[fd00:ec2::254]/latest", 1),
        ("https://sts.eu-west-1.amazonaws.com", 10),
    ] {
        assert_eq!(credential_timeout(&url.parse().unwrap()).as_secs(), seconds, "{url}");
    }
}
