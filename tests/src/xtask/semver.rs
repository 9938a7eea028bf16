//! `semver`: changes of the public interface since a baseline, by cargo-semver-checks.

use std::process::{Command, ExitCode};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};
use serde_json::Value;

use crate::cargo_tool::CargoTool;
use crate::features;

pub(crate) const HELP: &str =
    "semver [REV]    check the public API of the published crates against REV

Without REV the baseline is the tag of the last release, or, before the first one, `workspace.metadata.semver.baseline` in
Cargo.toml. cargo-semver-checks is compiled once, under the target directory.";

/// It reads descriptions of crates: compiling it without optimisation saves more time than its runs lose.
const SEMVER_CHECKS: CargoTool =
    CargoTool { package: "cargo-semver-checks", version: "0.51.0", arguments: &[], is_unoptimized: true };

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let metadata = features::metadata(workspace)?;
    let baseline = match args {
        [] => default_baseline(workspace, &metadata)?,
        [revision] => revision.clone(),
        _ => return Err(Error::new("`semver` takes one revision").hint("cargo xtask semver REV")),
    };
    let packages = features::published(&metadata)?;
    let mut known = Vec::new();
    for name in packages.keys() {
        if is_in(workspace, &baseline, name) {
            known.push(name.as_str());
        } else {
            // The tool would end at a crate that the revision lacks, without looking at the others.
            println!("{name} is not in {baseline}: there is nothing to compare with");
        }
    }
    if known.is_empty() {
        return Err(Error::new(format!("`{baseline}` is no revision that has one of the published crates"))
            .hint("cargo xtask semver REV"));
    }
    let program = SEMVER_CHECKS.install(workspace)?;
    let mut checks = Command::new(program);
    checks.current_dir(&workspace.root).args([
        "semver-checks",
        "--all-features",
        "--baseline-rev",
        &baseline,
    ]);
    for name in known {
        checks.args(["--package", name]);
    }
    Ok(workspace::exit_code(checks.status()?))
}

/// Whether the revision has the crate.
fn is_in(workspace: &Workspace, revision: &str, name: &str) -> bool {
    let manifest = format!("{revision}:{name}/Cargo.toml");
    workspace.shell.cmd("git").args(["cat-file", "-e"]).arg(manifest).quiet().ignore_stderr().run().is_ok()
}

/// The tag of the last release, or the revision that the manifest names.
fn default_baseline(workspace: &Workspace, metadata: &str) -> Result<String> {
    if let Some(tag) = last_tag(workspace) {
        return Ok(tag);
    }
    let metadata: Option<Value> = serde_json::from_str(metadata).ok();
    let baseline = metadata.as_ref().and_then(|value| value.pointer("/metadata/semver/baseline")?.as_str());
    let error = || Error::new("there is no tag, and Cargo.toml has no `workspace.metadata.semver.baseline`");
    Ok(baseline.ok_or_else(error)?.to_string())
}

/// The tag of the last release before what is checked out.
fn last_tag(workspace: &Workspace) -> Option<String> {
    let git = workspace.shell.cmd("git").args(["describe", "--tags", "--abbrev=0", "--match", "v*"]);
    git.quiet().ignore_stderr().read().ok().filter(|tag| !tag.is_empty())
}
