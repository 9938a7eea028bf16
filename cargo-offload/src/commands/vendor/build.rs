//! Build of a package's kernels, with a record of their inputs.

use std::path::PathBuf;

use offload_protocol::variable;

use crate::cargo::graph::{self, BuildPlace, Depth, RootPackage};
use crate::cargo::process::Cargo;
use crate::cli;
use crate::error::{IoContext, Result};
use crate::print::output::Output;

/// The package whose kernels are compiled.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// Directory of its manifest.
    pub(super) root: PathBuf,
}

/// A directory of packs and records, removed when dropped.
#[derive(Debug)]
pub(super) struct PackDirectory {
    _scratch: tempfile::TempDir,
    pub(super) dir: PathBuf,
}

impl Package {
    /// The package that `project` names, or the one that cargo would build here.
    pub(super) fn find(project: &cli::Project) -> Result<Package> {
        let metadata = graph::metadata(project, Depth::Members)?;
        let wanted = project.package.as_deref().map_or(RootPackage::Here, RootPackage::Named);
        let found = graph::root_package(&metadata, wanted)?;
        let root = found.manifest_path.parent().map(|root| root.as_std_path().to_path_buf());
        Ok(Package {
            name: found.name.to_string(),
            version: found.version.to_string(),
            root: root.unwrap_or_default(),
        })
    }
}

/// Compiles the kernels of `package` for the targets of `args`, or for those that are configured.
pub(super) fn images(output: &Output, package: &Package, args: &cli::Vendor) -> Result<PackDirectory> {
    let scratch = tempfile::tempdir().io_context("create", "a temporary directory")?;
    // `check` runs build scripts and compiles no Rust of the package. In the profile for releases, kernels for `host`
    // are optimised.
    let cargo = Cargo::new("check").args(["--release", "--package", &package.name]).args(args.project.args());
    let manifest = args.project.manifest_path.iter();
    let cargo = cargo.args(manifest.flat_map(|path| ["--manifest-path".as_ref(), path.as_os_str()]));
    let cargo = cargo.env(variable::VENDOR_DIR, scratch.path()).env(variable::VENDORED, "never");
    let cargo = match args.targets.as_slice() {
        [] => cargo,
        targets => cargo.env(variable::TARGETS, targets.join(",")),
    };
    let metadata = graph::metadata(&args.project, Depth::Members)?;
    let place = BuildPlace { metadata: &metadata, target_dir: None };
    graph::in_workspace(cargo, &args.project, place).spoken_as(output).run()?;
    let dir = scratch.path().join(&package.name);
    Ok(PackDirectory { _scratch: scratch, dir })
}
