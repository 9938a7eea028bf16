//! The published crates of the workspace, with the import cycles of each.

use std::fs;
use std::path::{Path, PathBuf};

use offload_tests::error::Result;

use crate::{cycles, modules};

/// The directories of the published crates, sorted by name.
///
/// # Errors
/// If the root of the workspace cannot be read.
pub fn published(root: &Path) -> Result<Vec<PathBuf>> {
    let mut directories = Vec::new();
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let name = entry.file_name();
        let named = name.to_str().is_some_and(|name| name.starts_with("offload-") || name == "cargo-offload");
        if named && entry.path().join("src").is_dir() {
            directories.push(entry.path());
        }
    }
    directories.sort();
    Ok(directories)
}

/// The import cycles of the library and the binary in `package`, each as `crate::a <-> crate::b`.
///
/// # Errors
/// If a file cannot be read or is no Rust.
pub fn import_cycles(package: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in ["lib.rs", "main.rs"] {
        let root = package.join("src").join(name);
        if root.is_file() {
            let modules = modules::of_crate(&root)?;
            found.extend(cycles::find(&modules).iter().map(|group| group.join(" <-> ")));
        }
    }
    Ok(found)
}
