//! Materials of images: sources of the package, and tools and libraries from elsewhere.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Component, Path, PathBuf};

use offload_format::provenance::Material;

use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::library;
use crate::module::{Library, Sources};

/// What compilers read, apart from what comes with them.
#[derive(Debug)]
pub(super) struct Materials {
    pub(super) sources: Vec<Material>,
    pub(super) inputs: Vec<Material>,
}

/// The device libraries that `sources` import, as a record has them.
pub(super) fn libraries(sources: &Sources) -> Vec<Material> {
    let mut materials = Vec::new();
    for library in sources.libraries() {
        let mut material = Material::new(library.name().to_string(), library::hash(library));
        material.version = Some(package(library));
        materials.push(material);
    }
    materials
}

fn package(library: &Library) -> String {
    format!("{} {}", library.package, library.version)
}

/// Sorts `files` by where they are from: also a package in a folder of this one has its files for itself.
///
/// # Errors
/// If a source lies outside of the package: a published package would not have it.
pub(super) fn sort(env: &CargoEnv, files: &BTreeSet<PathBuf>, imported: &[&Library]) -> Result<Materials> {
    let mut sources = BTreeSet::new();
    let mut inputs = BTreeSet::new();
    for file in files {
        let blake3 = hash(file)?;
        let version = env.version_of(file).or_else(|| library_around(file, env, imported));
        match (file.strip_prefix(&env.manifest_dir), version) {
            (Ok(relative), None) => {
                let name = within(relative).ok_or_else(|| outside(relative))?;
                sources.insert(Material::new(name, blake3));
            }
            (_, version) => {
                let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
                let mut input = Material::new(name, blake3);
                input.version = version.filter(|version| !version.is_empty());
                input.license = license(file).map(str::to_string);
                inputs.insert(input);
            }
        }
    }
    Ok(Materials { sources: sources.into_iter().collect(), inputs: inputs.into_iter().collect() })
}

/// The package of the library in whose folder `file` is; that of this one is no library's.
fn library_around(file: &Path, env: &CargoEnv, imported: &[&Library]) -> Option<String> {
    let roots = imported.iter().filter(|it| it.root() != env.manifest_dir && file.starts_with(it.root()));
    roots.max_by_key(|library| library.root().as_os_str().len()).map(|library| package(library))
}

/// BLAKE3 of a file's content, of which little is held: compilers have hundreds of megabytes.
pub(super) fn hash(path: &Path) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    hasher.update_reader(file).map_err(|error| Error::io("read", path, error))?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// What programs of this build run on.
pub(super) fn machine(env: &CargoEnv) -> String {
    format!("{}-{}", env.cfg.arch, env.cfg.os)
}

/// `relative` without `..`, with `/`; nothing if it leads out.
pub(super) fn within(relative: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for component in relative.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()?),
            Component::Normal(name) => parts.push(name.to_str()?),
            _ => return None,
        }
    }
    Some(parts.join("/"))
}

fn outside(relative: &Path) -> Error {
    Error::new(format!("`{}`, which the kernels include, lies outside of the package", relative.display()))
        .with_hint("move it into the package: a published package has nothing else")
}

/// Licences of what code is linked from, by where it is installed; each as its project states it.
const LICENSES: [(&str, &str); 6] = [
    // https://github.com/llvm/llvm-project/blob/main/libclc/LICENSE.TXT
    ("libclc", "Apache-2.0 WITH LLVM-exception"),
    ("/clc/", "Apache-2.0 WITH LLVM-exception OR NCSA OR MIT"),
    // https://github.com/pocl/pocl/blob/main/LICENSE
    ("/pocl/", "MIT"),
    // https://docs.nvidia.com/cuda/eula/
    ("libdevice", "LicenseRef-NVIDIA-CUDA-EULA"),
    ("ptxas", "LicenseRef-NVIDIA-CUDA-EULA"),
    // https://llvm.org/LICENSE.txt
    ("llvm", "Apache-2.0 WITH LLVM-exception"),
];

fn license(path: &Path) -> Option<&'static str> {
    let text = path.to_str()?;
    LICENSES.iter().find(|(part, _)| text.contains(part)).map(|(_, license)| *license)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_and_stay_inside() {
        for (path, name) in [
            ("kernels/blas.cl", Some("kernels/blas.cl")),
            ("./kernels/../include/tile.h", Some("include/tile.h")),
            ("../common/tile.h", None),
            ("kernels/../../common/tile.h", None),
        ] {
            assert_eq!(within(Path::new(path)).as_deref(), name, "{path}");
        }
    }

    #[test]
    fn licences_go_by_the_most_telling_part_of_the_path() {
        for (path, license) in [
            ("/usr/lib/clc/spirv64-mesa3d-.spv", Some("Apache-2.0 WITH LLVM-exception OR NCSA OR MIT")),
            ("/usr/lib/llvm-22/bin/clang", Some("Apache-2.0 WITH LLVM-exception")),
            ("/usr/share/pocl/kernel-x86_64-pc-linux-gnu-sse2.bc", Some("MIT")),
            ("/opt/cuda/nvvm/libdevice/libdevice.10.bc", Some("LicenseRef-NVIDIA-CUDA-EULA")),
            ("/usr/bin/ocloc", None),
        ] {
            assert_eq!(super::license(Path::new(path)), license, "{path}");
        }
    }
}
