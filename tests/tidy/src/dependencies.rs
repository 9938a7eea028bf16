//! How many packages are linked with a crate, and how many cargo compiles for it, with default features, on this machine's kind of system.

use std::collections::BTreeSet;

use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

/// Packages beside the crate itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Named in its own manifest.
    pub direct: usize,
    /// Those whose code is in a program that has the crate.
    pub linked: usize,
    /// All that are compiled: with what build scripts and macros are made of.
    pub total: usize,
}

/// Those of the crate `name`.
///
/// # Errors
/// If `cargo tree` fails.
pub fn of_crate(workspace: &Workspace, name: &str) -> Result<Dependencies> {
    let count = |how: [&str; 2]| count(workspace, name, &how);
    Ok(Dependencies {
        direct: count(["--edges=normal,build", "--depth=1"])?,
        linked: count(["--edges=normal,no-proc-macro", "--depth=255"])?,
        total: count(["--edges=normal,build", "--depth=255"])?,
    })
}

fn count(workspace: &Workspace, name: &str, how: &[&str]) -> Result<usize> {
    let cargo = workspace.cargo().args(["tree", "--offline", "--package", name]).args(how);
    let cargo = cargo.args(["--prefix", "none", "--no-dedupe", "--format", "{p}"]);
    let text = cargo.quiet().read()?;
    let packages: BTreeSet<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    Ok(packages.len().saturating_sub(1))
}
