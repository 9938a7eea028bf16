//! Having cargo compile the kernels of a package, and the build script write down what they were made of.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::MetadataCommand;

use crate::error::{Error, Result};

/// The package whose kernels are compiled.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// Where its manifest is.
    pub(super) root: PathBuf,
}

/// A directory of packs and records, removed when dropped.
#[derive(Debug)]
pub(super) struct Built {
    _scratch: tempfile::TempDir,
    pub(super) dir: PathBuf,
}

impl Package {
    /// The package `name`, or the one that cargo would build here.
    pub(super) fn find(manifest: Option<&Path>, name: Option<&str>) -> Result<Package> {
        let mut command = MetadataCommand::new();
        command.no_deps();
        if let Some(manifest) = manifest {
            command.manifest_path(manifest);
        }
        let metadata = command.exec().map_err(|error| {
            Error::usage(format!("cargo metadata failed: {error}"))
                .hint("name the manifest with --manifest-path")
        })?;
        let found = match name {
            Some(name) => metadata.packages.iter().find(|package| package.name.as_str() == name),
            None => metadata.root_package().or(match metadata.packages.as_slice() {
                [only] => Some(only),
                _ => None,
            }),
        };
        let found = found.ok_or_else(|| {
            let names: Vec<_> = metadata.packages.iter().map(|package| package.name.to_string()).collect();
            let what = name.map_or_else(
                || "the workspace has several packages".to_string(),
                |name| format!("the workspace has no package `{name}`"),
            );
            Error::usage(what).hint(format!("name one with --package; there are {}", names.join(", ")))
        })?;
        let root = found.manifest_path.parent().map(|root| root.as_std_path().to_path_buf());
        Ok(Package {
            name: found.name.to_string(),
            version: found.version.to_string(),
            root: root.unwrap_or_default(),
        })
    }
}

/// Compiles the kernels of `package` for `targets`, or for those that are configured.
pub(super) fn images(package: &Package, targets: &[String]) -> Result<Built> {
    let scratch = tempfile::tempdir().map_err(|error| Error::io("create", &std::env::temp_dir(), &error))?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // `check` runs build scripts and compiles no Rust of the package. In the profile for releases, kernels for `host` are
    // optimised. Messages belong to standard error: standard output is this command's own.
    command
        .args(["check", "--release", "--package", &package.name])
        .current_dir(&package.root)
        .stdout(std::io::stderr())
        .env("OFFLOAD_VENDOR_DIR", scratch.path())
        .env("OFFLOAD_VENDORED", "never");
    if !targets.is_empty() {
        command.env("OFFLOAD_TARGETS", targets.join(","));
    }
    let status = command.status().map_err(|error| Error::io("run", Path::new("cargo"), &error))?;
    if !status.success() {
        return Err(Error::check(format!("`cargo check --package {}` failed: {status}", package.name)));
    }
    let dir = scratch.path().join(&package.name);
    Ok(Built { _scratch: scratch, dir })
}
