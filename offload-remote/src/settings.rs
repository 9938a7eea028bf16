//! The table `remote` of `offload.toml`.

mod location;
mod secret;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

pub(crate) use self::location::{Bucket, Location};
pub(crate) use self::secret::Secret;
use crate::Error;

/// Settings of the remote server.
#[derive(Clone, Debug)]
pub struct Settings {
    url: String,
    location: Location,
    headers: BTreeMap<String, Secret>,
    client: Option<Client>,
    table: Table,
}

/// The client certificate.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// The source of compilers for actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tools {
    /// Installed on the workers, at the same paths as locally.
    #[default]
    Worker,
    /// In the input root of each action.
    Upload,
}

/// The deserialized table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    url: String,
    #[serde(default)]
    instance: String,
    region: Option<String>,
    endpoint: Option<String>,
    #[serde(default)]
    execute: bool,
    #[serde(default = "yes")]
    upload: bool,
    #[serde(default)]
    platform: BTreeMap<String, String>,
    #[serde(default)]
    headers: BTreeMap<String, toml::Value>,
    ca: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    #[serde(default = "jobs")]
    jobs: NonZeroUsize,
    #[serde(default = "timeout")]
    timeout: u64,
    #[serde(default)]
    tools: Tools,
}

fn yes() -> bool {
    true
}

fn jobs() -> NonZeroUsize {
    NonZeroUsize::new(128).unwrap_or(NonZeroUsize::MIN)
}

fn timeout() -> u64 {
    30
}

impl Settings {
    /// Parses the text of the table, whose paths are absolute.
    ///
    /// # Errors
    /// If a key is unknown, a value is invalid, or a credential is in the text.
    pub fn parse(text: &str) -> Result<Settings, Error> {
        let table: Table =
            toml::from_str(text).map_err(|error| Error::new(format!("`remote`: {}", error.message())))?;
        let headers = table.headers.iter().map(|(name, value)| {
            let name = name.to_ascii_lowercase();
            Ok((name.clone(), Secret::parse(&name, value)?))
        });
        let settings = Settings {
            url: table.url.clone(),
            location: Location::parse(&table.url)?,
            headers: headers.collect::<Result<_, Error>>()?,
            client: client(&table)?,
            table,
        };
        settings.check()
    }

    /// The URL of the server, or the path of the folder.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The instance name.
    pub fn instance(&self) -> &str {
        &self.table.instance
    }

    /// Whether actions are executed remotely.
    pub fn executes(&self) -> bool {
        self.table.execute
    }

    /// Whether results are uploaded.
    pub fn uploads(&self) -> bool {
        self.table.upload
    }

    /// The source of compilers. Build scripts act on it; this crate does not.
    pub fn tools(&self) -> Tools {
        self.table.tools
    }

    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    /// The region of a bucket, if it is set.
    pub(crate) fn region(&self) -> Option<&str> {
        self.table.region.as_deref()
    }

    /// The S3 endpoint, if it is set.
    pub(crate) fn endpoint(&self) -> Option<&str> {
        self.table.endpoint.as_deref()
    }

    pub(crate) fn platform(&self) -> &BTreeMap<String, String> {
        &self.table.platform
    }

    pub(crate) fn headers(&self) -> &BTreeMap<String, Secret> {
        &self.headers
    }

    pub(crate) fn authority(&self) -> Option<&Path> {
        self.table.ca.as_deref()
    }

    pub(crate) fn client(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    pub(crate) fn jobs(&self) -> usize {
        self.table.jobs.get()
    }

    /// The timeout of a call other than an execution, retries included.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.table.timeout)
    }

    fn check(self) -> Result<Settings, Error> {
        if self.table.timeout == 0 {
            return Err(Error::new("`timeout = 0` leaves a server no time").hint("the unit is seconds"));
        }
        if self.executes() && !matches!(self.location, Location::Grpc(_)) {
            return Err(Error::new(format!("`{}` runs no commands, as `execute = true` wants", self.url))
                .hint("only a server with `grpc://` or `grpcs://` does"));
        }
        let files = [self.table.ca.as_ref(), self.table.certificate.as_ref(), self.table.key.as_ref()];
        if let Some(path) = files.into_iter().flatten().find(|path| !path.is_absolute()) {
            return Err(Error::new(format!("`{}` is not an absolute path", path.display())));
        }
        Ok(self)
    }
}

fn client(table: &Table) -> Result<Option<Client>, Error> {
    match (&table.certificate, &table.key) {
        (Some(certificate), Some(key)) => {
            Ok(Some(Client { certificate: certificate.clone(), key: key.clone() }))
        }
        (None, None) => Ok(None),
        (certificate, _) => {
            let has = if certificate.is_some() { "certificate" } else { "key" };
            let lacks = if certificate.is_some() { "key" } else { "certificate" };
            Err(Error::new(format!("`remote` has `{has}` without `{lacks}`"))
                .hint(format!("name the PEM file with the client's {lacks}")))
        }
    }
}

#[cfg(test)]
mod tests;
