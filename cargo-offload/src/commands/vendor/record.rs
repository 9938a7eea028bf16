//! Vendored pack and its record.

use std::path::Path;

use offload_format::provenance::Provenance;

use crate::error::{Error, IoContext, Result};

/// One kernel module.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) provenance: Provenance,
    /// The file that `provenance` was read from.
    pub(super) text: String,
    /// The bytes of the pack.
    pub(super) pack: Vec<u8>,
}

/// Every record in `dir`, by name; none if there is no such directory.
pub(super) fn all(dir: &Path) -> Result<Vec<Record>> {
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(dir).io_context("list", dir)?;
    let mut paths =
        entries.map(|entry| Ok(entry.io_context("list", dir)?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    paths.iter().map(|path| one(path)).collect()
}

fn one(path: &Path) -> Result<Record> {
    let text = std::fs::read_to_string(path).io_context("read", path)?;
    let provenance: Provenance =
        toml::from_str(&text).map_err(|error| Error::check(format!("`{}`: {error}", path.display())))?;
    let named = path.file_stem().is_some_and(|stem| *stem == *provenance.module);
    if !named {
        let text = format!("`{}` is the record of the module `{}`", path.display(), provenance.module);
        return Err(Error::check(text).hint("remove it; `cargo offload vendor` recreates it"));
    }
    let pack = path.with_extension("pack");
    let pack = std::fs::read(&pack).io_context("read", &pack)?;
    Ok(Record { provenance, text, pack })
}
