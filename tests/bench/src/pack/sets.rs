//! Sets of images: a directory for each, with `MODULE/TARGET` in it.

use std::fs;
use std::path::{Path, PathBuf};

use super::own;
use super::plan::{Extent, Plan};
use super::tool::{self, Tool};
use crate::rebuild::measure::output;
use offload_tests::error::{Error, Result};
use offload_tests::setup::{self, Wheel};
use offload_tests::workspace::Workspace;

/// Images that are packed together.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) dir: PathBuf,
    /// The modes of our packer.
    pub(super) modes: &'static [&'static str],
}

/// Whose images: that tells who else packs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Hip,
    Cuda,
    Spirv,
}

const EVERY: &[&str] = &["fast", "balanced", "max", "archive"];
const RELEASE: &[&str] = &["balanced"];
const DOWNLOAD: &[&str] = &["balanced", "archive"];
const QUICK: &[&str] = &["fast", "balanced"];

/// The set that one image is taken from.
pub(super) const HIP: &str = "HIP, 25 architectures";
pub(super) const CUDA: &str = "CUDA library";
pub(super) const SYMBOLS: &str = "HIP with symbols";
pub(super) const OWN_SYMBOLS: &str = "HIP with symbols, own kernels";
pub(super) const FILES: &str = "8 files x 22 architectures";
pub(super) const OPERATIONS: &str = "8 files that share kernels x 22 architectures";
pub(super) const SPIRV: &str = "many SPIR-V images";
pub(super) const SPIRV_500: &str = "500 SPIR-V images";
pub(super) const GENERATED: &str = "500 generated SPIR-V images";

/// Libraries with images of some kilobytes to a megabyte in all: what most crates ship.
pub(super) const SMALL_SETS: [&str; 11] = [
    "torch-cluster-rocm, _fps_cuda",
    "torch-cluster-rocm, _graclus_cuda",
    "torch-cluster-rocm, _grid_cuda",
    "torch-cluster-rocm, _knn_cuda",
    "torch-cluster-rocm, _nearest_cuda",
    "torch-cluster-rocm, _radius_cuda",
    "torch-sparse-rocm, _convert_cuda",
    "torch-sparse-rocm, _diag_cuda",
    "jax-rocm7-plugin, _linalg",
    "jax-rocm7-plugin, _prng",
    "jax-rocm7-plugin, _solver",
];
/// The package whose libraries are packed together, too.
const JOINED_PACKAGE: &str = "jax-rocm7-plugin";
pub(super) const JOINED: &str = "jax-rocm7-plugin together";

/// The libraries of bitsandbytes 0.50.2 that are measured: 25 architectures in one bundle, and 55 images for NVIDIA.
const HIP_BUNDLE: &str = "hip/libbitsandbytes_rocm715/000";
const CUDA_LIBRARY: &str = "cuda/libbitsandbytes_cuda130";

/// What is taken of a library with thousands of images: how many, and of which sizes in bytes.
const SOME: usize = 500;
const SMALL: std::ops::Range<u64> = 2_000..20_000;

/// Downloads, builds and generates what the plan wants.
pub(super) fn prepare(workspace: &Workspace, plan: &Plan, tool: &Tool) -> Result<Vec<Set>> {
    let root = workspace.target_dir.join("bench/pack");
    let mut sets = Sets { plan, dir: root.join("sets"), found: Vec::new() };
    remove(&sets.dir)?;
    let quick = plan.extent == Extent::Quick;
    if plan.wants(HIP) {
        let modes = if quick { QUICK } else { EVERY };
        sets.link(
            (HIP, Kind::Hip, modes),
            &[(bitsandbytes(workspace, tool, &root)?.join(HIP_BUNDLE), "000")],
        )?;
    }
    if plan.wants(CUDA) && !quick {
        sets.link(
            (CUDA, Kind::Cuda, RELEASE),
            &containers(&bitsandbytes(workspace, tool, &root)?.join(CUDA_LIBRARY))?,
        )?;
    }
    own_kernels(workspace, &root, &mut sets)?;
    if quick && plan.wants(GENERATED) {
        let dir = sets.dir.join("generated-spirv");
        output(tool.command("spirv").arg("500").arg(&dir))?;
        sets.found.push(Set { name: GENERATED.into(), kind: Kind::Spirv, dir, modes: RELEASE });
    }
    for wheel in &plan.wheels {
        let folder = setup::ensure_package(workspace, wheel)?;
        sets.wheel(wheel, &extract(tool, &folder, &root.join(wheel))?)?;
    }
    Ok(sets.found)
}

fn bitsandbytes(workspace: &Workspace, tool: &Tool, root: &Path) -> Result<PathBuf> {
    let folder = setup::ensure_wheel(workspace, Wheel::Bitsandbytes)?;
    extract(tool, &folder, &root.join("bitsandbytes"))
}

fn own_kernels(workspace: &Workspace, root: &Path, sets: &mut Sets<'_>) -> Result<()> {
    let (files, symbols) = match sets.plan.extent {
        Extent::Whole => (FILES, OWN_SYMBOLS),
        Extent::Quick => ("2 files x 4 architectures", "HIP with symbols, own kernels for 4 architectures"),
    };
    if sets.plan.wants(files) {
        sets.link(
            (files, Kind::Hip, DOWNLOAD),
            &own::types(workspace, &root.join("own"), sets.plan.extent)?,
        )?;
    }
    if sets.plan.wants(OPERATIONS) && sets.plan.extent == Extent::Whole {
        let built = own::operations(workspace, &root.join("operations"), sets.plan.extent)?;
        sets.link((OPERATIONS, Kind::Hip, DOWNLOAD), &built)?;
    }
    if sets.plan.wants(symbols) {
        let built = own::symbols(workspace, &root.join("symbols"), sets.plan.extent)?;
        sets.link((symbols, Kind::Hip, RELEASE), &built)?;
    }
    Ok(())
}

/// The images of all programs below `files`, taken out once.
fn extract(tool: &Tool, files: &Path, to: &Path) -> Result<PathBuf> {
    if !to.exists() {
        let new = to.with_extension("new");
        remove(&new)?;
        fs::create_dir_all(&new)?;
        eprint!("{}", output(tool.command("extract").arg(files).arg(&new))?);
        fs::rename(&new, to)?;
    }
    Ok(to.to_path_buf())
}

struct Sets<'a> {
    plan: &'a Plan,
    dir: PathBuf,
    found: Vec<Set>,
}

/// Directories of images, each with its name as a module.
pub(super) type Modules = Vec<(PathBuf, String)>;

impl Sets<'_> {
    /// A set of links to the files of `modules`.
    fn link<N: AsRef<str>>(
        &mut self,
        (name, kind, modes): (&str, Kind, &'static [&'static str]),
        modules: &[(PathBuf, N)],
    ) -> Result<()> {
        let dir = self.dir.join(format!("{}", self.found.len()));
        for (from, module) in modules {
            let to = dir.join(module.as_ref());
            fs::create_dir_all(&to)?;
            for path in entries(from)? {
                fs::hard_link(&path, to.join(path.file_name().unwrap_or_default()))?;
            }
        }
        self.found.push(Set { name: name.to_string(), kind, dir, modes });
        Ok(())
    }

    /// All images of a wheel: a set for each library with images for AMD or NVIDIA, one for all SPIR-V.
    fn wheel(&mut self, wheel: &str, images: &Path) -> Result<()> {
        let mut spirv = Modules::new();
        let mut joined = Modules::new();
        for (part, kind) in [("hip", Kind::Hip), ("cuda", Kind::Cuda), ("spirv", Kind::Spirv)] {
            for library in entries(&images.join(part)).unwrap_or_default() {
                let modules = containers(&library)?;
                let name = file_name(&library)?;
                if kind == Kind::Spirv {
                    spirv.extend(modules.into_iter().map(|(path, _)| (path, name.clone())));
                    continue;
                }
                let set = self.name(wheel, kind, &name);
                let modes = if SMALL_SETS.contains(&set.as_str()) { DOWNLOAD } else { RELEASE };
                if self.plan.wants(&set) {
                    self.link((&set, kind, modes), &modules)?;
                }
                joined.extend(modules.into_iter().map(|(path, module)| (path, format!("{name}{module}"))));
            }
        }
        if wheel.split("==").next() == Some(JOINED_PACKAGE) && self.plan.wants(JOINED) {
            self.link((JOINED, Kind::Hip, DOWNLOAD), &joined)?;
        }
        let set = self.name(wheel, Kind::Spirv, "");
        if !spirv.is_empty() && self.plan.wants(&set) {
            self.link((&set, Kind::Spirv, RELEASE), &spirv)?;
        }
        if set == SPIRV && self.plan.wants(SPIRV_500) {
            self.some_of(SPIRV_500, &spirv)?;
        }
        Ok(())
    }

    /// The first images of 2 to 20 kB of the library that has most of them, as a program of one library would carry
    /// them.
    fn some_of(&mut self, name: &str, modules: &[(PathBuf, String)]) -> Result<()> {
        let mut most: Option<(Vec<PathBuf>, &str)> = None;
        for (from, module) in modules {
            let mut paths = Vec::new();
            for path in entries(from)? {
                if SMALL.contains(&tool::size(&path)?) {
                    paths.push(path);
                }
            }
            if most.as_ref().is_none_or(|(most, _)| most.len() < paths.len()) {
                most = Some((paths, module));
            }
        }
        let (paths, module) = most.unwrap_or_default();
        let dir = self.dir.join(format!("{}", self.found.len()));
        let to = dir.join(module);
        fs::create_dir_all(&to)?;
        for path in paths.iter().take(SOME) {
            fs::hard_link(path, to.join(path.file_name().unwrap_or_default()))?;
        }
        self.found.push(Set { name: name.to_string(), kind: Kind::Spirv, dir, modes: RELEASE });
        Ok(())
    }

    /// The wheels that limits are set for have names of their own.
    fn name(&self, wheel: &str, kind: Kind, library: &str) -> String {
        let package = wheel.split("==").next().unwrap_or(wheel);
        match (package, kind, library) {
            ("dpnp", Kind::Spirv, _) => SPIRV.to_string(),
            ("cupy-rocm-5-0", Kind::Hip, "thrust") => SYMBOLS.to_string(),
            (_, Kind::Spirv, _) => format!("{package}, SPIR-V"),
            _ => format!("{package}, {library}"),
        }
    }
}

fn containers(library: &Path) -> Result<Modules> {
    entries(library)?.into_iter().map(|path| Ok((path.clone(), file_name(&path)?))).collect()
}

/// What is in a directory, sorted.
pub(super) fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(dir).map_err(|error| Error::new(format!("`{}`: {error}", dir.display())))?;
    let mut paths = Vec::new();
    for entry in listed {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// A path's last part, which this task named.
pub(super) fn file_name(path: &Path) -> Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_string).ok_or_else(|| Error::new(format!("`{}` has no name", path.display())))
}

pub(super) fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

impl Set {
    /// The modules with their images.
    pub(super) fn modules(&self) -> Result<Vec<(String, Vec<PathBuf>)>> {
        entries(&self.dir)?.into_iter().map(|path| Ok((file_name(&path)?, entries(&path)?))).collect()
    }

    /// The bytes of all images.
    pub(super) fn size(&self) -> Result<u64> {
        let mut sum = 0;
        for (_, images) in self.modules()? {
            for image in images {
                sum += tool::size(&image)?;
            }
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_a_wheel_are_links_to_its_images() {
        let dir = tempfile::tempdir().unwrap();
        let images = dir.path().join("images");
        for (path, text) in [
            ("hip/thrust/000/a", "12"),
            ("spirv/one/all/0", "3"),
            ("spirv/two/all/0", "456"),
            ("hip/x/000/b", "7"),
        ] {
            let path = images.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let plan = Plan::parse(&[]).unwrap();
        let mut sets = Sets { plan: &plan, dir: dir.path().join("sets"), found: Vec::new() };
        sets.wheel("cupy-rocm-5-0==1", &images).unwrap();
        let found: Vec<_> = sets.found.iter().map(|set| (set.name.as_str(), set.size().unwrap())).collect();
        assert_eq!(found, [(SYMBOLS, 2), ("cupy-rocm-5-0, x", 1), ("cupy-rocm-5-0, SPIR-V", 4)]);
        let modules = sets.found.last().unwrap().modules().unwrap();
        assert_eq!(modules.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    }

    #[test]
    fn only_wanted_sets_are_made() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("images/hip/x/000")).unwrap();
        let plan = Plan::parse(&["--set".to_string(), "other".to_string()]).unwrap();
        let mut sets = Sets { plan: &plan, dir: dir.path().join("sets"), found: Vec::new() };
        sets.wheel("a==1", &dir.path().join("images")).unwrap();
        assert!(sets.found.is_empty());
    }
}
