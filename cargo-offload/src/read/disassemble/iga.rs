//! Intel's library IGA, under the name by which ocloc opens it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// File name that ocloc opens. Runtime packages have it with a version suffix, and only development packages without.
const NAME: &str = "libiga64.so";

/// Puts the library that is installed beside `ocloc` into `directory`, with the name that it is opened by. Without one
/// the directory stays empty: ocloc looks in the usual places too.
///
/// # Errors
/// The library cannot be read, or the directory not be written.
pub(super) fn provide(ocloc: &Path, directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    match installed(ocloc) {
        Some(library) => fs::copy(library, directory.join(NAME)).map(|_| ()),
        None => Ok(()),
    }
}

/// The library of the prefix that `ocloc` is installed in, as `/usr`.
fn installed(ocloc: &Path) -> Option<PathBuf> {
    let lib = ocloc.parent()?.parent()?.join("lib");
    // Debian has a directory for each architecture.
    let directories = list(&lib).into_iter().filter(|path| path.to_string_lossy().ends_with("-linux-gnu"));
    let libraries =
        directories.chain([lib.clone(), lib.with_file_name("lib64")]).flat_map(|path| list(&path));
    libraries
        .filter(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(NAME))
        })
        .max()
}

fn list(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_with_a_version_gets_the_plain_name() {
        let dir = tempfile::tempdir().unwrap();
        let ocloc = dir.path().join("usr/bin/ocloc");
        let libraries = dir.path().join("link");
        provide(&ocloc, &libraries).unwrap();
        assert_eq!(fs::read_dir(&libraries).unwrap().count(), 0);
        let lib = dir.path().join("usr/lib/x86_64-linux-gnu");
        fs::create_dir_all(&lib).unwrap();
        for (name, text) in [("libiga64.so.1", "1"), ("libiga64.so.1.0.1", "1.0.1"), ("libigc.so.1", "other")]
        {
            fs::write(lib.join(name), text).unwrap();
        }
        provide(&ocloc, &libraries).unwrap();
        assert_eq!(fs::read_to_string(libraries.join("libiga64.so")).unwrap(), "1.0.1");
    }
}
