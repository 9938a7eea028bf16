//! Locations on this machine that variables name: tools, installed packages and the compile cache.

use std::env;
use std::path::{Path, PathBuf};

use offload_format::pack::cache_dir;
use offload_protocol::variable;

use super::CargoEnv;

impl CargoEnv {
    /// The absolute directories of `PATH`; relative ones would run whatever lies in the current directory.
    pub(crate) fn search_path(&self) -> Vec<PathBuf> {
        let path = env::var_os(variable::PATH).unwrap_or_default();
        env::split_paths(&path).filter(|dir| dir.is_absolute()).collect()
    }

    /// Where CUDA may be installed: the directories that hold `bin`, `nvvm` and `include`.
    pub(crate) fn cuda_roots(&self) -> Vec<PathBuf> {
        let named = [variable::CUDA_PATH, variable::CUDA_HOME]
            .into_iter()
            .filter_map(|name| self.var(name))
            .map(PathBuf::from);
        let usual = ["/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"].into_iter().map(PathBuf::from);
        let wheels = self.python_packages().into_iter();
        // The headers of release 12 are in a package of their own.
        let packages = ["nvidia/cuda_nvcc", "nvidia/cu13", "nvidia/cuda_runtime"];
        let wheels = wheels.flat_map(|dir| packages.map(|name| dir.join(name)));
        named.filter(|dir| dir.is_absolute()).chain(usual).chain(wheels).collect()
    }

    /// Directories of installed Python packages: of the active environment, the user, the system.
    fn python_packages(&self) -> Vec<PathBuf> {
        self.record(|lines| lines.env.insert(variable::VIRTUAL_ENV.to_string()));
        let active = absolute_dir(variable::VIRTUAL_ENV);
        let user = absolute_dir(variable::HOME).map(|home| home.join(".local"));
        let system = ["/usr/local", "/usr"].map(PathBuf::from);
        let prefixes = active.into_iter().chain(user).chain(system).chain(self.toolchain_folder());
        let mut found = Vec::new();
        for lib in prefixes.map(|prefix| prefix.join("lib")) {
            let versions = crate::fs::list(&lib).unwrap_or_default().into_iter();
            let dirs = versions.filter(|path| {
                path.file_name()
                    .and_then(|name| name.to_str())
                    .is_some_and(|name| name.starts_with("python3"))
            });
            found.extend(dirs.flat_map(|dir| ["site-packages", "dist-packages"].map(|name| dir.join(name))));
        }
        found
    }

    /// Where compilers of this user's own may be: a tree as that below `/`, and packages of Python.
    pub(crate) fn toolchain_folder(&self) -> Option<PathBuf> {
        let named = self.var(variable::TOOLCHAIN).map(|folder| self.manifest_dir.join(folder));
        named.or_else(|| {
            let data = absolute_dir(variable::XDG_DATA_HOME)
                .or_else(|| absolute_dir(variable::HOME).map(|home| home.join(".local/share")));
            data.map(|data| data.join("cargo-offload").join("toolchain"))
        })
    }

    /// The directories in which `program` expects its libraries, if it is one of that folder.
    pub(crate) fn toolchain_libraries(&self, program: &Path) -> Vec<PathBuf> {
        let folder = self.toolchain_folder().filter(|folder| program.starts_with(folder));
        let Some(folder) = folder else { return Vec::new() };
        let triple = format!("{}-linux-gnu", env::consts::ARCH);
        ["usr/lib", "lib"].map(|dir| folder.join(dir).join(&triple)).into()
    }

    /// Where the compile cache is: as a variable says, or where it belongs for this user on this system.
    pub(crate) fn cache_dir(&self) -> Option<PathBuf> {
        cache_dir(
            |name| match name {
                variable::CACHE_DIR => self.var(name).map(|dir| self.manifest_dir.join(dir)),
                _ => absolute_dir(name),
            },
            |dir: PathBuf, below| dir.join(below),
        )
    }
}

fn absolute_dir(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|dir| dir.is_absolute())
}

/// Where any program may put files that it removes again.
pub(crate) fn temporary_directory() -> PathBuf {
    env::temp_dir()
}
