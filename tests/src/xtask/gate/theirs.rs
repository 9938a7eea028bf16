//! Targets in the libraries of a wheel as cuobjdump and llvm-objdump list them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::read::pe::PeFile64;
use object::{Object, ObjectSection};

use super::Counts;
use offload_tests::error::Result;

/// The tools that judge.
pub(super) struct Judges {
    pub(super) cuobjdump: PathBuf,
    pub(super) objdump: PathBuf,
}

/// Output of the tools.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) counts: Counts,
    /// Libraries at which a tool has stopped: there are more images than it lists.
    pub(super) unfinished: BTreeSet<String>,
}

/// How llvm-objdump names the images of HIP.
const HIP: &str = "hipv4-amdgcn-amd-amdhsa--";

impl Judges {
    /// What is in all libraries below `folder`, which are named from there.
    pub(super) fn list(&self, folder: &Path) -> Result<Listed> {
        let mut listed = Listed::default();
        for library in libraries(folder)? {
            let name = library.strip_prefix(folder).unwrap_or(&library).display().to_string();
            // It reads no PE files on Linux, and takes fatbins as they are.
            let fatbins = tempfile::NamedTempFile::new()?;
            let is_pe = is_windows(&library);
            if is_pe && !copy_fatbins(&library, fatbins.path())? {
                continue;
            }
            let read = if is_pe { fatbins.path() } else { library.as_path() };
            let cuda = Command::new(&self.cuobjdump).args(["--list-elf", "--list-ptx"]).arg(read).output()?;
            if String::from_utf8_lossy(&cuda.stderr).contains("fatal") {
                listed.unfinished.insert(name.clone());
            }
            let cuda = String::from_utf8_lossy(&cuda.stdout).into_owned();
            for target in cuda.lines().filter_map(of_cuobjdump).chain(self.hip(&library)?) {
                *listed.counts.entry((name.clone(), target)).or_default() += 1;
            }
        }
        Ok(listed)
    }

    /// The target of each image of HIP.
    fn hip(&self, library: &Path) -> Result<Vec<String>> {
        // It writes each image beside the library.
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("library");
        std::os::unix::fs::symlink(library, &copy)?;
        let output = Command::new(&self.objdump).arg("--offloading").arg(&copy).output()?;
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(output.lines().filter_map(of_objdump).collect())
    }
}

/// `ELF file    1: lib.1.sm_60.cubin`, `PTX file    1: lib.1.sm_60.ptx`.
fn of_cuobjdump(line: &str) -> Option<String> {
    let (kind, file) = line.split_once(" file ")?;
    let family = match kind {
        "ELF" => "cubin",
        "PTX" => "nvptx",
        _ => return None,
    };
    let arch = file.split('.').rev().find(|part| part.starts_with("sm_"))?;
    Some(format!("{family}:{arch}"))
}

/// `Extracting offload bundle: library.0.hipv4-amdgcn-amd-amdhsa--gfx90a`, with `:xnack+` where it has modes.
fn of_objdump(line: &str) -> Option<String> {
    let (_, arch) = line.strip_prefix("Extracting offload bundle: ")?.split_once(HIP)?;
    Some(format!("amdgcn:{arch}"))
}

/// Whether a file is a DLL, by its name.
fn is_windows(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "dll" || ending == "pyd")
}

/// Copies the sections in which nvcc puts fatbins for Windows, the second of relocatable code; whether there is one.
fn copy_fatbins(library: &Path, to: &Path) -> Result<bool> {
    let bytes = std::fs::read(library)?;
    let Ok(file) = PeFile64::parse(bytes.as_slice()) else { return Ok(false) };
    let mut fatbins = Vec::new();
    for section in [".nv_fatb", "__nv_rel"].iter().filter_map(|name| file.section_by_name(name)) {
        fatbins.extend_from_slice(section.data().unwrap_or_default());
    }
    std::fs::write(to, &fatbins)?;
    Ok(!fatbins.is_empty())
}

fn libraries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            found.extend(libraries(&path)?);
        } else if path.to_string_lossy().contains(".so") || is_windows(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_targets() {
        assert_eq!(of_cuobjdump("ELF file    1: lib.1.sm_90a.cubin").as_deref(), Some("cubin:sm_90a"));
        assert_eq!(of_cuobjdump("PTX file   12: lib.so.12.sm_75.ptx").as_deref(), Some("nvptx:sm_75"));
        assert_eq!(of_cuobjdump("cuobjdump info    : No PTX file found"), None);
        let line = "Extracting offload bundle: library.0.hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+";
        assert_eq!(of_objdump(line).as_deref(), Some("amdgcn:gfx90a:xnack+"));
    }
}
