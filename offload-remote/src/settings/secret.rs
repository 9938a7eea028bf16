//! Credentials: where they are, never what they are.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::path::PathBuf;

use http::{HeaderName, HeaderValue};

use crate::Error;

/// Where the value of a header is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Secret {
    /// In an environment variable.
    Environment(String),
    /// In a file, whose last line end does not count.
    File(PathBuf),
}

impl Secret {
    /// What `value` says of the header `name`.
    pub(crate) fn of(name: &str, value: &toml::Value) -> Result<Secret, Error> {
        let refused = |what: &str| {
            Error::new(format!("the header `{name}` {what}"))
                .hint(format!("write `{name} = {{ env = \"VARIABLE\" }}` or `{{ file = \"PATH\" }}`"))
        };
        if name.ends_with("-bin") || HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(refused("has a name that no header may have"));
        }
        let table = value.as_table().ok_or_else(|| refused("has its value in the settings"))?;
        let text = |key| table.get(key).and_then(toml::Value::as_str);
        match (table.len(), text("env"), text("file")) {
            (1, Some(variable), None) => Ok(Secret::Environment(variable.into())),
            (1, None, Some(path)) => Ok(Secret::File(path.into())),
            _ => Err(refused("has no place of its value")),
        }
    }

    /// The value, which no error shows.
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
        let mut value = HeaderValue::from_str(text.trim_end())
            .map_err(|_| Error::new(format!("the value of the header `{name}` is no text of one line")))?;
        value.set_sensitive(true);
        Ok(value)
    }
}
