//! Lookup and edits of `offload.toml`, which keep comments and layout.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

mod list;
mod require;

use std::path::{Path, PathBuf};

use offload_build::DEFAULT_TARGETS;
use offload_protocol::variable;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Value};

use self::list::Lines;
pub(crate) use self::require::Required;
use crate::error::{Error, IoContext, Result};
use crate::files::publish::replace;
use crate::settings::compression::Words;

/// An open configuration file.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    path: PathBuf,
    document: DocumentMut,
}

/// An element of the list of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedTarget {
    pub(crate) name: String,
    pub(crate) presence: Presence,
}

/// Whether a build without the target is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
}

impl ConfigFile {
    /// Opens `given`, or what OFFLOAD_CONFIG names, or the nearest `offload.toml`, as a build does.
    pub(crate) fn open(given: Option<&Path>) -> Result<ConfigFile> {
        let path = ConfigFile::find(given).ok_or_else(|| {
            Error::usage("no offload.toml in this directory or its parents in the workspace")
                .hint("run `cargo offload init` to create one")
        })?;
        let text = std::fs::read_to_string(&path).io_context("read", &path)?;
        let document = text.parse::<DocumentMut>();
        let document = document.map_err(|error| {
            Error::usage(format!("`{}`: {}", path.display(), error.to_string().trim_end()))
        })?;
        Ok(ConfigFile { path, document })
    }

    /// The path of the file, if there is one.
    pub(crate) fn find(given: Option<&Path>) -> Option<PathBuf> {
        given.map(Path::to_path_buf).or_else(named).or_else(above)
    }

    /// The targets that a build takes: those of the file, or the defaults where there is none or it names none.
    pub(crate) fn built_targets(given: Option<&Path>) -> Result<Vec<ListedTarget>> {
        let file = ConfigFile::find(given).map(|path| ConfigFile::open(Some(&path))).transpose()?;
        match file.filter(|file| file.document.contains_key("targets")) {
            Some(file) => file.targets(),
            None => Ok(DEFAULT_TARGETS
                .map(|name| ListedTarget { name: name.into(), presence: Presence::Required })
                .into()),
        }
    }

    /// The table `remote` as build scripts hand it on; none if a build asks no other machines.
    pub(crate) fn remote(given: Option<&Path>) -> Result<Option<String>> {
        let file = ConfigFile::find(given);
        let variable = std::env::var_os(variable::REMOTE).filter(|value| !value.is_empty());
        offload_build::shared::remote_table(file.as_deref(), variable).map_err(Error::from_build)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The targets as written.
    pub(crate) fn targets(&self) -> Result<Vec<ListedTarget>> {
        let Some(item) = self.document.get("targets") else { return Ok(Vec::new()) };
        let array = item.as_array().ok_or_else(|| self.not_a_list())?;
        array.iter().map(|value| ListedTarget::from_value(value).ok_or_else(|| self.not_a_list())).collect()
    }

    /// Adds a target; false if it is there.
    pub(crate) fn add(&mut self, target: &ListedTarget) -> Result<bool> {
        if self.targets()?.iter().any(|there| there.name == target.name) {
            return Ok(false);
        }
        self.edit(|lines| lines.push(target.value()))?;
        Ok(true)
    }

    /// Removes a target; false if it is not there.
    pub(crate) fn remove(&mut self, target: &str) -> Result<bool> {
        let there = self.targets()?.iter().any(|there| there.name == target);
        self.edit(|lines| {
            lines.retain(|value| ListedTarget::from_value(value).is_none_or(|it| it.name != target))
        })?;
        Ok(there)
    }

    /// Makes the list `targets`, in their order. What stays keeps its comments.
    pub(crate) fn set(&mut self, targets: &[ListedTarget]) -> Result<()> {
        self.edit(|lines| {
            lines.retain(|value| position(targets, value).is_some());
            for target in targets {
                if !lines.values().any(|value| ListedTarget::from_value(value).as_ref() == Some(target)) {
                    lines.push(target.value());
                }
            }
            lines.sort_by_key(|value| position(targets, value));
        })
    }

    /// The setting `compression` as written, without the space around it.
    pub(crate) fn compression(&self) -> Option<String> {
        self.document.get("compression").map(|item| item.to_string().trim().to_string())
    }

    /// The mode and level in `compression`.
    pub(crate) fn compression_words(&self) -> Words<'_> {
        let value = self.document.get("compression").and_then(Item::as_value);
        let table = value.and_then(Value::as_inline_table);
        let mode = value.and_then(Value::as_str);
        let mode = mode.or_else(|| table.and_then(|table| table.get("mode")?.as_str()));
        let level = table.and_then(|table| table.get("level")?.as_integer());
        Words { mode, level }
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
        replace(&self.path, self.document.to_string().as_bytes())
    }

    fn edit(&mut self, edit: impl FnOnce(&mut Lines)) -> Result<()> {
        let error = self.not_a_list();
        let item = self.document.entry("targets").or_insert(Item::Value(Value::Array(Array::new())));
        let array = item.as_array_mut().ok_or(error)?;
        let mut lines = Lines::from_array(array);
        edit(&mut lines);
        let decor = array.decor().clone();
        *array = lines.into_array();
        *array.decor_mut() = decor;
        Ok(())
    }

    fn not_a_list(&self) -> Error {
        Error::usage(format!("`targets` in `{}` is not a list of targets", self.path.display()))
            .hint("write `targets = [\"host\", { name = \"intel:pvc\", optional = true }]`")
    }
}

impl ListedTarget {
    fn from_value(value: &Value) -> Option<ListedTarget> {
        if let Some(name) = value.as_str() {
            return Some(ListedTarget { name: name.to_string(), presence: Presence::Required });
        }
        let table = value.as_inline_table()?;
        let optional = table.get("optional").and_then(Value::as_bool).unwrap_or(false);
        let presence = if optional { Presence::Optional } else { Presence::Required };
        Some(ListedTarget { name: table.get("name")?.as_str()?.to_string(), presence })
    }

    fn value(&self) -> Value {
        match self.presence {
            Presence::Required => self.name.as_str().into(),
            Presence::Optional => {
                let mut table = InlineTable::new();
                table.insert("name", self.name.as_str().into());
                table.insert("optional", true.into());
                Value::InlineTable(table)
            }
        }
    }
}

/// The place of an entry of the list among `targets`.
fn position(targets: &[ListedTarget], value: &Value) -> Option<usize> {
    targets.iter().position(|target| Some(target) == ListedTarget::from_value(value).as_ref())
}

fn named() -> Option<PathBuf> {
    std::env::var_os(variable::CONFIG).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The file here or further up, within the workspace: a build reads none beyond it.
fn above() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().find(|dir| dir.join("Cargo.lock").is_file());
    let dirs = here.ancestors().take_while(|dir| root.is_none_or(|root| dir.starts_with(root)));
    dirs.map(|dir| dir.join("offload.toml")).find(|path| path.is_file())
}
