//! Search paths of tools, in order (the variable, `PATH`, known prefixes), and the supported releases of LLVM.

use std::path::{Path, PathBuf};

use offload_protocol::variable;

use super::libclc::Libclc;
use crate::env::CargoEnv;
use crate::error::Error;
use crate::tool::Tool;

/// The first LLVM that has all that is compiled: an older one is taken where a variable names it, or there is no other.
pub(super) const MIN_LLVM: u32 = 22;
/// The oldest LLVM that is taken.
pub(super) const OLDEST_LLVM: u32 = 19;
/// The newest LLVM that is looked for by name.
pub(super) const MAX_LLVM: u32 = 30;

/// The tools of one LLVM release.
#[derive(Clone, Debug)]
pub(crate) struct Llvm {
    pub(crate) clang: Tool,
    /// Where clang's own headers lie.
    pub(crate) resource_dir: PathBuf,
    /// Where the clang behind all links lies, and its siblings with it.
    pub(super) bin_dir: PathBuf,
    pub(super) major: u32,
}

impl Llvm {
    /// Whether it lacks some of what is compiled.
    pub(crate) fn is_old(&self) -> bool {
        self.major < MIN_LLVM
    }
}

/// Where a tool was looked for and where something of its name is.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) found: Vec<PathBuf>,
    /// Places that have nothing of its name.
    absent: Vec<PathBuf>,
    variable: &'static str,
    named: bool,
    looked_for: Vec<String>,
}

/// What `cargo offload toolchain install` writes in the folder, whatever it installs.
const INSTALLED: &str = "offload-toolchain.lock";

/// Homebrew's folder on Apple's processors.
const HOMEBREW: &str = "/opt/homebrew/opt/llvm/bin";
/// The folder of LLVM's own installer, which leaves `PATH` alone.
const WINDOWS_LLVM: &str = r"C:\Program Files\LLVM\bin";
/// Where LLVM is looked for beside `PATH`, in messages.
const LLVM_PLACE: &str = if cfg!(windows) {
    WINDOWS_LLVM
} else if cfg!(target_os = "macos") {
    HOMEBREW
} else {
    "/usr/lib/llvm-*/bin"
};

impl Candidates {
    pub(super) fn clang(env: &CargoEnv) -> Candidates {
        // Older releases are looked for too, to say that they are too old.
        let versioned = (13..=MAX_LLVM).rev().map(|major| format!("clang-{major}"));
        let names: Vec<String> = std::iter::once("clang".to_string()).chain(versioned).collect();
        let prefixes =
            (OLDEST_LLVM..=MAX_LLVM).rev().map(|major| PathBuf::from(format!("/usr/lib/llvm-{major}/bin")));
        let others = [HOMEBREW, "/usr/local/opt/llvm/bin", WINDOWS_LLVM].map(PathBuf::from);
        let ours =
            (OLDEST_LLVM..=MAX_LLVM).rev().filter_map(|major| own(env, &format!("usr/lib/llvm-{major}/bin")));
        let known = prefixes.chain(others).chain(ours).map(|dir| dir.join("clang")).collect();
        Candidates::look(env, variable::CLANG, &names, known)
            .described(format!("clang, clang-{MAX_LLVM} to clang-{OLDEST_LLVM} in PATH, {LLVM_PLACE}"))
    }

    /// Next to clang first, as distributions and archives lay LLVM out; then with clang's version in its name.
    pub(super) fn paired(env: &CargoEnv, llvm: &Llvm, name: &str, variable: &'static str) -> Candidates {
        let dir = &llvm.bin_dir;
        let versioned = format!("{name}-{}", llvm.major);
        let mut candidates = Candidates::explicit(env, variable);
        if candidates.looked_for.is_empty() {
            candidates.push_all([dir.join(name), dir.join(&versioned)]);
            candidates.push_all(env.search_path().into_iter().map(|dir| dir.join(&versioned)));
            if name == "ld.lld" {
                // It reads machine code, which any later release links; bitcode is read by its own release.
                let later = (llvm.major.saturating_add(1)..=MAX_LLVM).map(|major| format!("llvm-{major}"));
                let later = later.map(|llvm| Path::new("/usr/lib").join(llvm).join("bin").join(name));
                candidates.push_all(later);
            }
            candidates.looked_for = vec![format!("{name} in {}, {versioned} in PATH", dir.display())];
        }
        candidates
    }

    /// LLVM's disassembler, the newest first: an older one does not know newer processors.
    pub(super) fn objdump(env: &CargoEnv) -> Candidates {
        let name = "llvm-objdump";
        let versions = (MIN_LLVM..=MAX_LLVM).rev();
        let names = versions.clone().map(|major| format!("{name}-{major}")).chain([name.to_string()]);
        let known = versions.map(|major| PathBuf::from(format!("/usr/lib/llvm-{major}/bin")).join(name));
        Candidates::look(env, variable::OBJDUMP, &names.collect::<Vec<_>>(), known.collect())
            .described(format!("{name}, {name}-{MAX_LLVM} to {name}-{MIN_LLVM} in PATH, /usr/lib/llvm-*/bin"))
    }

    pub(super) fn named(env: &CargoEnv, name: &'static str, variable: &'static str) -> Candidates {
        let dirs = ["/usr/bin", "/usr/local/bin"].map(PathBuf::from).into_iter().chain(own(env, "usr/bin"));
        let known = dirs.map(|dir| dir.join(name)).collect();
        Candidates::look(env, variable, &[name.to_string()], known)
            .described(format!("{name} in PATH, /usr/bin"))
    }

    /// Where CUDA's tools and libraries lie: what its variables say, its usual place, Python's wheels of it.
    pub(super) fn cuda(env: &CargoEnv, variable: &'static str, files: &[&str]) -> Candidates {
        let mut candidates = Candidates::explicit(env, variable);
        if candidates.looked_for.is_empty() {
            let name = files.first().copied().unwrap_or_default();
            let in_path = Path::new(name).file_name().filter(|_| name.starts_with("bin/"));
            if let Some(name) = in_path {
                candidates.push_all(env.search_path().into_iter().map(|dir| dir.join(name)));
            }
            for root in env.cuda_roots() {
                candidates.push_all(files.iter().map(|file| root.join(file)));
            }
            let places = "PATH, CUDA_PATH, CUDA_HOME, /usr/local/cuda, Python's packages nvidia/cuda_nvcc, nvidia/cu13 and nvidia/cuda_runtime";
            candidates.looked_for = vec![format!("{} in {places}", files.join(", "))];
        }
        candidates
    }

    /// AMD's compiler driver, in `PATH` or where ROCm is installed.
    pub(super) fn rocm(env: &CargoEnv) -> Candidates {
        let root = env.var(variable::ROCM_PATH).map(PathBuf::from).filter(|root| root.is_absolute());
        let roots = root.into_iter().chain([PathBuf::from("/opt/rocm"), PathBuf::from("/usr")]);
        let known = roots.map(|root| root.join("bin/hipcc")).collect();
        Candidates::look(env, variable::HIPCC, &["hipcc".to_string()], known)
            .described("hipcc in PATH, ROCM_PATH, /opt/rocm".to_string())
    }

    /// Intel's DPC++, in `PATH` or where oneAPI is installed.
    pub(super) fn oneapi(env: &CargoEnv) -> Candidates {
        let root = env.var(variable::CMPLR_ROOT).map(PathBuf::from).filter(|root| root.is_absolute());
        let roots = root.into_iter().chain([PathBuf::from("/opt/intel/oneapi/compiler/latest")]);
        let known = roots.map(|root| root.join("bin/icpx")).collect();
        Candidates::look(env, variable::ICPX, &["icpx".to_string()], known)
            .described("icpx in PATH, CMPLR_ROOT, /opt/intel/oneapi/compiler/latest".to_string())
    }

    /// The header that every CUDA toolkit has.
    pub(super) fn cuda_sdk(env: &CargoEnv) -> Candidates {
        let header = "include/cuda.h";
        let explicit = Candidates::explicit_dir(env, variable::CUDA_SDK, header);
        if explicit.looked_for.is_empty() {
            Candidates::cuda(env, variable::CUDA_SDK, &[header])
        } else {
            explicit
        }
    }

    /// LLVM's OpenCL library: until release 22 in a directory of its own, then among clang's files.
    pub(super) fn libclc(env: &CargoEnv, llvm: &Llvm, of: &Libclc) -> Candidates {
        let file = of.file(llvm.major);
        let mut candidates = Candidates::explicit_dir(env, variable::LIBCLC_DIR, file);
        if candidates.looked_for.is_empty() {
            let dirs = ["/usr/lib/clc", "/usr/share/clc", "/usr/lib64/clc", "/usr/local/share/clc"];
            candidates.push_all([llvm.resource_dir.join("lib").join(of.directory).join("libclc.bc")]);
            candidates.push_all(dirs.iter().map(|dir| Path::new(dir).join(file)));
            candidates.push_all(own(env, "usr/lib/clc").map(|dir| dir.join(file)));
            candidates.looked_for =
                vec![format!("{file} in {}, lib/{}/libclc.bc of clang", dirs.join(", "), of.directory)];
        }
        candidates
    }

    pub(super) fn pocl(env: &CargoEnv) -> Candidates {
        let known = ["/usr/share/pocl", "/usr/local/share/pocl", "/opt/homebrew/share/pocl"];
        let known = known.map(PathBuf::from).into_iter().chain(own(env, "usr/share/pocl"));
        Candidates::look(env, variable::POCL_DIR, &[], known.collect())
            .described("directories /usr/share/pocl, /usr/local/share/pocl".to_string())
    }

    pub(super) fn first(&self) -> Option<&Path> {
        self.found.first().map(PathBuf::as_path)
    }

    /// Whether a variable names the only place.
    pub(super) fn is_named(&self) -> bool {
        self.named
    }

    /// "Not found", with everything that was tried. The build script runs again when one of these places has something.
    pub(super) fn error(&self, env: &CargoEnv, what: &str, refused: &[String]) -> Error {
        env.depends_on_search_path();
        for path in &self.absent {
            env.appears(path);
        }
        if let Some(folder) = env.toolchain_folder() {
            let installed = folder.join(INSTALLED);
            if installed.exists() { env.depends_on(&installed) } else { env.appears(&installed) }
        }
        let mut message = format!("{what} was not found\nlooked for: {}", self.looked_for.join(", "));
        for reason in refused {
            message.push_str(&format!("\nrefused {reason}"));
        }
        message.push_str(&format!("\noverride: set {}", self.variable));
        Error::missing_tool(message)
    }

    fn look(env: &CargoEnv, variable: &'static str, names: &[String], known: Vec<PathBuf>) -> Candidates {
        let mut candidates = Candidates::explicit(env, variable);
        if candidates.looked_for.is_empty() {
            for name in names {
                candidates.push_all(env.search_path().into_iter().map(|dir| dir.join(name)));
            }
            candidates.push_all(known);
        }
        candidates
    }

    /// A set variable is the only place: falling back to another tool would hide a typing error.
    fn explicit(env: &CargoEnv, variable: &'static str) -> Candidates {
        let value = env.var(variable);
        let named = value.is_some();
        let mut candidates =
            Candidates { found: Vec::new(), absent: Vec::new(), variable, named, looked_for: Vec::new() };
        if let Some(value) = value {
            let path = env.manifest_dir.join(&value);
            // A name without a directory, as `clang-22`.
            let is_name = Path::new(&value).components().count() == 1 && !path.exists();
            let place = if is_name {
                format!("{} in PATH", value.display())
            } else {
                format!("`{}`", path.display())
            };
            candidates.looked_for.push(format!("{place}, which {variable} names"));
            let in_path = if is_name { env.search_path() } else { Vec::new() };
            candidates.push_all(in_path.into_iter().map(|dir| dir.join(&value)).chain([path]));
        }
        candidates
    }

    fn explicit_dir(env: &CargoEnv, variable: &'static str, name: &str) -> Candidates {
        let mut candidates = Candidates::explicit(env, variable);
        let directories = std::mem::take(&mut candidates.found);
        candidates.push_all(directories.into_iter().map(|directory| directory.join(name)));
        candidates
    }

    fn described(mut self, places: String) -> Candidates {
        if self.looked_for.is_empty() {
            self.looked_for.push(places);
        }
        self
    }

    fn push_all(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            self.push(path);
        }
    }

    #[cfg(not(windows))]
    fn push(&mut self, path: PathBuf) {
        self.push_file(path);
    }

    /// A program's name ends in `.exe`; folders of other systems have no drive.
    #[cfg(windows)]
    fn push(&mut self, path: PathBuf) {
        if !path.is_absolute() {
            return;
        }
        let mut program = path.clone().into_os_string();
        program.push(std::env::consts::EXE_SUFFIX);
        self.push_file(program.into());
        self.push_file(path);
    }

    fn push_file(&mut self, path: PathBuf) {
        let list = if path.exists() { &mut self.found } else { &mut self.absent };
        if !list.contains(&path) {
            list.push(path);
        }
    }
}

/// A directory of the folder into which `cargo offload toolchain install` unpacks.
fn own(env: &CargoEnv, dir: &str) -> Option<PathBuf> {
    env.toolchain_folder().map(|folder| folder.join(dir))
}
