//! The checkout that the tasks work on, and how they start cargo in it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;

use xshell::{Cmd, Shell};

use crate::error::{Error, Result};

/// Variables in which cargo names a package to the programs that it starts. A cargo that such a program starts goes
/// without: build scripts of dependencies watch some of them (`ring`'s does), and would run again for another package, with
/// all that depends on them.
pub const PACKAGE_VARS: [&str; 9] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_LINKS",
    "CARGO_MANIFEST_PATH",
    "CARGO_PKG_NAME",
    "CARGO_PKG_VERSION",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_MINOR",
    "CARGO_PKG_VERSION_PATCH",
    "CARGO_PKG_VERSION_PRE",
];

/// The checkout.
#[derive(Debug)]
pub struct Workspace {
    /// Runs commands in the root of the checkout.
    pub shell: Shell,
    /// The root of the checkout.
    pub root: PathBuf,
    /// Cargo's target directory, wherever the user's configuration puts it.
    pub target_dir: PathBuf,
    cargo: PathBuf,
}

impl Workspace {
    /// The checkout that this program was built in.
    ///
    /// # Errors
    /// If cargo cannot say where its target directory is.
    pub fn find() -> Result<Workspace> {
        let shell = Shell::new()?;
        let root = crate::workspace_root();
        shell.change_dir(&root);
        let cargo = shell.var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
        let metadata =
            shell.cmd(&cargo).args(["metadata", "--no-deps", "--format-version=1"]).quiet().read()?;
        let target_dir = target_dir(&metadata)?;
        Ok(Workspace { shell, root, target_dir, cargo })
    }

    /// A cargo command in the root of the checkout, without [`PACKAGE_VARS`].
    pub fn cargo(&self) -> Cmd<'_> {
        PACKAGE_VARS.iter().fold(self.shell.cmd(&self.cargo), |cargo, name| cargo.env_remove(name))
    }

    /// The cargo that runs this task.
    pub fn cargo_path(&self) -> &Path {
        &self.cargo
    }

    /// Whether the tasks may use the system's package manager and mounts.
    pub fn is_root(&self) -> bool {
        self.shell.cmd("id").arg("-u").quiet().read().is_ok_and(|uid| uid.trim() == "0")
    }

    /// The file of a program in `PATH`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.shell.var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
    }
}

fn target_dir(metadata: &str) -> Result<PathBuf> {
    let metadata: Option<serde_json::Value> = serde_json::from_str(metadata).ok();
    let dir = metadata.as_ref().and_then(|value| value.get("target_directory")?.as_str());
    dir.map(PathBuf::from).ok_or_else(|| Error::new("`cargo metadata` names no target directory"))
}

/// What a program of the workspace does with its arguments.
pub type Run = fn(&Workspace, &[String]) -> Result<ExitCode>;

/// The whole of a program's `main`: its work, with the arguments, in the checkout.
pub fn run_task(run: Run) -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    Workspace::find().and_then(|workspace| run(&workspace, &args)).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

/// Shows the command, runs it with this terminal, and tells how it ended.
pub fn run_through(cmd: Cmd<'_>) -> Result<ExitStatus> {
    eprintln!("$ {cmd}");
    let text = cmd.to_string();
    let status = Command::from(cmd).status();
    status.map_err(|error| Error::new(format!("`{text}` did not start: {error}")))
}

/// The exit code to pass on; a command that a signal ended counts as failed.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    match status.code() {
        Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        None => ExitCode::FAILURE,
    }
}

/// Seconds with one digit.
pub fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_is_started_for_no_package() {
        let workspace = Workspace::find().unwrap();
        let cargo = Command::from(workspace.cargo());
        let removed: Vec<_> = cargo.get_envs().filter(|(_, value)| value.is_none()).collect();
        // Cargo sets it for this test.
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
        assert!(removed.iter().any(|(name, _)| *name == "CARGO_PKG_NAME"), "{removed:?}");
    }

    #[test]
    fn target_directory_is_read() {
        assert_eq!(target_dir(r#"{"target_directory":"/t"}"#).unwrap(), Path::new("/t"));
        assert!(target_dir("{}").is_err());
        assert!(target_dir("").is_err());
    }
}
