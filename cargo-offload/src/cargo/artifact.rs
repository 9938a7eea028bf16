//! Artifact that a command reads: a given file, or the output of a cargo build.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use cargo_metadata::camino::Utf8Path;
use cargo_metadata::{Artifact, Message, Metadata, TargetKind};
#[cfg(feature = "devices")]
use serde::{Deserialize, Serialize};

use crate::cargo::graph::{self, BuildPlace};
use crate::cargo::process::Cargo;
use crate::cli;
use crate::error::{Error, Result};
use crate::print::output::Output;

/// `given`, or what the package's build makes.
///
/// # Errors
/// The build fails, or makes no program and no shared library, or several.
pub(crate) fn path(output: &Output, given: Option<&Path>, cargo: &cli::Cargo) -> Result<PathBuf> {
    match given {
        Some(path) => Ok(path.to_path_buf()),
        None => {
            let metadata = graph::metadata(&cargo.package.project, graph::Depth::Members)?;
            built(output, Project { options: cargo, metadata: &metadata }, |cargo| cargo)
        }
    }
}

/// As [`path`], where it is no mistake that there is no project, none with kernels, or one that is a library for programs.
pub(crate) fn path_if_any(
    output: &Output,
    given: Option<&Path>,
    cargo: &cli::Cargo,
) -> Result<Option<PathBuf>> {
    let package = &cargo.package;
    let wanted = given.is_some()
        || package.names_target()
        || (package.is_named() || graph::has_kernels_here(&package.project)?)
            && graph::makes_file_here(&package.project)?;
    wanted.then(|| path(output, given, cargo)).transpose()
}

/// A project, and how it is built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Project<'a> {
    pub(crate) options: &'a cli::Cargo,
    pub(crate) metadata: &'a Metadata,
}

/// Builds the package in `project` by the cargo command that `prepare` returns, and returns the path of its artifact.
///
/// # Errors
/// As [`path`].
pub(crate) fn built(
    output: &Output,
    project: Project<'_>,
    prepare: impl FnOnce(Cargo) -> Cargo,
) -> Result<PathBuf> {
    let Project { options, metadata } = project;
    let cargo = Cargo::new("build").args(["--message-format", "json-render-diagnostics"]);
    let place = BuildPlace { metadata, target_dir: options.package.target_dir.as_deref() };
    let cargo = graph::in_workspace(cargo, &options.package.project, place);
    let artifacts = artifacts(prepare(cargo.args(options.args()).spoken_as(output)))?;
    choose(metadata, &options.package.project, &artifacts)
}

/// The artifacts in the JSON messages of `cargo`.
fn artifacts(cargo: Cargo) -> Result<Vec<Artifact>> {
    messages(cargo, |message| match message {
        Message::CompilerArtifact(artifact) => Some(artifact),
        _ => None,
    })
}

/// The directories of the build scripts that have a part in what `cargo` makes.
pub(crate) fn out_dirs(cargo: Cargo) -> Result<BTreeSet<PathBuf>> {
    let cargo = cargo.args(["--message-format", "json-render-diagnostics"]);
    let found = messages(cargo, |message| match message {
        Message::BuildScriptExecuted(script) => Some(script.out_dir.into_std_path_buf()),
        _ => None,
    })?;
    Ok(found.into_iter().collect())
}

/// The JSON messages of `cargo` that `choose` selects.
fn messages<T>(cargo: Cargo, choose: impl Fn(Message) -> Option<T>) -> Result<Vec<T>> {
    cargo.read(|pipe| {
        let messages = Message::parse_stream(BufReader::new(pipe));
        let chosen = messages.filter_map(|message| match message {
            Ok(message) => choose(message).map(Ok),
            Err(error) => Some(Err(Error::usage(format!("cannot read cargo's messages: {error}")))),
        });
        chosen.collect()
    })
}

/// A program with tests.
#[cfg(feature = "devices")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TestProgram {
    pub(crate) file: PathBuf,
    pub(crate) package: String,
    /// Cargo target under test, such as `hello (bin)`.
    pub(crate) name: String,
}

/// The programs with tests that `cargo` makes.
#[cfg(feature = "devices")]
pub(crate) fn tests(cargo: Cargo) -> Result<Vec<TestProgram>> {
    let artifacts = artifacts(cargo.args(["--message-format", "json-render-diagnostics"]))?;
    let programs = artifacts.into_iter().filter(|artifact| artifact.profile.test).filter_map(|artifact| {
        let kind = artifact.target.kind.first().map(ToString::to_string).unwrap_or_default();
        Some(TestProgram {
            file: artifact.executable?.into(),
            package: package_name(&artifact.package_id.repr).to_string(),
            name: format!("{} ({kind})", artifact.target.name),
        })
    });
    Ok(programs.collect())
}

/// The name in an identifier of cargo's, as `path+file:///dir/name#0.1.0` or `...#name@0.1.0`
/// (<https://doc.rust-lang.org/cargo/reference/pkgid-spec.html>).
#[cfg(feature = "devices")]
fn package_name(id: &str) -> &str {
    let (url, fragment) = id.rsplit_once('#').unwrap_or((id, id));
    match fragment.split_once('@') {
        Some((name, _)) => name,
        None => url.rsplit('/').next().unwrap_or(url),
    }
}

/// A file with images in it that cargo has made, and what cargo calls it.
#[derive(Debug)]
struct LinkedArtifact<'a> {
    artifact: &'a Artifact,
    file: PathBuf,
}

/// Programs before shared libraries; of several the one that `cargo run` would run.
fn choose(metadata: &Metadata, project: &cli::Project, artifacts: &[Artifact]) -> Result<PathBuf> {
    let linked: Vec<LinkedArtifact<'_>> = artifacts.iter().filter_map(program).collect();
    let linked = if linked.is_empty() {
        let libraries = artifacts.iter().filter(|artifact| is_project_artifact(metadata, project, artifact));
        libraries.filter_map(shared_library).collect()
    } else {
        linked
    };
    match linked.as_slice() {
        [] => Err(Error::usage("the package has no program and no shared library").hint(
            "kernels of a library are linked into the programs that use it; name the file of such a program",
        )),
        [only] => Ok(only.file.clone()),
        several => several
            .iter()
            .find(|linked| is_default(metadata, linked.artifact))
            .map(|linked| linked.file.clone())
            .ok_or_else(|| ambiguous(several)),
    }
}

fn program(artifact: &Artifact) -> Option<LinkedArtifact<'_>> {
    let runs = artifact.target.kind.iter().any(|kind| matches!(kind, TargetKind::Bin | TargetKind::Example));
    let file = artifact.executable.clone().filter(|_| runs)?;
    Some(LinkedArtifact { artifact, file: file.into() })
}

fn shared_library(artifact: &Artifact) -> Option<LinkedArtifact<'_>> {
    let shared =
        artifact.target.kind.iter().any(|kind| matches!(kind, TargetKind::CDyLib | TargetKind::DyLib));
    let file = artifact.filenames.iter().find(|file| is_library(file)).filter(|_| shared)?;
    Some(LinkedArtifact { artifact, file: file.into() })
}

fn is_library(file: &Utf8Path) -> bool {
    matches!(file.extension(), Some("so" | "dylib" | "dll"))
}

/// Whether `artifact` is what was asked for, and no dependency of it.
fn is_project_artifact(metadata: &Metadata, project: &cli::Project, artifact: &Artifact) -> bool {
    let package = metadata.packages.iter().find(|package| package.id == artifact.package_id);
    metadata.workspace_members.contains(&artifact.package_id)
        && project
            .package
            .as_ref()
            .is_none_or(|name| package.is_some_and(|package| package.name.as_str() == name))
}

fn is_default(metadata: &Metadata, artifact: &Artifact) -> bool {
    let package = metadata.packages.iter().find(|package| package.id == artifact.package_id);
    package.and_then(|package| package.default_run.as_deref()) == Some(artifact.target.name.as_str())
}

fn ambiguous(linked: &[LinkedArtifact<'_>]) -> Error {
    // Cargo tells of them in the order in which they are done.
    let names: BTreeSet<&str> = linked.iter().map(|linked| linked.artifact.target.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    Error::usage(format!("the build produces several files: {}", names.join(", ")))
        .hint("choose one with --bin, --example or --package")
}

#[cfg(all(test, feature = "devices"))]
mod tests {
    use super::package_name;

    #[test]
    fn identifiers_name_their_package() {
        assert_eq!(package_name("path+file:///w/hello#0.1.0"), "hello");
        assert_eq!(package_name("path+file:///w/dir#hello@0.1.0"), "hello");
        assert_eq!(package_name("registry+https://example.org/index#hello@1.0.0"), "hello");
    }
}
