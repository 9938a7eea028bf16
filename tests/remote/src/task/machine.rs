//! Preparation of this machine: packages, and the programs of this checkout that the task runs.

use std::path::{Path, PathBuf};

use super::plan::Plan;
use super::project::Package;
use super::servers::Standin;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Toolkit, Wheel};
use offload_tests::workspace::Workspace;

/// Names NativeLink's program.
const NATIVELINK: &str = "OFFLOAD_NATIVELINK";

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
        let mut buildbox = None;
        if plan.needs_servers() {
            buildbox = Some(setup::ensure_wheel(workspace, Wheel::Buildbox)?);
        }
        // Both at once: what they share is compiled once.
        let cargo = workspace.cargo().args(["build", "--quiet", "--bin", "standin-remote"]);
        let cargo = cargo.args(["--bin", "cargo-offload"]);
        let directory = if plan.measures() { "release" } else { "debug" };
        if plan.measures() {
            let cargo = cargo.args(["--release", "--package", "offload-remote-tests"]);
            cargo.args(["--package", "cargo-offload", "--features", "cargo-offload/remote"]).run()?;
        } else {
            // A test among them has cargo choose features as `cargo test` does, which has compiled the rest then.
            cargo.args(["--workspace", "--all-features", "--test", "packer_memory"]).run()?;
        }
        let dir = workspace.shell.create_dir(workspace.target_dir.join("remote"))?;
        let built = workspace.target_dir.join(directory);
        let mut copies = Vec::new();
        // Copies, as later builds by cargo replace the originals.
        for name in ["cargo-offload", "standin-remote"] {
            let copy = dir.join(name);
            workspace.shell.remove_path(&copy)?;
            workspace.shell.copy_file(built.join(name), &copy)?;
            copies.push(copy);
        }
        let [tool, standin] = copies.try_into().map_err(|_| Error::new("a program was not copied"))?;
        Ok(Machine { workspace, dir, tool, standin, buildbox })
    }

    /// A folder of `toolchain install` with clang.
    pub(super) fn toolchain(&self) -> Result<PathBuf> {
        let folder = self.dir.join("toolchain");
        if !folder.is_dir() {
            let install =
                self.workspace.shell.cmd(&self.tool).args(["offload", "toolchain", "install", "llvm"]);
            let install = install.arg("--lock").arg(self.dir.join("toolchain.lock"));
            install.env("OFFLOAD_TOOLCHAIN", &folder).run()?;
        }
        Ok(folder)
    }

    /// CUDA's toolkit with nvcc.
    pub(super) fn toolkit(&self) -> Result<PathBuf> {
        setup::ensure_cuda(self.workspace, Toolkit::Nvcc)
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

    /// BuildGrid as Python packages.
    pub(super) fn buildgrid(&self) -> Result<PathBuf> {
        setup::ensure_wheel(self.workspace, Wheel::Buildgrid)
    }

    /// moto as Python packages.
    pub(super) fn moto(&self) -> Result<PathBuf> {
        setup::ensure_wheel(self.workspace, Wheel::Moto)
    }

    /// NativeLink's program.
    pub(super) fn nativelink(&self) -> Result<PathBuf> {
        let named = std::env::var_os(NATIVELINK).map(PathBuf::from).filter(|program| program.is_file());
        named.ok_or_else(|| {
            Error::new(format!("{NATIVELINK} names no program")).hint(
                "`cargo build --release` in a clone of https://github.com/TraceMachina/nativelink, and OFFLOAD_NATIVELINK=…/target/release/nativelink",
            )
        })
    }

    /// A directory for the files of a project.
    pub(super) fn place(&self, package: Package) -> PathBuf {
        self.dir.join(package.name())
    }
}

/// Says that a row cannot be had here; an error where that must not be.
pub(super) fn skip(what: &str) -> Result<()> {
    let is_ci = std::env::var("CI").is_ok_and(|ci| !ci.is_empty() && ci != "false");
    if is_ci {
        return Err(Error::new(format!("{what}, and nothing is skipped in CI")));
    }
    println!("skipped: {what}");
    Ok(())
}
