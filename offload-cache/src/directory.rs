//! The cache directory of a release. Only its owner may write to it: an entry decides which image a program carries.

use std::path::Path;

use crate::error::{Error, Result};
use crate::files;

/// When the cache was last swept: the time of this file.
pub(crate) const STAMP: &str = "swept";
/// Tells programs that make backups to leave the directory out (<https://bford.info/cachedir/>), and a later release
/// that it may remove it.
pub(crate) const TAG: &str = "CACHEDIR.TAG";
/// What that file has in it.
pub(crate) const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
    # This directory holds compiled GPU kernels of the crate offload-build. It can be deleted at any time.\n";

/// Creates the directory `dir`, or opens an existing one if no other user could have written to it.
///
/// # Errors
/// If it cannot be written, belongs to another user, or others may write to it.
pub(crate) fn open(dir: &Path) -> Result<()> {
    if let Some(parent) = dir.parent() {
        files::create_dir_all(parent)?;
    }
    let is_new = make(dir)?;
    // A directory that exists but cannot be written (another user's, read-only) is found out here. That also sets its
    // time, which says when this release was last used.
    let probe = offload_files::Unfinished::new(dir).map_err(|error| Error::io("write to", dir, error))?;
    check(dir, probe.path())?;
    if is_new {
        // There is nothing to evict yet.
        files::publish(&dir.join(STAMP), |_| Ok(()))?;
    }
    let tag = dir.join(TAG);
    if tag.exists() { Ok(()) } else { files::publish(&tag, |out| out.write_all(TAG_TEXT.as_bytes())) }
}

/// Whether the directory is new.
#[cfg(unix)]
fn make(dir: &Path) -> Result<bool> {
    use std::os::unix::fs::DirBuilderExt;
    match std::fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(_) if dir.is_dir() => Ok(false),
        made => made.map(|()| true).map_err(|error| Error::io("create directory", dir, error)),
    }
}

/// Compares the owner of `dir` with that of `probe`, which this process has just made there: the standard library does
/// not tell who a process is.
#[cfg(unix)]
fn check(dir: &Path, probe: &Path) -> Result<()> {
    use std::fs::{Permissions, set_permissions, symlink_metadata};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let there = std::fs::metadata(dir).map_err(|error| Error::io("inspect", dir, error))?;
    let user = symlink_metadata(probe).map_err(|error| Error::io("inspect", probe, error))?.uid();
    if let Some(reason) = reason_to_distrust(Access { owner: there.uid(), user, mode: there.mode() }) {
        let message = format!("the compile cache `{}` is not used: {reason}", dir.display());
        return Err(Error::untrusted(
            message,
            "remove it, or set OFFLOAD_CACHE_DIR to a directory of your own",
        ));
    }
    set_permissions(dir, Permissions::from_mode(0o700))
        .map_err(|error| Error::io("restrict access to", dir, error))
}

/// Who may do what with a directory.
#[cfg(unix)]
struct Access {
    owner: u32,
    /// Who asks.
    user: u32,
    mode: u32,
}

/// Why files in the directory may be another's. git and ssh have the same rule.
#[cfg(unix)]
fn reason_to_distrust(access: Access) -> Option<&'static str> {
    if access.owner != access.user {
        return Some("it belongs to another user");
    }
    (access.mode & 0o022 != 0).then_some("other users may write to it")
}

#[cfg(not(unix))]
fn make(dir: &Path) -> Result<bool> {
    let is_new = !dir.exists();
    files::create_dir_all(dir).map(|()| is_new)
}

/// The directories of a user's profile are that user's own.
#[cfg(not(unix))]
fn check(_: &Path, _: &Path) -> Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_owner_alone_may_write() {
        for mode in [0o40700, 0o40755, 0o41700] {
            assert_eq!(reason_to_distrust(Access { owner: 1000, user: 1000, mode }), None, "{mode:o}");
        }
        for (owner, mode) in
            [(0, 0o40755), (1001, 0o40700), (1000, 0o40770), (1000, 0o40757), (1000, 0o41777)]
        {
            assert!(reason_to_distrust(Access { owner, user: 1000, mode }).is_some(), "{owner} {mode:o}");
        }
    }

    #[test]
    fn a_directory_that_others_may_write_to_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("a/cache");
        open(&dir).unwrap();
        assert_eq!(metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&dir).unwrap() {
            files.push(entry.unwrap().path());
        }
        files.sort();
        assert_eq!(files, [dir.join(TAG), dir.join(STAMP)]);
        set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        open(&dir).unwrap();
        assert_eq!(metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
        set_permissions(&dir, Permissions::from_mode(0o777)).unwrap();
        let error = open(&dir).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Untrusted);
        assert!(error.to_string().contains("other users may write to it"), "{error}");
    }
}
