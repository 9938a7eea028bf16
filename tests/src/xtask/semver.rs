//! `semver`: what changed in the public interface since the last release, by cargo-semver-checks.

use std::process::{Command, ExitCode};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::{self, Workspace};

use crate::features;

pub(crate) const HELP: &str =
    "semver [REV]    check the public API of the libraries against REV, or the last tag

Requires `cargo install cargo-semver-checks --locked`. Before the first release there is no baseline.";

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    if workspace.program("cargo-semver-checks").is_none() {
        return Err(Error::new("cargo-semver-checks is not installed")
            .hint("cargo install cargo-semver-checks --locked"));
    }
    let Some(baseline) = args.first().cloned().or_else(|| last_tag(workspace)) else {
        println!("there is no tag yet, so there is no release to compare with");
        return Ok(ExitCode::SUCCESS);
    };
    let mut cargo = Command::from(workspace.cargo().arg("semver-checks"));
    cargo.args(["--all-features", "--baseline-rev", &baseline]);
    let packages = features::published(&features::metadata(workspace)?)?;
    let (known, new): (Vec<&String>, Vec<&String>) =
        packages.keys().partition(|name| is_in(workspace, &baseline, name));
    if known.is_empty() {
        return Err(Error::new(format!("`{baseline}` is no revision that has one of the published crates"))
            .hint("cargo xtask semver REV"));
    }
    // The tool would end at a crate that the revision lacks, without looking at the others.
    new.iter().for_each(|name| println!("{name} is not in {baseline}: there is nothing to compare with"));
    cargo.args(known.into_iter().flat_map(|name| ["--package", name]));
    Ok(workspace::exit_code(cargo.status()?))
}

/// Whether the revision has the crate.
fn is_in(workspace: &Workspace, revision: &str, name: &str) -> bool {
    let manifest = format!("{revision}:{name}/Cargo.toml");
    workspace.shell.cmd("git").args(["cat-file", "-e"]).arg(manifest).quiet().ignore_stderr().run().is_ok()
}

/// The tag of the last release before what is checked out.
fn last_tag(workspace: &Workspace) -> Option<String> {
    let git = workspace.shell.cmd("git").args(["describe", "--tags", "--abbrev=0", "--match", "v*"]);
    git.quiet().ignore_stderr().read().ok().filter(|tag| !tag.is_empty())
}
