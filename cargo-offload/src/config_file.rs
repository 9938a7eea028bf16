//! Finding and editing `offload.toml`; comments and layout stay as they are.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Value};

use crate::error::{Error, Result};
use crate::publish::publish;

/// An open configuration file.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    path: PathBuf,
    document: DocumentMut,
}

impl ConfigFile {
    /// Opens `given`, or what OFFLOAD_CONFIG names, or `offload.toml` here or further up.
    pub(crate) fn open(given: Option<&Path>) -> Result<ConfigFile> {
        let path = ConfigFile::find(given).ok_or_else(|| {
            Error::usage("there is no offload.toml here or in a directory above")
                .hint("`cargo offload init` writes one")
        })?;
        let text = std::fs::read_to_string(&path).map_err(|error| Error::io("read", &path, &error))?;
        let document = text.parse::<DocumentMut>();
        let document = document.map_err(|error| Error::usage(format!("`{}`: {error}", path.display())))?;
        Ok(ConfigFile { path, document })
    }

    /// Where the file is, if there is one.
    pub(crate) fn find(given: Option<&Path>) -> Option<PathBuf> {
        given.map(Path::to_path_buf).or_else(named).or_else(above)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The targets as written; a table has its name under `name`.
    pub(crate) fn targets(&self) -> Result<Vec<String>> {
        let Some(item) = self.document.get("targets") else { return Ok(Vec::new()) };
        let array = item.as_array().ok_or_else(|| self.not_a_list())?;
        let name = |value: &Value| target_name(value).map(str::to_string);
        array.iter().map(|value| name(value).ok_or_else(|| self.not_a_list())).collect()
    }

    /// Adds a target; false if it is there.
    pub(crate) fn add(&mut self, text: &str) -> Result<bool> {
        if self.targets()?.iter().any(|there| there == text) {
            return Ok(false);
        }
        let list = self.list()?;
        // A new element of a list that has a line for each gets a line too.
        let prefix =
            list.iter().last().and_then(|value| value.decor().prefix()?.as_str()).map(str::to_string);
        list.push(text);
        if let (Some(prefix), Some(value)) = (prefix, list.iter_mut().last()) {
            value.decor_mut().set_prefix(if prefix.is_empty() { " ".to_string() } else { prefix });
        }
        Ok(true)
    }

    /// Removes a target; false if it is not there.
    pub(crate) fn remove(&mut self, target: &str) -> Result<bool> {
        let list = self.list()?;
        let found = list.iter().position(|value| target_name(value) == Some(target));
        if let Some(index) = found {
            list.remove(index);
            if let (0, Some(first)) = (index, list.get_mut(0)) {
                // `[ "a"]` would be left of `["b", "a"]`.
                let multi_line = first
                    .decor()
                    .prefix()
                    .and_then(|prefix| prefix.as_str())
                    .is_some_and(|p| p.contains('\n'));
                if !multi_line {
                    first.decor_mut().set_prefix("");
                }
            }
        }
        Ok(found.is_some())
    }

    /// The setting `compression` as written, without the space around it.
    pub(crate) fn compression(&self) -> Option<String> {
        self.document.get("compression").map(|item| item.to_string().trim().to_string())
    }

    /// Sets `compression`.
    pub(crate) fn set_compression(&mut self, value: Value) {
        match self.document.get_mut("compression").and_then(Item::as_value_mut) {
            Some(old) => {
                // A comment behind the value belongs to it.
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            None => drop(self.document.insert("compression", Item::Value(value))),
        }
    }

    pub(crate) fn save(&self) -> Result<()> {
        publish(&self.path, self.document.to_string().as_bytes())
    }

    fn list(&mut self) -> Result<&mut Array> {
        let error = self.not_a_list();
        let item = self.document.entry("targets").or_insert(Item::Value(Value::Array(Array::new())));
        item.as_array_mut().ok_or(error)
    }

    fn not_a_list(&self) -> Error {
        Error::usage(format!("`targets` in `{}` is not a list of targets", self.path.display()))
            .hint("write `targets = [\"host\", { name = \"intel:pvc\", optional = true }]`")
    }
}

fn target_name(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.as_inline_table()?.get("name")?.as_str())
}

fn named() -> Option<PathBuf> {
    std::env::var_os("OFFLOAD_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn above() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|dir| dir.join("offload.toml")).find(|path| path.is_file())
}
