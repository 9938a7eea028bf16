//! Sources of header values. Credentials are read only when a connection is made.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::path::PathBuf;

use http::{HeaderName, HeaderValue};

use crate::Error;

/// The source of a header value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Secret {
    /// An environment variable.
    Environment(String),
    /// A file; trailing whitespace is trimmed.
    File(PathBuf),
}

impl Secret {
    /// Parses the source of the header `name`.
    pub(crate) fn parse(name: &str, value: &toml::Value) -> Result<Secret, Error> {
        if name.ends_with("-bin") || HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(invalid(name, "has an invalid name"));
        }
        let table = value.as_table().ok_or_else(|| invalid(name, "has its value in the settings"))?;
        let env = table.get("env").and_then(toml::Value::as_str);
        let file = table.get("file").and_then(toml::Value::as_str);
        match (table.len(), env, file) {
            (1, Some(variable), None) => Ok(Secret::Environment(variable.into())),
            (1, None, Some(path)) => Ok(Secret::File(path.into())),
            _ => Err(invalid(name, "has no source of its value")),
        }
    }

    /// Reads the value, which no error shows.
    pub(crate) fn read(&self, name: &str) -> Result<HeaderValue, Error> {
        let text = match self {
            Secret::Environment(variable) => std::env::var(variable).map_err(|_| {
                Error::new(format!("the environment variable `{variable}` is not set"))
                    .hint(format!("the header `{name}` of the remote server takes its value from it"))
            })?,
            Secret::File(path) => std::fs::read_to_string(path).map_err(|error| {
                Error::new(format!("cannot read `{}`: {error}", path.display()))
                    .hint(format!("the header `{name}` of the remote server takes its value from it"))
            })?,
        };
        let mut value = HeaderValue::from_str(text.trim_end()).map_err(|_| {
            Error::new(format!("the value of the header `{name}` is not a single line of text"))
        })?;
        value.set_sensitive(true);
        Ok(value)
    }
}

fn invalid(name: &str, what: &str) -> Error {
    Error::new(format!("the header `{name}` {what}"))
        .hint(format!("write `{name} = {{ env = \"VARIABLE\" }}` or `{{ file = \"PATH\" }}`"))
}
