//! The folder with newer images, whose code this process executes: it is trusted if this user alone writes there.

use std::path::Path;

use crate::text::escape;

/// Compares the folder's owner and mode with what `cargo offload dev` gives it.
///
/// # Errors
/// It cannot be inspected, belongs to another user, or others may write to it.
#[cfg(unix)]
pub(super) fn check(folder: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;

    // The folder itself, and never what a link refers to.
    let found = std::fs::symlink_metadata(folder).map_err(|error| refused(folder, &error.to_string()))?;
    // SAFETY: it takes nothing and always succeeds.
    let user = unsafe { libc::geteuid() };
    match (found.is_dir(), found.uid() == user) {
        (false, _) => Err(refused(folder, "it is not a directory")),
        (true, false) => Err(refused(folder, "it belongs to another user")),
        (true, true) if found.mode() & 0o022 != 0 => Err(refused(folder, "other users may write to it")),
        (true, true) => Ok(()),
    }
}

/// The directories of a user's profile are that user's own.
#[cfg(not(unix))]
pub(super) fn check(folder: &Path) -> Result<(), String> {
    if folder.is_dir() { Ok(()) } else { Err(refused(folder, "it is not a directory")) }
}

fn refused(folder: &Path, reason: &str) -> String {
    format!("no kernels are taken from `{}`: {reason}", escape(&folder.display().to_string()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    #[test]
    fn this_user_alone_may_write() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("packs");
        create_dir(&folder).unwrap();
        for (mode, is_trusted) in
            [(0o700, true), (0o755, true), (0o770, false), (0o702, false), (0o1777, false), (0o777, false)]
        {
            set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            assert_eq!(check(&folder).is_ok(), is_trusted, "{mode:o}");
        }
        set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        let link = parent.path().join("link");
        symlink(&folder, &link).unwrap();
        assert!(check(&link).is_err() && check(&parent.path().join("missing")).is_err());
        // Root alone can give a folder away.
        if chown(&folder, Some(12345), None).is_ok() {
            assert!(check(&folder).is_err());
        }
    }
}
