//! Programs that a test writes and then runs.
//!
//! Another process writes them. A child that any thread starts has this process's open files until it becomes another
//! program, and a file that a process has open for writing cannot be run: "Text file busy".

use std::fs;
use std::path::Path;
use std::process::Command;

/// A copy that can be run; replaces what is there.
pub fn copy(from: &Path, to: &Path) {
    let status = Command::new("install").args(["-m", "755"]).args([from, to]).status().unwrap();
    assert!(status.success(), "cannot copy {} to {}", from.display(), to.display());
}

/// A program of these bytes; replaces what is there.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    let draft = tempfile::NamedTempFile::new().unwrap();
    fs::write(&draft, bytes).unwrap();
    copy(draft.path(), path);
}
