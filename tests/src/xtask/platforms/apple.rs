//! An SDK for programs of macOS, which lld links without Apple's: text files in place of the system's libraries.
//!
//! They export no function that programs call. With `-undefined dynamic_lookup` the loader looks each up in all libraries.

use std::path::PathBuf;

use offload_tests::MACOS_LIBRARY;
use offload_tests::error::Result;
use offload_tests::workspace::Workspace;

use super::folder::Folder;

/// Flags for rustc.
pub(super) const RUSTFLAGS: [&str; 3] =
    ["-Clinker=rust-lld", "-Clink-arg=-undefined", "-Clink-arg=dynamic_lookup"];

/// The names under which the standard library and the crate `libc` link the system's library.
const LIBRARIES: [&str; 4] = ["System", "c", "iconv", "m"];
pub(super) fn make_libraries(workspace: &Workspace, folder: &Folder<'_>) -> Result<()> {
    let libraries = workspace.shell.create_dir(sdk(folder).join("usr/lib"))?;
    for name in LIBRARIES {
        workspace.shell.write_file(libraries.join(format!("lib{name}.tbd")), MACOS_LIBRARY)?;
    }
    Ok(())
}

/// The folder of the SDK.
pub(super) fn sdk(folder: &Folder<'_>) -> PathBuf {
    folder.path("apple")
}
