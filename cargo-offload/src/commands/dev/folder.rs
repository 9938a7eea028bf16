//! Exchange directory of `dev` and the program: newer kernels in one direction, the versions in use in the other.
//!
//! The program executes the packs in this directory, so that only this user may write to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use offload_format::pack::{IN_USE, parse_in_use};
use tempfile::TempDir;

use crate::error::{IoContext, Result};
use crate::files::private;

/// The targets of which a program uses images, by package and version.
pub(super) type InUse = BTreeMap<(String, String), BTreeSet<String>>;

/// The folder, which goes when this is dropped, or when the next one is made after this process was ended.
#[derive(Debug)]
pub(super) struct Folder {
    own: TempDir,
    packs: PathBuf,
}

const ALL: &str = "offload-dev";

impl Folder {
    pub(super) fn new(target_directory: &Path) -> Result<Folder> {
        let all = target_directory.join(ALL);
        fs::create_dir_all(target_directory).io_context("create a directory in", &all)?;
        private::open(&all)?;
        remove_leftovers(&all);
        let prefix = format!("{}-", std::process::id());
        let own = private::temporary(&prefix, &all).io_context("create a directory in", &all)?;
        let packs = own.path().join("packs");
        private::create(&packs).io_context("create a directory in", &all)?;
        Ok(Folder { own, packs })
    }

    /// The directory that the program watches.
    pub(super) fn packs(&self) -> &Path {
        &self.packs
    }

    /// A directory for a build script's own files.
    pub(super) fn scratch(&self, number: usize) -> Result<PathBuf> {
        let path = self.own.path().join(format!("out-{number}"));
        private::create(&path).io_context("create", &path)?;
        Ok(path)
    }

    /// The images in use, as far as the program has reported them.
    pub(super) fn in_use(&self) -> InUse {
        let text = fs::read_to_string(self.packs.join(IN_USE)).unwrap_or_default();
        let mut in_use = InUse::new();
        for [package, version, target] in text.split_inclusive('\n').filter_map(parse_in_use) {
            let targets = in_use.entry((package.to_string(), version.to_string())).or_default();
            targets.insert(target.to_string());
        }
        in_use
    }
}

/// Removes what processes have left that were ended from outside, as by Ctrl-C.
fn remove_leftovers(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().filter_map(std::result::Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.split('-').next().and_then(|number| number.parse::<u32>().ok());
        if process.is_some_and(is_gone) {
            // It is only waste.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(target_os = "linux")]
fn is_gone(process: u32) -> bool {
    !Path::new("/proc").join(process.to_string()).exists()
}

#[cfg(not(target_os = "linux"))]
fn is_gone(_: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn no_other_user_may_write_into_a_folder() {
        use std::fs::Permissions;
        use std::os::unix::fs::PermissionsExt;

        let target = tempfile::tempdir().unwrap();
        let folder = Folder::new(target.path()).unwrap();
        let all = target.path().join(ALL);
        for path in [&all, folder.own.path(), folder.packs(), &folder.scratch(0).unwrap()] {
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{}", path.display());
        }
        fs::set_permissions(&all, Permissions::from_mode(0o777)).unwrap();
        assert!(Folder::new(target.path()).is_err());
    }

    #[test]
    fn folders_of_ended_processes_go() {
        let target = tempfile::tempdir().unwrap();
        // No process has this number: it is above what Linux gives.
        let left = target.path().join(ALL).join("4194305-abc");
        private::create(left.parent().unwrap()).unwrap();
        fs::create_dir_all(left.join("packs")).unwrap();
        let first = Folder::new(target.path()).unwrap();
        let second = Folder::new(target.path()).unwrap();
        assert!(first.packs().is_dir() && second.packs().is_dir());
        assert_eq!(left.exists(), !cfg!(target_os = "linux"));
        let packs = second.packs().to_path_buf();
        drop(second);
        assert!(!packs.exists());
    }

    #[test]
    fn what_is_in_use_is_told_in_lines() {
        let target = tempfile::tempdir().unwrap();
        let folder = Folder::new(target.path()).unwrap();
        assert!(folder.in_use().is_empty());
        let lines = "a\t1.0.0\thost\na\t1.0.0\tspirv64\na\t1.0.0\thost\nb\t2.0.0\tcubin:sm_90\nb\t2.0.0\tho";
        fs::write(folder.packs().join(IN_USE), lines).unwrap();
        let in_use = folder.in_use();
        for (package, version, expected) in [("a", "1.0.0", "host spirv64"), ("b", "2.0.0", "cubin:sm_90")] {
            let found = &in_use[&(package.to_string(), version.to_string())];
            let targets = found.iter().cloned().collect::<Vec<_>>().join(" ");
            assert_eq!(targets, expected);
        }
    }
}
