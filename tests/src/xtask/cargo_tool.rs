//! Subcommands of cargo and other programs of a registry, compiled into the target directory.

use std::path::PathBuf;

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

/// A program that tasks run and no crate depends on.
pub(crate) struct CargoTool {
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
    /// Arguments of `cargo install` beside those that every tool has.
    pub(crate) arguments: &'static [&'static str],
    /// Whether it does so little that compiling it without optimisation takes less time than it then saves.
    pub(crate) is_unoptimized: bool,
}

const UNOPTIMIZED: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
];

impl CargoTool {
    /// This version of the program, if it was compiled before.
    pub(crate) fn installed(&self, workspace: &Workspace) -> Option<PathBuf> {
        let program = self.root(workspace).join("bin").join(self.package);
        program.exists().then_some(program)
    }

    /// The program, compiled unless this version is there.
    pub(crate) fn install(&self, workspace: &Workspace) -> Result<PathBuf> {
        if let Some(program) = self.installed(workspace) {
            return Ok(program);
        }
        let root = self.root(workspace);
        let mut command = workspace.cargo().args(["install", "--locked", self.package, "--version"]);
        command = command.arg(self.version).args(self.arguments).arg("--root").arg(&root);
        if self.is_unoptimized {
            command = command.envs(UNOPTIMIZED);
        }
        command.run()?;
        Ok(root.join("bin").join(self.package))
    }

    fn root(&self, workspace: &Workspace) -> PathBuf {
        workspace.target_dir.join("tools").join(format!("{}-{}", self.package, self.version))
    }
}
