//! This program, to run other tasks with.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

/// A second name of this program's file. Under the first one cargo puts the next build of it, which a test of all
/// packages may need: then that of this program is gone.
pub(crate) struct Itself {
    file: PathBuf,
    root: PathBuf,
}

impl Itself {
    pub(crate) fn new(workspace: &Workspace) -> Result<Itself> {
        let dir = workspace.shell.create_dir(workspace.target_dir.join("tasks"))?;
        let file = dir.join(format!("xtask-{}", std::process::id()));
        workspace.shell.remove_path(&file)?;
        fs::hard_link(std::env::current_exe()?, &file)?;
        Ok(Itself { file, root: workspace.root.clone() })
    }

    /// A task with its arguments.
    pub(crate) fn task(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.file);
        command.args(args).current_dir(&self.root);
        command
    }
}

impl Drop for Itself {
    fn drop(&mut self) {
        // A file that stays takes no more room than the program.
        let _ = fs::remove_file(&self.file);
    }
}
