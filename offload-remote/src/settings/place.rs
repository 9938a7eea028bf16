//! What `url` names: a server, or a folder.

use std::path::{Path, PathBuf};

use http::Uri;

use crate::Error;

/// What is behind a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A server of the Remote Execution API, as a URL with `http` or `https`.
    Grpc(Uri),
    /// An HTTP cache; `ac/` and `cas/` are below it.
    Http(Uri),
    /// A bucket of S3.
    S3(Bucket),
    /// A folder of this machine, or of the network.
    Folder(PathBuf),
}

/// A bucket, and the part of it that is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) name: String,
    /// What keys begin with: empty, or with a `/` before each part.
    pub(crate) prefix: String,
}

const HINT: &str = "write `grpc://HOST:PORT`, `grpcs://`, `http://`, `https://`, `s3://BUCKET`, or the absolute path of a folder";

impl Place {
    pub(crate) fn parse(url: &str) -> Result<Place, Error> {
        let refused = |why: &str| Error::new(format!("`url = \"{}\"` {why}", shown(url))).hint(HINT);
        let path = url.strip_prefix("file://").unwrap_or(url);
        if Path::new(path).is_absolute() {
            return Ok(Place::Folder(path.into()));
        }
        let (scheme, rest) = url.split_once("://").ok_or_else(|| refused("has no scheme"))?;
        if rest.split('/').next().is_some_and(|authority| authority.contains('@')) {
            return Err(Error::new("`url` has a user name or password in it").hint(match scheme {
                "s3" => "give AWS's credentials by its variables or in `~/.aws/credentials`",
                _ => "give credentials by `headers`, from the environment or a file",
            }));
        }
        // A query holds a token where it holds anything, and a URL is shown to users and stands among arguments.
        if let Some((before, _)) = rest.split_once(['?', '#']) {
            return Err(Error::new(format!(
                "`url = \"{scheme}://{before}\"` goes on with a query, which `remote` does not take"
            ))
            .hint("give a token by `headers`, from the environment or a file"));
        }
        if scheme == "s3" {
            return Bucket::parse(rest).map(Place::S3).ok_or_else(|| {
                refused("names no bucket").hint(
                    "write `s3://BUCKET` or `s3://BUCKET/PREFIX`, with letters, digits, `-`, `.` and `_`",
                )
            });
        }
        let is_grpc = matches!(scheme, "grpc" | "grpcs");
        let scheme = match scheme {
            "grpc" | "http" => "http",
            "grpcs" | "https" => "https",
            _ => return Err(refused("has an unknown scheme")),
        };
        let uri: Uri = format!("{scheme}://{}", rest.trim_end_matches('/'))
            .parse()
            .map_err(|error| refused(&format!("is no URL ({error})")))?;
        uri.authority().ok_or_else(|| refused("names no host"))?;
        if is_grpc && uri.path() != "/" {
            return Err(
                refused("has a path, which such a server has not").hint("name the instance by `instance`")
            );
        }
        Ok(if is_grpc { Place::Grpc(uri) } else { Place::Http(uri) })
    }
}

/// A URL without what may be a secret: a password before the host, and what begins with a query.
fn shown(url: &str) -> &str {
    let before = url.split(['?', '#']).next().unwrap_or_default();
    before.rsplit('@').next().unwrap_or_default()
}

impl Bucket {
    /// Names as <https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html> has them; older buckets
    /// have capital letters and `_` too. A prefix has characters alone that no URL changes.
    fn parse(text: &str) -> Option<Bucket> {
        let (name, prefix) = text.split_once('/').unwrap_or((text, ""));
        let plain =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        let begins = name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric);
        if !(3..=255).contains(&name.len()) || !plain(name) || !begins {
            return None;
        }
        let mut parts = String::new();
        for part in prefix.split('/').filter(|part| !part.is_empty()) {
            // Programs that speak HTTP take these two away.
            if !plain(part) || matches!(part, "." | "..") {
                return None;
            }
            parts = format!("{parts}/{part}");
        }
        Some(Bucket { name: name.into(), prefix: parts })
    }
}
