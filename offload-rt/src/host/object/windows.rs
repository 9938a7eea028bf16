//! DLLs in temporary files: Windows loads from files alone, and removes none that is loaded.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use libloading::os::windows::LOAD_LIBRARY_SEARCH_SYSTEM32;

use super::temporary_file::{TEMPORARY_PREFIX, TemporaryFile, loader_error};
use crate::error::Problem;

pub(in crate::host) use libloading::os::windows::Library;

/// A shared object that the loader has mapped. Fields are dropped in this order: code before the file that holds it.
pub(in crate::host) struct LoadedObject {
    pub(in crate::host) library: Library,
    pub(in crate::host) kept: Kept,
}

/// What an object needs while it is loaded: its file, which goes after it.
pub(in crate::host) struct Kept {
    _file: TemporaryFile,
}

/// The ending of the files.
const ENDING: &str = "dll";

/// The age from which on a file is taken for one that a killed process left. Loading one takes less than a second, and the
/// system keeps those that are loaded.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// Up to this length `LoadLibraryExW` takes every path.
const MAX_PATH: usize = 259;

/// Loads the DLL `bytes`.
pub(in crate::host) fn open(bytes: &[u8]) -> Result<LoadedObject, Problem> {
    static CLEANUP: Once = Once::new();
    CLEANUP.call_once(|| remove_left_behind(&std::env::temp_dir()));
    Ok(from_temporary(bytes)?)
}

pub(in crate::host) fn from_temporary(bytes: &[u8]) -> Result<LoadedObject, String> {
    let file = TemporaryFile::with_content(bytes, ENDING, OpenOptions::new())?;
    let library = load(file.path())?;
    Ok(LoadedObject { library, kept: Kept { _file: file } })
}

/// What it imports is looked for in the system's folder alone.
fn load(path: &Path) -> Result<Library, String> {
    // Longer paths are taken in their verbatim form.
    let verbatim = (path.as_os_str().len() > MAX_PATH).then(|| path.canonicalize().ok()).flatten();
    let path = verbatim.as_deref().unwrap_or(path);
    // SAFETY: the bytes are an image of this program, verified against its hash; images have no constructors.
    let library = unsafe { Library::load_with_flags(path, LOAD_LIBRARY_SEARCH_SYSTEM32) };
    library.map_err(|error| format!("{}: {}", path.display(), loader_error(&error)))
}

/// Removes what killed processes left in `directory`.
fn remove_left_behind(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.starts_with(TEMPORARY_PREFIX) && name.ends_with(&format!(".{ENDING}"));
        let modified = entry.metadata().ok().filter(|_| is_ours).and_then(|about| about.modified().ok());
        let age = modified.and_then(|modified| modified.elapsed().ok());
        if age.is_some_and(|age| age > LEFT_BEHIND) {
            // That of a process that runs stays.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, exists};
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn old_files_of_killed_processes_go() {
        let folder = tempfile::tempdir().unwrap();
        let long_ago = SystemTime::now() - 2 * LEFT_BEHIND;
        let names = ["offload-host-1-a-0.dll", "offload-host-2-b-0.dll", "other.dll", "offload-host-3.txt"];
        for name in names {
            let file = File::create(folder.path().join(name)).unwrap();
            if name != "offload-host-2-b-0.dll" {
                file.set_modified(long_ago).unwrap();
            }
        }
        remove_left_behind(folder.path());
        let left = names.map(|name| exists(folder.path().join(name)).unwrap());
        assert_eq!(left, [false, true, true, true]);
    }
}
