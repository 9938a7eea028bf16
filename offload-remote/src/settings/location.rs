//! Location of a remote cache: the parsed `url`.

use std::path::{Path, PathBuf};

use http::Uri;

use crate::Error;

/// The location of a remote cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A server of the Remote Execution API, with the scheme replaced by `http` or `https`.
    Grpc(Uri),
    /// An HTTP cache; `ac/` and `cas/` are below it.
    Http(Uri),
    /// A bucket of S3.
    S3(Bucket),
    /// A local or network folder.
    Folder(PathBuf),
}

/// A bucket with a key prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) name: String,
    /// The key prefix: empty, or with a `/` before each component.
    pub(crate) prefix: String,
}

const HINT: &str = "write `grpc://HOST:PORT`, `grpcs://`, `http://`, `https://`, `s3://BUCKET`, or the absolute path of a folder";

impl Location {
    pub(crate) fn parse(url: &str) -> Result<Location, Error> {
        let path = url.strip_prefix("file://").unwrap_or(url);
        if Path::new(path).is_absolute() {
            return Ok(Location::Folder(path.into()));
        }
        let (scheme, rest) = url.split_once("://").ok_or_else(|| invalid(url, "has no scheme"))?;
        if rest.split('/').next().is_some_and(|authority| authority.contains('@')) {
            return Err(Error::new("`url` has a user name or password in it").hint(match scheme {
                "s3" => "give AWS's credentials by its variables or in `~/.aws/credentials`",
                _ => "give credentials by `headers`, from the environment or a file",
            }));
        }
        // A query may hold a token, and URLs appear in messages and process arguments.
        if let Some((before, _)) = rest.split_once(['?', '#']) {
            return Err(Error::new(format!(
                "`url = \"{scheme}://{before}\"` goes on with a query, which `remote` does not take"
            ))
            .hint("give a token by `headers`, from the environment or a file"));
        }
        if scheme == "s3" {
            return Bucket::parse(rest).map(Location::S3).ok_or_else(|| {
                invalid(url, "names no bucket").hint(
                    "write `s3://BUCKET` or `s3://BUCKET/PREFIX`, with letters, digits, `-`, `.` and `_`",
                )
            });
        }
        let is_grpc = matches!(scheme, "grpc" | "grpcs");
        let scheme = match scheme {
            "grpc" | "http" => "http",
            "grpcs" | "https" => "https",
            _ => return Err(invalid(url, "has an unknown scheme")),
        };
        let uri: Uri = format!("{scheme}://{}", rest.trim_end_matches('/'))
            .parse()
            .map_err(|error| invalid(url, &format!("is not a URL ({error})")))?;
        uri.authority().ok_or_else(|| invalid(url, "names no host"))?;
        if is_grpc && uri.path() != "/" {
            return Err(invalid(url, "has a path, which a gRPC server does not have")
                .hint("name the instance by `instance`"));
        }
        Ok(if is_grpc { Location::Grpc(uri) } else { Location::Http(uri) })
    }
}

fn invalid(url: &str, reason: &str) -> Error {
    Error::new(format!("`url = \"{}\"` {reason}", without_secrets(url))).hint(HINT)
}

/// A URL without its user information, query and fragment.
fn without_secrets(url: &str) -> &str {
    let before = url.split(['?', '#']).next().unwrap_or_default();
    before.rsplit('@').next().unwrap_or_default()
}

impl Bucket {
    /// Parses `NAME/PREFIX`, with names as in <https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html> has them; older
    /// buckets have capital letters and `_` too. A prefix has only characters that need no escape in a URL.
    fn parse(text: &str) -> Option<Bucket> {
        let (name, prefix) = text.split_once('/').unwrap_or((text, ""));
        let begins = name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
        if !(3..=255).contains(&name.len()) || !is_plain(name) || !begins {
            return None;
        }
        let mut parts = String::new();
        for part in prefix.split('/').filter(|part| !part.is_empty()) {
            // HTTP clients normalize these two.
            if !is_plain(part) || matches!(part, "." | "..") {
                return None;
            }
            parts = format!("{parts}/{part}");
        }
        Some(Bucket { name: name.into(), prefix: parts })
    }
}

/// Whether no character needs an escape in a URL.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}
