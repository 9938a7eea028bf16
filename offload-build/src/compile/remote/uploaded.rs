//! Compilers in the input root, for workers that have none: those of `toolchain install`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use offload_protocol::remote::{Input, Source};

use crate::compile::Session;
use crate::tool::Tool;

/// Where the folder lies among the inputs.
const TOOLS: &str = "tools";

/// A compiler among the inputs of an action.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Uploaded {
    /// The name of the program.
    pub(super) program: String,
    /// Where it looks for its libraries.
    pub(super) library_directories: Vec<String>,
    /// The program, its libraries, and nothing else of the folder.
    pub(super) inputs: Vec<Input>,
}

impl Session<'_> {
    /// `tool` as inputs; `None` if it is not of the folder.
    pub(super) fn uploaded(&self, tool: &Tool) -> Option<Uploaded> {
        let folder = self.env().toolchain_folder().filter(|folder| tool.path.starts_with(folder))?;
        let files = self.remote()?.tool_files(self.context(), tool)?;
        let directories = self.env().toolchain_libraries(&tool.path);
        uploaded(&folder.canonicalize().ok()?, &tool.path, &directories, &files)
    }
}

fn uploaded(folder: &Path, tool: &Path, directories: &[PathBuf], files: &[PathBuf]) -> Option<Uploaded> {
    // lld is another linker under each name; its libraries are found from where the file lies.
    let program = tool.canonicalize().ok()?;
    let program_name = uploaded_name(&program.with_file_name(tool.file_name()?), folder)?;
    // The worker has the rest: the C library, and what belongs to it.
    let own: BTreeSet<&Path> =
        files.iter().map(PathBuf::as_path).filter(|path| path.starts_with(folder)).collect();
    let named = directories.iter().filter_map(|dir| dir.canonicalize().ok());
    let parents = own.iter().filter_map(|path| path.parent()).map(Path::to_path_buf);
    let searched: BTreeSet<PathBuf> = named.chain(parents).collect();
    // The loader looks for libraries by the names of links.
    let links = searched.iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
    let links = links.map(|entry| entry.path()).filter(|path| path.is_symlink());
    let links = links.filter(|link| link.canonicalize().is_ok_and(|target| own.contains(&*target)));
    let paths = own.iter().map(|path| path.to_path_buf()).chain(links);
    let paths = paths.filter_map(|path| Some((uploaded_name(&path, folder)?, path)));
    let inputs: BTreeMap<String, PathBuf> = paths.chain([(program_name.clone(), program)]).collect();
    Some(Uploaded {
        program: program_name,
        library_directories: searched.iter().filter_map(|dir| uploaded_name(dir, folder)).collect(),
        inputs: inputs
            .into_iter()
            .map(|(path, file)| {
                Some(Input { path, source: Source::File(file.into_os_string().into_string().ok()?) })
            })
            .collect::<Option<_>>()?,
    })
}

fn uploaded_name(path: &Path, folder: &Path) -> Option<String> {
    Some(format!("{TOOLS}/{}", path.strip_prefix(folder).ok()?.to_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_program_travels_with_its_libraries_and_their_names_alone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap();
        let [bin, lib] = ["usr/bin", "usr/lib"].map(|name| folder.join(name));
        for path in [&bin, &lib] {
            fs::create_dir_all(path).unwrap();
        }
        for path in [bin.join("lld"), bin.join("other"), lib.join("libA.so.1.2"), lib.join("libB.so.1")] {
            fs::write(path, "x").unwrap();
        }
        let linked = folder.join("ld.lld-22");
        for (link, target) in [
            (lib.join("libA.so.1"), "libA.so.1.2"),
            (lib.join("libB.so"), "libB.so.1"),
            (linked.clone(), "usr/bin/lld"),
        ] {
            std::os::unix::fs::symlink(target, link).unwrap();
        }
        let files = [bin.join("lld"), lib.join("libA.so.1.2"), "/lib/libc.so.6".into()];
        let found = uploaded(&folder, &linked, std::slice::from_ref(&lib), &files).unwrap();
        assert_eq!(found.program, "tools/usr/bin/ld.lld-22");
        assert_eq!(found.library_directories, ["tools/usr/bin", "tools/usr/lib"]);
        let names: Vec<&str> = found.inputs.iter().map(|input| &*input.path).collect();
        let programs = ["tools/usr/bin/ld.lld-22", "tools/usr/bin/lld"];
        let libraries = ["tools/usr/lib/libA.so.1", "tools/usr/lib/libA.so.1.2"];
        assert_eq!(names, [programs, libraries].concat());
        assert_eq!(uploaded(&folder, Path::new("/usr/bin/clang"), &[], &files), None);
    }
}
