//! Images of `host` for macOS, in the packs that a checked program includes: nothing here loads them, and LLVM's tools read
//! them.

use std::path::{Path, PathBuf};

use offload_tests::error::{Error, Result};
use offload_tests::workspace::Workspace;

use super::changed::Changes;
use super::folder::Folder;
use super::platform::Platform;

/// The only library that an image may need.
const SYSTEM: &str = "/usr/lib/libSystem.B.dylib";

/// How many there are.
pub(super) fn check(
    workspace: &Workspace,
    folder: &Folder<'_>,
    platform: &Platform,
    changes: &Changes<'_>,
) -> Result<String> {
    let mut read = 0u64;
    for pack in packs(workspace, &folder.built(platform, "build"))? {
        let extracted = changes.with_name("dylibs")?;
        changes.offload(&["verify"], &[&pack])?;
        changes.offload(&["extract", "--for", "host", "-o"], &[&extracted, &pack])?;
        for library in workspace.shell.read_dir(&extracted)? {
            check_library(workspace, &library)?;
            read = read.saturating_add(1);
        }
    }
    match read {
        0 => Err(Error::new("no pack has an image for `host`")),
        read => Ok(format!("{read} dylibs read")),
    }
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

/// The packs in the folders of build scripts.
fn packs(workspace: &Workspace, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut packs = Vec::new();
    for script in workspace.shell.read_dir(folder)? {
        let out = script.join("out");
        if !out.is_dir() {
            continue;
        }
        let files = workspace.shell.read_dir(out)?;
        packs
            .extend(files.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "pack")));
    }
    Ok(packs)
}
