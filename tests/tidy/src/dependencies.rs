//! How many packages cargo compiles for a crate, with default features, on this machine's kind of system.

use std::collections::BTreeSet;

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

/// Packages beside the crate itself; build scripts' count too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Named in its own manifest.
    pub direct: usize,
    /// All of them.
    pub total: usize,
}

/// Those of the crate `name`.
///
/// # Errors
/// If `cargo tree` fails.
pub fn of_crate(workspace: &Workspace, name: &str) -> Result<Dependencies> {
    Ok(Dependencies { direct: count(workspace, name, "1")?, total: count(workspace, name, "255")? })
}

fn count(workspace: &Workspace, name: &str, depth: &str) -> Result<usize> {
    let cargo = workspace.cargo().args(["tree", "--offline", "--package", name, "--depth", depth]);
    let cargo = cargo.args(["--edges", "normal,build", "--prefix", "none", "--no-dedupe", "--format", "{p}"]);
    let text = cargo.quiet().read()?;
    let packages: BTreeSet<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    Ok(packages.len().saturating_sub(1))
}
