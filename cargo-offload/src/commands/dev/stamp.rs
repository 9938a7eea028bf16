//! Change detection by modification times and sizes.
//!
//! Files are polled a few times a second instead of watched: that works in containers and on network file systems
//! too, and the crate `notify` would be eight more to compile.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files, and what they were like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamps(BTreeMap<PathBuf, Stamp>);

/// Of a directory: of the newest file in it, and of all files together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp {
    /// `None` where there is no file.
    modified: Option<SystemTime>,
    size: u64,
}

impl Stamps {
    /// Those of `files` now.
    pub(super) fn new(files: impl IntoIterator<Item = PathBuf>) -> Stamps {
        let stamped = files.into_iter().map(|file| {
            let stamp = Stamp::read(&file);
            (file, stamp)
        });
        Stamps(stamped.collect())
    }

    /// The same, with those of `files` now.
    pub(super) fn with(&self, files: impl IntoIterator<Item = PathBuf>) -> Stamps {
        let mut all = self.clone();
        all.0.extend(Stamps::new(files).0);
        all
    }

    /// Those of the same files now.
    pub(super) fn again(&self) -> Stamps {
        Stamps::new(self.0.keys().cloned())
    }

    /// Whether a file was written after `time`.
    pub(super) fn is_newer_than(&self, time: SystemTime) -> bool {
        self.0.values().any(|stamp| stamp.modified.is_some_and(|modified| modified > time))
    }
}

impl Stamp {
    fn read(path: &Path) -> Stamp {
        let Ok(found) = fs::metadata(path) else { return Stamp::default() };
        let own = Stamp { modified: found.modified().ok(), size: found.len() };
        if !found.is_dir() {
            return own;
        }
        let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        // A link may lead back up.
        let followed = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        followed.map(|entry| Stamp::read(&entry.path())).fold(own, Stamp::and)
    }

    fn and(self, other: Stamp) -> Stamp {
        let modified = self.modified.max(other.modified);
        Stamp { modified, size: self.size.wrapping_add(other.size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_in_files_and_directories() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.cl");
        let inner = dir.path().join("include/deep");
        fs::create_dir_all(&inner).unwrap();
        fs::write(&file, "one").unwrap();
        let first = Stamps::new([file.clone(), dir.path().join("include"), dir.path().join("none")]);
        assert_eq!(first.again(), first);
        fs::write(&file, "other").unwrap();
        let second = first.again();
        assert_ne!(second, first);
        fs::write(inner.join("h.h"), "").unwrap();
        let third = second.again();
        assert_ne!(third, second);
        fs::remove_file(&file).unwrap();
        assert_ne!(third.again(), third);
        assert!(third.is_newer_than(SystemTime::UNIX_EPOCH));
        assert!(!third.is_newer_than(SystemTime::now() + std::time::Duration::from_secs(60)));
    }
}
