//! Kernels that AMD's tools moved out of a library: its kpack files, one per architecture, form one module of the
//! library.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use offload_containers::carrier::{FileKind, RangeOrigin};
use offload_containers::contents::Image;
use offload_containers::kpack;
use offload_format::Limits;
use offload_format::pack::NewImage;
use offload_images::describe;
use offload_rt::Registry;

use crate::error::{ExitStatus, Result};
use crate::read::input::{Contents, Input};
use crate::read::registry::{self, Detail};
use crate::settings::target_filter::glob;

/// Stands for a target ID in a path.
const ARCHITECTURE: &str = "@GFXARCH@";

/// The kpacks among the files that are judged, and the libraries whose kernels are in kpacks.
#[derive(Default)]
pub(super) struct Kpacks {
    seen: Vec<Kpack>,
    libraries: Vec<Library>,
}

/// A kpack: images by the key of their library.
pub(super) struct Kpack {
    /// The file for people.
    pub(super) name: String,
    images: BTreeMap<String, Vec<NewImage>>,
    /// A library of those that are judged refers to it.
    is_referred: bool,
}

/// A library whose kernels are in kpacks.
struct Library {
    name: String,
    /// Path, unless it is in an archive.
    file: Option<PathBuf>,
    /// Its keys in the kpacks: a wrapper's number behind its name.
    keys: Vec<String>,
    search_paths: Vec<String>,
}

/// Registry of a library, or the error.
pub(super) struct Judgable {
    pub(super) name: String,
    /// Its modules; nothing if a kpack is missing.
    pub(super) registry: std::result::Result<Registry, String>,
}

impl Kpacks {
    /// Adds what `contents` refer to. The file is shown as `name`, and lies at `file` or is a copy there.
    pub(super) fn add_library(
        &mut self,
        name: &str,
        file: &Path,
        contents: &Contents<'_>,
    ) -> std::result::Result<(), String> {
        let mut library: Option<Library> = None;
        for (index, bytes) in &contents.kpack_references {
            let reference = kpack::reference(bytes, &contents.limits).map_err(|error| error.to_string())?;
            let is_here = file.display().to_string() == name;
            let library = library.get_or_insert_with(|| Library {
                name: name.to_string(),
                file: is_here.then(|| file.to_path_buf()),
                keys: Vec::new(),
                search_paths: reference.search_paths.iter().map(ToString::to_string).collect(),
            });
            library.keys.push(format!("{}#{index}", reference.kernel_name));
        }
        self.libraries.extend(library);
        Ok(())
    }

    /// Adds a file that is a kpack; false if it is none.
    pub(super) fn add_kpack(&mut self, name: &str, contents: &Contents<'_>, known: Detail) -> bool {
        let Some(kpack) = Kpack::read(name, contents, known) else { return false };
        self.seen.push(kpack);
        true
    }

    /// The libraries with what their kpacks have, after all files were added.
    pub(super) fn libraries(&mut self, limits: &Limits, known: Detail) -> Result<Vec<Judgable>> {
        let mut judgable = Vec::new();
        for library in std::mem::take(&mut self.libraries) {
            let registry = match self.library_images(&library, limits, known)? {
                Ok(images) => Ok(registry::registry(images)?),
                Err(problem) => Err(problem),
            };
            judgable.push(Judgable { name: library.name, registry });
        }
        Ok(judgable)
    }

    /// Kpacks of which no library is judged.
    pub(super) fn others(self) -> Result<Vec<Judgable>> {
        let mut judgable = Vec::new();
        for kpack in self.seen.into_iter().filter(|kpack| !kpack.is_referred) {
            let registry = Ok(registry::registry(kpack.images.into_values().flatten().collect())?);
            judgable.push(Judgable { name: kpack.name, registry });
        }
        Ok(judgable)
    }

    /// The images of `library`, or what is missing.
    fn library_images(
        &mut self,
        library: &Library,
        limits: &Limits,
        known: Detail,
    ) -> Result<std::result::Result<Vec<NewImage>, String>> {
        let mut images = Vec::new();
        for path in &library.search_paths {
            let mut found = false;
            for kpack in self.seen.iter_mut().filter(|kpack| library.names(path, &kpack.name)) {
                kpack.is_referred = true;
                found = true;
                images.extend(kpack.images(&library.keys));
            }
            let beside = if found { Vec::new() } else { library.beside(path) };
            for file in beside {
                let input = Input::open(&file, limits)?;
                let contents = match input.contents() {
                    Err(error) if error.status() == ExitStatus::CheckFailed => {
                        return Ok(Err(format!("kernels are in `{}`: {error}", file.display())));
                    }
                    contents => contents?,
                };
                if let Some(kpack) = Kpack::read(&file.display().to_string(), &contents, known) {
                    found = true;
                    images.extend(kpack.images(&library.keys));
                }
            }
            if !found {
                return Ok(Err(format!("kernels are in `{path}`, missing")));
            }
        }
        if images.is_empty() {
            return Ok(Err(format!(
                "the kernels are in `{}`, which lacks `{}`",
                library.search_paths.join("`, `"),
                library.keys.join("`, `")
            )));
        }
        Ok(Ok(images))
    }
}

impl Kpack {
    fn read(name: &str, contents: &Contents<'_>, known: Detail) -> Option<Kpack> {
        let [container] = contents.containers.as_slice() else { return None };
        let is_whole =
            container.found.kind == Some(FileKind::Kpack) && container.found.origin == RangeOrigin::Whole;
        let mut images: BTreeMap<String, Vec<NewImage>> = BTreeMap::new();
        for image in container.images.iter().filter(|_| is_whole) {
            images.entry(image.name.clone()).or_default().extend(describe(image, contents, known));
        }
        is_whole.then(|| Kpack { name: name.to_string(), images, is_referred: false })
    }

    /// Its images of these keys. Files of older releases do not number wrappers.
    fn images(&self, keys: &[String]) -> Vec<NewImage> {
        keys.iter()
            .flat_map(|key| {
                let plain = key.rsplit_once('#').map_or(key.as_str(), |(plain, _)| plain);
                self.images.get(key).or_else(|| self.images.get(plain)).into_iter().flatten().cloned()
            })
            .collect()
    }
}

/// The record of an image; nothing where its target has no name here.
fn describe(image: &Image<'_>, contents: &Contents<'_>, known: Detail) -> Option<NewImage> {
    let new = NewImage::new(&image.name, image.target.clone()?);
    let bytes = match known {
        Detail::Target => return Some(new),
        Detail::Needs => image.decode(&contents.held()).ok(),
    };
    let described = bytes.and_then(|bytes| describe::any(&bytes).ok().flatten()).unwrap_or_default();
    Some(NewImage {
        format_version: described.format_version,
        aspects: described.aspects,
        kernels: described.kernels,
        ..new
    })
}

impl Library {
    /// Whether `path` is the file that people see as `shown`: another member of the library's archive, or another file.
    fn names(&self, path: &str, shown: &str) -> bool {
        let (archive, member) = self.name.rsplit_once(": ").unwrap_or(("", &self.name));
        let (other_archive, other) = shown.rsplit_once(": ").unwrap_or(("", shown));
        let directory = Path::new(member).parent().unwrap_or(Path::new(""));
        archive == other_archive
            && glob(&plain(&directory.join(path)).replace(ARCHITECTURE, "*"), &plain(Path::new(other)))
    }

    /// The files that `path` names.
    fn beside(&self, path: &str) -> Vec<PathBuf> {
        let Some(directory) = self.file.as_deref().and_then(Path::parent) else { return Vec::new() };
        let parts: Vec<&str> = path.split('/').collect();
        expand_path(directory.to_path_buf(), &parts)
    }
}

/// The files below `directory` that `parts` name, with any target ID.
fn expand_path(directory: PathBuf, parts: &[&str]) -> Vec<PathBuf> {
    let Some((first, rest)) = parts.split_first() else {
        return if directory.is_file() { vec![directory] } else { Vec::new() };
    };
    if !first.contains(ARCHITECTURE) {
        return expand_path(directory.join(first), rest);
    }
    let pattern = first.replace(ARCHITECTURE, "*");
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { &directory };
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<PathBuf> = entries
        .filter_map(std::result::Result::ok)
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| glob(&pattern, name)))
        .map(|entry| entry.path())
        .collect();
    names.sort();
    names.into_iter().flat_map(|path| expand_path(path, rest)).collect()
}

/// `path` without `.` and `..`, as far as its own parts allow.
fn plain(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::ParentDir if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            Component::ParentDir => parts.push(".."),
            Component::Normal(part) => parts.extend(part.to_str()),
            _ => {}
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_members_of_the_same_archive() {
        let path = "../.kpack/blas_@GFXARCH@.kpack";
        for (name, shown, is_named) in [
            ("lib/libblas.so", ".kpack/blas_gfx90a.kpack", true),
            ("a/lib/libblas.so", "a/.kpack/blas_gfx90a.kpack", true),
            ("a/lib/libblas.so", ".kpack/blas_gfx90a.kpack", false),
            ("x.whl: r/lib/libblas.so", "x.whl: r/.kpack/blas_gfx1100.kpack", true),
            ("x.whl: r/lib/libblas.so", "y.whl: r/.kpack/blas_gfx1100.kpack", false),
            ("x.whl: r/lib/libblas.so", "x.whl: r/.kpack/fft_gfx1100.kpack", false),
        ] {
            let library =
                Library { name: name.to_string(), file: None, keys: Vec::new(), search_paths: Vec::new() };
            assert_eq!(library.names(path, shown), is_named, "{name} {shown}");
        }
    }
}
