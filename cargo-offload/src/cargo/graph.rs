//! Packages with kernels in the dependency graph of a program.

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId, TargetKind};

use crate::cargo::process::Cargo;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, Result};

/// The names of packages that `program` depends on and that compile kernels in their build script.
pub(crate) fn packages_with_kernels(
    project: &cli::Project,
    root: RootPackage<'_>,
) -> Result<BTreeSet<String>> {
    let metadata = metadata(project, Depth::Dependencies)?;
    let root = root_package(&metadata, root)?;
    let reached = reachable(&metadata, &root.id);
    let with_kernels =
        metadata.packages.iter().filter(|package| reached.contains(&package.id) && has_kernels(package));
    Ok(with_kernels.map(|package| package.name.to_string()).collect())
}

/// Whether there is a project to be asked about: one that is named, or one around the current directory. Cargo takes longer
/// to say that there is none than most files take to be read.
pub(crate) fn is_there(project: &cli::Project) -> bool {
    project.is_named()
        || Path::new(".")
            .canonicalize()
            .is_ok_and(|dir| dir.ancestors().any(|dir| dir.join("Cargo.toml").is_file()))
}

/// Whether the package that is named, or that cargo would build here, comes with kernels.
pub(crate) fn has_kernels_here(project: &cli::Project) -> Result<bool> {
    let root = project.package.as_deref().map_or(RootPackage::Here, RootPackage::Named);
    match packages_with_kernels(project, root) {
        // There is no project, or several packages of which none was named.
        Err(error) if !project.is_named() && is_usage(&error) => Ok(false),
        packages => Ok(!packages?.is_empty()),
    }
}

/// Whether cargo makes a program or a shared library of the package that is named, or that it would build here; in a
/// workspace where neither is given, of any package.
pub(crate) fn makes_file_here(project: &cli::Project) -> Result<bool> {
    let metadata = metadata(project, Depth::Members)?;
    if let Some(name) = &project.package {
        return root_package(&metadata, RootPackage::Named(name)).map(makes_file);
    }
    let own = metadata.root_package();
    Ok(own.map_or_else(|| metadata.packages.iter().any(makes_file), makes_file))
}

fn makes_file(package: &Package) -> bool {
    package.targets.iter().any(|target| {
        target
            .kind
            .iter()
            .any(|kind| matches!(kind, TargetKind::Bin | TargetKind::CDyLib | TargetKind::DyLib))
    })
}

/// Extent of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// At the members of the workspace alone, which needs neither Cargo.lock nor the network.
    Members,
    /// At everything that they depend on.
    Dependencies,
}

/// Runs `cargo metadata`.
pub(crate) fn metadata(project: &cli::Project, depth: Depth) -> Result<Metadata> {
    let mut command = MetadataCommand::new();
    if let Some(manifest) = &project.manifest_path {
        command.manifest_path(manifest);
    }
    if depth == Depth::Members {
        command.no_deps();
    }
    let args = project.args().into_iter().map(|arg| arg.to_string_lossy().into_owned());
    command.other_options(args.collect::<Vec<String>>());
    command.exec().map_err(|error| match error {
        cargo_metadata::Error::CargoMetadata { stderr } => {
            let error = Error::usage(stderr.trim().trim_start_matches("error: "));
            match &project.manifest_path {
                None => error.hint("name a file, or the manifest with --manifest-path"),
                Some(_) => error,
            }
        }
        other => Error::usage(format!("cannot read what `cargo metadata` prints: {other}")),
    })
}

/// Criterion for the package that a program was built from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RootPackage<'a> {
    Named(&'a str),
    /// The one with a target of the file's name.
    OfFile(&'a Path),
    /// The one that cargo would build here.
    Here,
}

/// Cargo with its options, in the workspace that they name.
pub(crate) fn cargo(verb: &'static str, options: &cli::Cargo) -> Result<Cargo> {
    let metadata = metadata(&options.package.project, Depth::Members)?;
    let place = BuildPlace { metadata: &metadata, target_dir: options.package.target_dir.as_deref() };
    Ok(in_workspace(Cargo::new(verb).args(options.args()), &options.package.project, place))
}

/// A workspace, and the directory for what cargo builds, if the command line names one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuildPlace<'a> {
    pub(crate) metadata: &'a Metadata,
    pub(crate) target_dir: Option<&'a Path>,
}

/// `cargo`, which tells build scripts of dependencies where the workspace is, if the directory that it builds in does not.
///
/// If none is needed, the environment is that of plain cargo, so that builds by both run each build script once.
pub(crate) fn in_workspace(cargo: Cargo, project: &cli::Project, place: BuildPlace<'_>) -> Cargo {
    let BuildPlace { metadata, target_dir } = place;
    let build = metadata.build_directory.as_ref().unwrap_or(&metadata.target_directory);
    let is_around = target_dir.is_none() && build.starts_with(&metadata.workspace_root);
    if is_around || !has_kernels_elsewhere(project) {
        return cargo;
    }
    cargo.in_workspace(metadata.workspace_root.as_std_path())
}

/// Whether a dependency has kernels that is no part of the workspace: its build script does not find the workspace by
/// itself. What cargo cannot tell may be so.
fn has_kernels_elsewhere(project: &cli::Project) -> bool {
    let Ok(metadata) = metadata(project, Depth::Dependencies) else { return true };
    metadata.packages.iter().any(|package| has_kernels(package) && !is_inside_workspace(&metadata, package))
}

/// The package that `root` says, or else the one that cargo would build here.
///
/// # Errors
/// There is none, or it is not the only one.
pub(crate) fn root_package<'a>(metadata: &'a Metadata, root: RootPackage<'_>) -> Result<&'a Package> {
    let members = metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id));
    let found = match root {
        RootPackage::Named(name) => members.clone().find(|package| package.name.as_str() == name),
        RootPackage::OfFile(path) => {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let names = [stem, stem.strip_prefix("lib").unwrap_or(stem)];
            members
                .clone()
                .find(|package| package.targets.iter().any(|target| names.contains(&target.name.as_str())))
                .or_else(|| metadata.root_package())
        }
        RootPackage::Here => metadata.root_package(),
    };
    found.ok_or_else(|| {
        let names: Vec<_> = members.map(|package| package.name.to_string()).collect();
        let what = match root {
            RootPackage::Named(name) => format!("the workspace has no package `{name}`"),
            RootPackage::OfFile(path) => format!("no package of the workspace builds `{}`", path.display()),
            RootPackage::Here => "the workspace has several packages".to_string(),
        };
        Error::usage(what).hint(format!("choose one with --package: {}", names.join(", ")))
    })
}

/// Everything that is linked into the root package's targets, by cargo's reckoning.
fn reachable<'a>(metadata: &'a Metadata, root: &'a PackageId) -> BTreeSet<&'a PackageId> {
    let nodes = metadata.resolve.as_ref().map(|resolve| resolve.nodes.as_slice()).unwrap_or_default();
    let mut open = vec![root];
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !reached.insert(id) {
            continue;
        }
        let node = nodes.iter().find(|node| node.id == *id);
        let linked = node.iter().flat_map(|node| &node.deps).filter(|dep| {
            dep.dep_kinds.is_empty() || dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
        });
        open.extend(linked.map(|dep| &dep.pkg));
    }
    reached
}

fn has_kernels(package: &Package) -> bool {
    package
        .dependencies
        .iter()
        .any(|dependency| dependency.name == "offload-build" && dependency.kind == DependencyKind::Build)
}

/// Whether cargo's absence is the user's concern.
pub(crate) fn is_usage(error: &Error) -> bool {
    error.status() == ExitStatus::Usage
}

fn is_inside_workspace(metadata: &Metadata, package: &Package) -> bool {
    metadata.workspace_members.contains(&package.id)
        && package.manifest_path.starts_with(&metadata.workspace_root)
}
