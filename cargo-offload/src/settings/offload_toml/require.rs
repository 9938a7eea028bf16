//! Lists `require`, `except` and `allow-unread` of the requirements of a release.

use std::collections::BTreeMap;

use toml_edit::{Item, TableLike};

use super::ConfigFile;
use crate::error::{Error, Result};

const REQUIRE: &str = "require";
const EXCEPT: &str = "except";
const ALLOW_UNREAD: &str = "allow-unread";

/// Requirements of `cargo offload verify` on a program, in the syntax of `--require`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Required {
    pub(crate) all: Vec<String>,
    /// In place of that, of single modules.
    pub(crate) of_modules: BTreeMap<String, Vec<String>>,
    /// Requirements that modules of a name may lack.
    pub(crate) except: BTreeMap<String, Vec<String>>,
    /// Names of files that need not be looked into.
    pub(crate) allow_unread: Vec<String>,
}

impl Required {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.of_modules.is_empty()
    }
}

impl ConfigFile {
    /// The lists of the file and of its modules.
    pub(crate) fn required(&self) -> Result<Required> {
        let table = self.document.as_table();
        let mut required = Required {
            all: self.list_of(table, REQUIRE)?.unwrap_or_default(),
            of_modules: BTreeMap::new(),
            except: self.exceptions()?,
            allow_unread: self.list_of(table, ALLOW_UNREAD)?.unwrap_or_default(),
        };
        let modules = self.document.get("modules").and_then(Item::as_table_like);
        for (name, module) in modules.into_iter().flat_map(TableLike::iter) {
            let Some(table) = module.as_table_like() else { continue };
            if let Some(words) = self.list_of(table, REQUIRE)? {
                required.of_modules.insert(name.to_string(), words);
            }
        }
        Ok(required)
    }

    fn exceptions(&self) -> Result<BTreeMap<String, Vec<String>>> {
        let Some(item) = self.document.get(EXCEPT) else { return Ok(BTreeMap::new()) };
        let table = item.as_table_like().ok_or_else(|| self.not_exceptions())?;
        let mut exceptions = BTreeMap::new();
        for (name, item) in table.iter() {
            let words = match item.as_str() {
                Some(word) => vec![word.to_string()],
                None => texts(item).ok_or_else(|| self.not_exceptions())?,
            };
            exceptions.insert(name.to_string(), words);
        }
        Ok(exceptions)
    }

    fn list_of(&self, table: &dyn TableLike, key: &str) -> Result<Option<Vec<String>>> {
        let Some(item) = table.get(key) else { return Ok(None) };
        texts(item).map(Some).ok_or_else(|| {
            let example = match key {
                ALLOW_UNREAD => "[\"*.7z\"]",
                _ => "[\"sm_90\", \"ptx>=sm_90\", \"gfx90a\"]",
            };
            Error::usage(format!("`{key}` in `{}` is not a list of strings", self.path.display()))
                .hint(format!("write `{key} = {example}`"))
        })
    }

    fn not_exceptions(&self) -> Error {
        let path = self.path.display();
        Error::usage(format!("`{EXCEPT}` in `{path}` is not a table of exceptions"))
            .hint("write `except = { \"nccl*\" = \"sm_100f\" }`")
    }
}

fn texts(item: &Item) -> Option<Vec<String>> {
    item.as_array()?.iter().map(|word| word.as_str().map(str::to_string)).collect()
}
