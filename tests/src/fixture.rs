//! Copying a fixture project to where it may be built.

use std::path::Path;

use crate::error::Result;
use crate::workspace::Workspace;

/// Copies `tests/fixtures/NAME` to `to`, with the checkout's path in place of `@ROOT@` and `fixture` in place of
/// `@NAME@`.
pub fn copy(workspace: &Workspace, name: &str, to: &Path) -> Result<()> {
    copy_dir(workspace, &workspace.root.join("tests/fixtures").join(name), to)?;
    // The checkout's own lock file: no version is looked up.
    workspace.shell.copy_file(workspace.root.join("Cargo.lock"), to.join("Cargo.lock"))?;
    Ok(())
}

fn copy_dir(workspace: &Workspace, from: &Path, to: &Path) -> Result<()> {
    workspace.shell.create_dir(to)?;
    for path in workspace.shell.read_dir(from)? {
        let Some(name) = path.file_name() else { continue };
        let target = to.join(name);
        if path.is_dir() {
            copy_dir(workspace, &path, &target)?;
            continue;
        }
        let root = workspace.root.display().to_string();
        let text = workspace.shell.read_file(&path)?.replace("@ROOT@", &root).replace("@NAME@", "fixture");
        // An unchanged file keeps its time, and what was built from it.
        if workspace.shell.read_file(&target).ok().as_deref() != Some(&text) {
            workspace.shell.write_file(&target, text)?;
            std::fs::set_permissions(&target, std::fs::metadata(&path)?.permissions())?;
        }
    }
    Ok(())
}
