//! Versions of the tools and libraries that produced the images.

use super::super::Column;
use offload_tests::error::Result;
use offload_tests::setup;
use offload_tests::workspace::Workspace;

/// One line for each.
pub(super) fn list(workspace: &Workspace, columns: &[Column]) -> Result<String> {
    let mut lines = Vec::new();
    for tool in ["clang", "llvm-link"] {
        if let Some(path) = setup::llvm(workspace, tool) {
            let text = workspace.shell.cmd(&path).arg("--version").quiet().read()?;
            let version = text.lines().find(|line| line.contains("version")).unwrap_or_default().trim();
            lines.push(format!("- {tool}: {version}"));
        }
    }
    // ocloc writes its answer to a file of this name.
    let dir = tempfile::tempdir()?;
    {
        let _in = workspace.shell.push_dir(dir.path());
        let cmd = workspace.shell.cmd("ocloc").args(["query", "OCL_DRIVER_VERSION"]);
        let _said = cmd.quiet().ignore_stderr().ignore_status().read();
    }
    if let Ok(text) = workspace.shell.read_file(dir.path().join("OCL_DRIVER_VERSION")) {
        // The text ends as in C.
        lines.push(format!("- ocloc: {}", text.trim_end_matches('\0').trim()));
    }
    let cmd = workspace.shell.cmd("spirv-val").arg("--version");
    let text = cmd.quiet().ignore_stderr().ignore_status().read().unwrap_or_default();
    if let Some(version) = text.lines().next() {
        lines.push(format!("- spirv-val: {}", version.trim()));
    }
    for package in ["libpocl2-common", "libclc-22"] {
        let query = workspace.shell.cmd("dpkg-query").args(["-W", "-f=${Version}", package]);
        if let Ok(version) = query.quiet().ignore_stderr().read() {
            lines.push(format!("- {package}: {version}"));
        }
    }
    let devices = columns.iter().flat_map(|column| column.results.iter().map(move |result| (column, result)));
    lines.extend(devices.map(|(column, result)| format!("- `{}` ran on: {}", column.target, result.device)));
    Ok(lines.into_iter().map(|line| line + "\n").collect())
}
