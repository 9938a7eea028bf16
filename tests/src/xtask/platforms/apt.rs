//! Packages of Debian that are unpacked beside the system: of another architecture, or of another release.

use std::path::{Path, PathBuf};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

/// The key of Debian's archive.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// apt with lists and a state of its own, in which nothing is installed.
#[derive(Debug)]
pub(super) struct Apt<'w> {
    workspace: &'w Workspace,
    state: PathBuf,
    options: Vec<String>,
}

impl<'w> Apt<'w> {
    /// For packages of `architecture` from the system's own sources; `state` is a folder of this task.
    pub(super) fn for_architecture(
        workspace: &'w Workspace,
        state: &Path,
        architecture: &str,
    ) -> Result<Apt<'w>> {
        let options =
            vec![format!("APT::Architecture={architecture}"), format!("APT::Architectures={architecture}")];
        Apt::new(workspace, state, options)
    }

    /// For packages of the release `suite`, from where the system has its own.
    pub(super) fn for_suite(workspace: &'w Workspace, state: &Path, suite: &str) -> Result<Apt<'w>> {
        let format = "$(REPO_URI) $(LABEL) $(COMPONENT)";
        let indexes = workspace.shell.cmd("apt-get").args(["indextargets", "--format", format]);
        let indexes = indexes.arg("Created-By: Packages").quiet().read()?;
        let address = indexes.lines().find_map(|line| line.strip_suffix(" Debian main"));
        let address = address.ok_or_else(|| Error::new("apt has no source of Debian"))?;
        let sources = state.join("sources.list");
        workspace.shell.create_dir(state)?;
        workspace
            .shell
            .write_file(&sources, format!("deb [signed-by={KEYRING}] {address} {suite} main\n"))?;
        let options = vec![
            format!("Dir::Etc::sourcelist={}", sources.display()),
            "Dir::Etc::sourceparts=-".to_string(),
        ];
        Apt::new(workspace, state, options)
    }

    /// For packages of the system's own release, of which `state` has the files.
    pub(super) fn for_system(workspace: &'w Workspace, state: &Path) -> Result<Apt<'w>> {
        workspace.shell.create_dir(state.join("packages"))?;
        let options = vec!["APT::Sandbox::User=root".to_string()];
        Ok(Apt { workspace, state: state.to_path_buf(), options })
    }

    fn new(workspace: &'w Workspace, state: &Path, mut options: Vec<String>) -> Result<Apt<'w>> {
        for dir in ["lists/partial", "cache/archives/partial", "packages"] {
            workspace.shell.create_dir(state.join(dir))?;
        }
        workspace.shell.write_file(state.join("status"), "")?;
        options.push("APT::Sandbox::User=root".to_string());
        options.push(format!("Dir::State::lists={}", state.join("lists").display()));
        options.push(format!("Dir::State::status={}", state.join("status").display()));
        options.push(format!("Dir::Cache={}", state.join("cache").display()));
        let apt = Apt { workspace, state: state.to_path_buf(), options };
        apt.command(&["--quiet", "update"]).ignore_stdout().run()?;
        Ok(apt)
    }

    /// Downloads one package.
    pub(super) fn download(&self, package: &str) -> Result<()> {
        let _in = self.workspace.shell.push_dir(self.state.join("packages"));
        Ok(self.command(&["download", package]).ignore_stdout().run()?)
    }

    /// Downloads packages with all that they depend on.
    pub(super) fn download_all(&self, packages: &[String]) -> Result<()> {
        let archives = format!("Dir::Cache::archives={}", self.state.join("packages").display());
        self.workspace.shell.create_dir(self.state.join("packages/partial"))?;
        let command = self.command(&["install", "--download-only", "--yes", "--no-install-recommends"]);
        Ok(command.args(["-o", &archives]).args(packages).ignore_stdout().run()?)
    }

    /// Unpacks all that was downloaded into `root`.
    pub(super) fn unpack(&self, root: &Path) -> Result<()> {
        let shell = &self.workspace.shell;
        for package in shell.read_dir(self.state.join("packages"))? {
            if package.extension().is_some_and(|extension| extension == "deb") {
                shell.cmd("dpkg-deb").arg("-x").arg(package).arg(root).quiet().run()?;
            }
        }
        Ok(())
    }

    fn command(&self, args: &[&str]) -> xshell::Cmd<'_> {
        let mut command = self.workspace.shell.cmd("apt-get");
        for option in &self.options {
            command = command.arg("-o").arg(option);
        }
        command.args(args).quiet()
    }
}
