//! The bytes that a bundle came from.

use std::path::Path;

use offload_containers::syclbin::{self, BundleState, File};
use offload_format::Limits;

use offload_rt::Error;

/// A SYCLBIN and what it is called in errors.
#[derive(Debug)]
pub struct NamedSyclbin {
    name: String,
    bytes: Vec<u8>,
}

impl NamedSyclbin {
    pub(super) fn from_bytes(bytes: Vec<u8>) -> NamedSyclbin {
        NamedSyclbin { name: "SYCLBIN".to_string(), bytes }
    }

    pub(super) fn from_file(path: &Path) -> Result<NamedSyclbin, Error> {
        let name = format!("SYCLBIN `{}`", path.display());
        match std::fs::read(path) {
            Ok(bytes) => Ok(NamedSyclbin { name, bytes }),
            Err(error) => Err(Error::device(&name, format!("cannot be read: {error}"))),
        }
    }

    pub(super) fn parse(&self) -> Result<File<'_>, Error> {
        syclbin::parse(&self.bytes, &Limits::default()).map_err(|error| self.error(error.to_string()))
    }

    /// # Errors
    /// The file is malformed, or of another state.
    pub(super) fn parse_in(&self, state: BundleState) -> Result<File<'_>, Error> {
        let file = self.parse()?;
        match file.state() {
            Ok(found) if found == state => Ok(file),
            Ok(found) => {
                let error = self.error(format!("it is in state {found}, and state {state} is asked for"));
                Err(error.with_hint("open it in the state that it has; inputs are compiled, objects linked"))
            }
            Err(error) => Err(self.error(error.to_string())),
        }
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> Error {
        Error::device(&self.name, problem)
    }

    /// The module with this index, for messages.
    pub(super) fn module(&self, index: usize) -> String {
        format!("module {index} of {}", self.name)
    }
}
