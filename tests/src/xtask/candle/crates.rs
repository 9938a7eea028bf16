//! Crates of the registry, which cargo fetches: the sources as they are, never part of the checkout.

use std::fs;
use std::path::{Path, PathBuf};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;
use serde_json::Value;

/// What `cargo metadata` says of a package with dependencies.
pub(super) struct Crates {
    metadata: Value,
}

impl Crates {
    /// Fetches the lines of `dependencies` of a manifest, and what they need. `directory` is below the target directory.
    pub(super) fn fetch(workspace: &Workspace, directory: &str, dependencies: &str) -> Result<Crates> {
        let directory = workspace.target_dir.join(directory);
        fs::create_dir_all(directory.join("src"))?;
        fs::write(
            directory.join("Cargo.toml"),
            format!(
                "[package]\nname = \"candle-sources\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
                 [workspace]\n\n[dependencies]\n{dependencies}\n"
            ),
        )?;
        fs::write(directory.join("src/lib.rs"), "")?;
        let _in = workspace.shell.push_dir(&directory);
        let metadata = workspace.cargo().args(["metadata", "--format-version=1"]).quiet().read()?;
        Crates::from_metadata(&metadata)
    }

    fn from_metadata(metadata: &str) -> Result<Crates> {
        let metadata = serde_json::from_str(metadata)
            .map_err(|error| Error::new(format!("`cargo metadata` prints no JSON: {error}")))?;
        Ok(Crates { metadata })
    }

    /// The folder of the crate's manifest.
    pub(super) fn directory(&self, name: &str) -> Result<PathBuf> {
        self.find(name).ok_or_else(|| Error::new(format!("`cargo metadata` names no directory of {name}")))
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        let packages = self.metadata.get("packages")?.as_array()?;
        let package =
            packages.iter().find(|package| package.get("name").and_then(Value::as_str) == Some(name))?;
        let manifest = package.get("manifest_path")?.as_str()?;
        Path::new(manifest).parent().map(Path::to_path_buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_that_of_the_crate() {
        let metadata = r#"{"packages": [{"name": "a", "manifest_path": "/a/Cargo.toml"},
            {"name": "candle-kernels", "manifest_path": "/b/Cargo.toml"}]}"#;
        let crates = Crates::from_metadata(metadata).unwrap();
        assert_eq!(crates.directory("candle-kernels").unwrap(), Path::new("/b"));
        assert!(crates.directory("b").unwrap_err().to_string().contains("directory of b"));
        assert!(Crates::from_metadata("").is_err());
    }
}
