//! Directory trees: copies by hard links, and merging.

use std::fs;
use std::path::Path;

use crate::error::{IoContext, Result};
use crate::files::publish::create_dir;

/// Operation on a file that is not a directory.
type EachFile = fn(&Path, &Path) -> std::io::Result<()>;

/// Makes `to` hold the files of `from`, which both have then.
pub(super) fn link(from: &Path, to: &Path) -> Result<()> {
    each(from, to, |from, to| {
        let is_link = fs::symlink_metadata(from)?.is_symlink();
        // A hard link to a symbolic link is not to be had everywhere.
        if is_link { symlink(from, to) } else { fs::hard_link(from, to) }
    })
}

/// Moves the files of `from` into `to`, in place of those of the same name.
pub(super) fn merge(from: &Path, to: &Path) -> Result<()> {
    each(from, to, |from, to| fs::rename(from, to))
}

fn each(from: &Path, to: &Path, act: EachFile) -> Result<()> {
    create_dir(to)?;
    for entry in fs::read_dir(from).io_context("list", from)? {
        let entry = entry.io_context("list", from)?;
        let target = to.join(entry.file_name());
        if entry.file_type().io_context("list", from)?.is_dir() {
            each(&entry.path(), &target, act)?;
        } else {
            act(&entry.path(), &target).io_context("write", &target)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

#[cfg(not(unix))]
fn symlink(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::copy(from, to).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_put_together() {
        let dir = tempfile::tempdir().unwrap();
        for (tree, file) in [("a", "one"), ("b", "two"), ("b", "one")] {
            fs::create_dir_all(dir.path().join(tree).join("sub")).unwrap();
            fs::write(dir.path().join(tree).join("sub").join(file), tree).unwrap();
        }
        link(&dir.path().join("a"), &dir.path().join("c")).unwrap();
        merge(&dir.path().join("b"), &dir.path().join("c")).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("c/sub/one")).unwrap(), "b");
        assert_eq!(fs::read_to_string(dir.path().join("c/sub/two")).unwrap(), "b");
        // The first tree is as it was.
        assert_eq!(fs::read_to_string(dir.path().join("a/sub/one")).unwrap(), "a");
    }
}
