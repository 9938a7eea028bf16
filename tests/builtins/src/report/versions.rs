//! Which tools and libraries made the images.

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
    for (tool, arg) in [("ocloc", "query"), ("spirv-val", "--version")] {
        let cmd = workspace.shell.cmd(tool).arg(arg);
        let cmd = if arg == "query" { cmd.arg("OCL_DRIVER_VERSION") } else { cmd };
        let text = cmd.quiet().ignore_stderr().ignore_status().read().unwrap_or_default();
        if let Some(version) = text.lines().next() {
            lines.push(format!("- {tool}: {}", version.trim()));
        }
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
