//! Requests as TOML.

use super::{KernelModule, Request};
use crate::error::Result;
use crate::options::{array, utf8};
use crate::toml_text::quoted;

impl Request<'_> {
    /// The request, with the version of this crate.
    ///
    /// # Errors
    /// If a path or a flag is not UTF-8.
    pub(crate) fn to_toml(self) -> Result<String> {
        let mut text = format!("version = {}\n", quoted(env!("CARGO_PKG_VERSION")));
        match self {
            Request::Module(module) => {
                text.push_str("request = \"module\"\n");
                text.push_str(&module.to_toml()?);
            }
            Request::Package(modules) => {
                text.push_str("request = \"package\"\n");
                for module in modules {
                    text.push_str(&module.to_toml()?);
                }
            }
            Request::Library { module, headers } => {
                text.push_str("request = \"library\"\n");
                text.push_str(&format!("headers = {}\n", quoted(utf8(headers.as_os_str())?)));
                text.push_str(&module.to_toml()?);
            }
        }
        Ok(text)
    }
}

impl KernelModule<'_> {
    fn to_toml(self) -> Result<String> {
        let mut files = Vec::new();
        for file in self.files {
            files.push(utf8(file.as_os_str())?);
        }
        let mut definitions = Vec::new();
        for definition in &self.options.defines {
            definitions.push(array([definition.name.as_str(), &definition.value]));
        }
        Ok(format!(
            "\n[[modules]]\nname = {}\nfiles = {}\n# An array, because the order counts.\ndefinitions = [{}]\n\n[modules.options]\n{}",
            quoted(self.name),
            array(files),
            definitions.join(", "),
            self.options.to_toml()?
        ))
    }
}
