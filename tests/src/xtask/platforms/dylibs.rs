//! Images of `host` for macOS, in a linked program: nothing here loads them, and LLVM's tools read
//! them.

use std::path::Path;

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

use super::changed::Changes;

/// The only library that an image may need.
const SYSTEM: &str = "/usr/lib/libSystem.B.dylib";

/// How many the program has.
pub(super) fn check(workspace: &Workspace, program: &Path, changes: &Changes<'_>) -> Result<String> {
    let extracted = changes.with_name("dylibs")?;
    changes.offload(&["extract", "--for", "host", "-o"], &[&extracted, program])?;
    let libraries = workspace.shell.read_dir(&extracted)?;
    for library in &libraries {
        check_library(workspace, library)?;
    }
    Ok(format!("{} dylibs read", libraries.len()))
}

fn check_library(workspace: &Workspace, library: &Path) -> Result<()> {
    let shell = &workspace.shell;
    let symbols = shell.cmd("llvm-nm-22").args(["--extern-only", "--defined-only"]).arg(library);
    let symbols = symbols.quiet().read()?;
    let used = shell.cmd("llvm-objdump-22").args(["--macho", "--dylibs-used"]).arg(library).quiet().read()?;
    // Behind the file and its own name.
    let needs_more = used.lines().skip(2).any(|line| !line.trim_start().starts_with(SYSTEM));
    if symbols.contains("___offload_run_") && used.contains(SYSTEM) && !needs_more {
        return Ok(());
    }
    Err(Error::new(format!("`{}`:\n{symbols}\n{used}", library.display())))
}
