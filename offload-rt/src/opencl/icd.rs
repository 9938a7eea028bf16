//! Diagnosis of ICD registrations: files NAME.icd whose library is missing.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::variable;

/// Where loaders look unless OCL_ICD_VENDORS names another folder, or a file
/// (<https://github.com/OCL-dev/ocl-icd>).
const VENDORS: &str = "/etc/OpenCL/vendors";

/// The registrations that the loader looks at.
pub(super) fn vendors() -> PathBuf {
    std::env::var_os(variable::OCL_ICD_VENDORS).map_or_else(|| PathBuf::from(VENDORS), PathBuf::from)
}

/// For each file NAME.icd at `vendors` whose library is not there, both files in a sentence. A library without a folder is
/// for the system's loader to find, which says nothing of it.
pub(super) fn without_library(vendors: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> = match fs::read_dir(vendors) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => vec![vendors.to_path_buf()],
    };
    files.retain(|file| file.extension().is_some_and(|extension| extension == "icd"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let library = text.lines().next().unwrap_or_default().trim();
        if Path::new(library).is_absolute() && !Path::new(library).exists() {
            found.push(format!("`{}` names the library `{library}`, which is not there", file.display()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_without_its_library_is_named_with_it() {
        let directory = std::env::temp_dir().join(format!("offload-rt-icd-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let gone = directory.join("libgone.so");
        fs::write(directory.join("gone.icd"), format!("{}\n", gone.display())).unwrap();
        fs::write(directory.join("by-name.icd"), "libpocl.so.2\n").unwrap();
        fs::write(directory.join("there.icd"), format!("{}\n", directory.join("by-name.icd").display()))
            .unwrap();
        fs::write(directory.join("gone.txt"), "/nonexistent/other.so\n").unwrap();
        let found = without_library(&directory);
        let alone = without_library(&directory.join("gone.icd"));
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("gone.icd") && found[0].contains(gone.to_str().unwrap()), "{found:?}");
        assert_eq!(found, alone);
    }
}
