//! Directories that only this user can write to, because processes of the user execute their content.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::error::{Error, IoContext, Result};

/// Makes the directory `path` for this user alone, of mode 0700 whatever the umask is.
///
/// # Errors
/// It is there already, or cannot be made.
pub(crate) fn create(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    restrict(&mut builder);
    builder.create(path)
}

/// Makes a directory in `parent` for this user alone, which goes when the result is dropped.
///
/// # Errors
/// It cannot be made.
pub(crate) fn temporary(prefix: &str, parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    builder.permissions(<std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o700));
    builder.tempdir_in(parent)
}

/// Makes the directory `path`, or takes the one that is there if no other user could have written into it.
///
/// # Errors
/// It cannot be made, is a link, belongs to another user, or others may write to it.
pub(crate) fn open(path: &Path) -> Result<()> {
    match create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check(path),
        made => made.io_context("create", path),
    }
}

#[cfg(unix)]
fn restrict(builder: &mut DirBuilder) {
    use std::os::unix::fs::DirBuilderExt;
    builder.mode(0o700);
}

#[cfg(unix)]
fn check(path: &Path) -> Result<()> {
    use std::fs::{Permissions, set_permissions, symlink_metadata};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let found = symlink_metadata(path).io_context("inspect", path)?;
    let reason = match (found.is_dir(), found.uid() == rustix::process::geteuid().as_raw()) {
        (false, _) => "it is not a directory",
        (true, false) => "it belongs to another user",
        (true, true) if found.mode() & 0o022 != 0 => "other users may write to it",
        (true, true) => {
            let restricted = set_permissions(path, Permissions::from_mode(0o700));
            return restricted.io_context("restrict access to", path);
        }
    };
    let error = Error::check(format!("`{}` is not used: {reason}", path.display()));
    Err(error.hint("remove it; it is recreated for this user alone"))
}

/// Elsewhere a directory has the rights of the one that it is in.
#[cfg(not(unix))]
fn restrict(_: &mut DirBuilder) {}

#[cfg(not(unix))]
fn check(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::path::PathBuf;

    use super::*;

    fn mode(path: &Path) -> u32 {
        metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_directory_is_for_this_user_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("own");
        open(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        // As an earlier release has made it, where others may read.
        set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        open(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
    }

    fn check_refused(parent: &Path, name: &str, change: &dyn Fn(&PathBuf)) {
        let path = parent.join(name);
        create(&path).unwrap();
        change(&path);
        let error = open(&path).unwrap_err();
        assert!(error.hint_text().is_some(), "{name}: {error}");
    }

    #[test]
    fn a_directory_of_others_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path();
        check_refused(parent, "group", &|path| set_permissions(path, Permissions::from_mode(0o770)).unwrap());
        check_refused(parent, "all", &|path| set_permissions(path, Permissions::from_mode(0o707)).unwrap());
        check_refused(parent, "sticky", &|path| {
            set_permissions(path, Permissions::from_mode(0o1777)).unwrap()
        });
        check_refused(parent, "link", &|path| {
            std::fs::remove_dir(path).unwrap();
            symlink(parent, path).unwrap();
        });
        if rustix::process::geteuid().is_root() {
            check_refused(parent, "another", &|path| chown(path, Some(12345), None).unwrap());
        }
    }
}
