//! What this machine needs, and the programs of this checkout that the task runs.

use std::path::{Path, PathBuf};

use super::plan::Plan;
use super::project::Size;
use super::servers::Standin;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Wheel};
use offload_tests::workspace::Workspace;

/// The machine with all that is needed on it.
pub(super) struct Machine<'a> {
    pub(super) workspace: &'a Workspace,
    /// Everything that the task writes, but for caches.
    pub(super) dir: PathBuf,
    /// `cargo-offload` with its client.
    pub(super) tool: PathBuf,
    standin: PathBuf,
    /// The directory of its programs.
    buildbox: Option<PathBuf>,
}

impl<'a> Machine<'a> {
    /// Installs what is missing, and builds the programs.
    pub(super) fn prepare(workspace: &'a Workspace, plan: &Plan) -> Result<Machine<'a>> {
        setup::ensure(workspace, &[setup::BUILD, setup::GPUS, setup::REMOTE])?;
        let buildbox = match plan.needs_servers() {
            true => Some(setup::ensure_wheel(workspace, Wheel::Buildbox)?),
            false => None,
        };
        let (profile, directory) = if plan.measures() { ("release", "release") } else { ("dev", "debug") };
        // Both at once: what they share is compiled once.
        let cargo = workspace.cargo().args(["build", "--quiet", "--profile", profile]);
        let cargo = cargo.args(["--package", "offload-remote-tests", "--bin", "standin-remote"]);
        let cargo = cargo.args(["--package", "cargo-offload", "--bin", "cargo-offload"]);
        cargo.args(["--features", "cargo-offload/remote"]).run()?;
        let programs = workspace.target_dir.join(directory);
        Ok(Machine {
            workspace,
            dir: workspace.shell.create_dir(workspace.target_dir.join("remote"))?,
            tool: programs.join("cargo-offload"),
            standin: programs.join("standin-remote"),
            buildbox,
        })
    }

    /// An empty stand-in, with these arguments.
    pub(super) fn standin(&self, args: &[&str]) -> Result<Standin> {
        Standin::start(&self.standin, args)
    }

    /// The program of the stand-in, for one that is started in another place.
    pub(super) fn standin_program(&self) -> &Path {
        &self.standin
    }

    pub(super) fn buildbox(&self) -> Result<&Path> {
        let dir = self.buildbox.as_deref();
        dir.ok_or_else(|| Error::new("buildbox was not installed for these parts"))
    }

    /// A directory for the files of a project.
    pub(super) fn place(&self, size: Size) -> PathBuf {
        self.dir.join(format!("{}x{}", size.files, size.targets))
    }
}

/// Says that a row cannot be had here; an error where that must not be.
pub(super) fn skip(what: &str) -> Result<()> {
    let is_ci = std::env::var("CI").is_ok_and(|ci| !ci.is_empty() && ci != "false");
    match is_ci {
        true => Err(Error::new(format!("{what}, and nothing is skipped in CI"))),
        false => {
            println!("skipped: {what}");
            Ok(())
        }
    }
}
