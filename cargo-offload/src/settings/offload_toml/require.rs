//! The lists `require`: what a release has to run on.

use std::collections::BTreeMap;

use toml_edit::{Item, TableLike};

use super::ConfigFile;
use crate::error::{Error, Result};

const REQUIRE: &str = "require";

/// What `cargo offload verify` demands of a program, in the words of its `--require`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Required {
    pub(crate) all: Vec<String>,
    /// In place of that, of single modules.
    pub(crate) of_modules: BTreeMap<String, Vec<String>>,
}

impl Required {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.of_modules.is_empty()
    }
}

impl ConfigFile {
    /// The lists of the file and of its modules.
    pub(crate) fn required(&self) -> Result<Required> {
        let all = self.list_of(self.document.as_table())?.unwrap_or_default();
        let mut required = Required { all, of_modules: BTreeMap::new() };
        let modules = self.document.get("modules").and_then(Item::as_table_like);
        for (name, module) in modules.into_iter().flat_map(TableLike::iter) {
            let Some(table) = module.as_table_like() else { continue };
            if let Some(words) = self.list_of(table)? {
                required.of_modules.insert(name.to_string(), words);
            }
        }
        Ok(required)
    }

    fn list_of(&self, table: &dyn TableLike) -> Result<Option<Vec<String>>> {
        let Some(item) = table.get(REQUIRE) else { return Ok(None) };
        let words = item.as_array().and_then(|array| {
            array.iter().map(|word| word.as_str().map(str::to_string)).collect::<Option<Vec<_>>>()
        });
        words.map(Some).ok_or_else(|| {
            Error::usage(format!("`{REQUIRE}` in `{}` is not a list of texts", self.path.display()))
                .hint("write `require = [\"sm_90\", \"ptx>=sm_90\", \"gfx90a\"]`")
        })
    }
}
