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
    /// A folder of this machine, or of the network.
    Folder(PathBuf),
}

const HINT: &str =
    "write `grpc://HOST:PORT`, `grpcs://`, `http://`, `https://`, or the absolute path of a folder";

impl Place {
    pub(crate) fn parse(url: &str) -> Result<Place, Error> {
        let refused = |why: &str| Error::new(format!("`url = \"{url}\"` {why}")).hint(HINT);
        let path = url.strip_prefix("file://").unwrap_or(url);
        if Path::new(path).is_absolute() {
            return Ok(Place::Folder(path.into()));
        }
        let (scheme, rest) = url.split_once("://").ok_or_else(|| refused("has no scheme"))?;
        let is_grpc = matches!(scheme, "grpc" | "grpcs");
        let scheme = match scheme {
            "grpc" | "http" => "http",
            "grpcs" | "https" => "https",
            _ => return Err(refused("has an unknown scheme")),
        };
        let uri: Uri = format!("{scheme}://{}", rest.trim_end_matches('/'))
            .parse()
            .map_err(|error| refused(&format!("is no URL ({error})")))?;
        let authority = uri.authority().ok_or_else(|| refused("names no host"))?;
        if authority.as_str().contains('@') {
            let error = Error::new("`url` has a user name or password in it");
            return Err(error.hint("give credentials by `headers`, from the environment or a file"));
        }
        if is_grpc && uri.path() != "/" {
            return Err(
                refused("has a path, which such a server has not").hint("name the instance by `instance`")
            );
        }
        Ok(if is_grpc { Place::Grpc(uri) } else { Place::Http(uri) })
    }
}
