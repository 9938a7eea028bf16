//! The other side: ninja drives clang once for each file and target, and lld after it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{Profile, Side};
use super::plan::{Language, Plan};
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

/// One build directory for each profile.
#[derive(Debug)]
pub(crate) struct Ninja {
    program: PathBuf,
    dir: PathBuf,
    cache: CompilerCache,
    jobs: usize,
}

/// What stands before the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompilerCache {
    None,
    Ccache,
}

/// Where distributions put libclc's bitcode for AMD: a file until release 22, in a directory since.
const LIBCLC: [&str; 4] = [
    "/usr/lib/clc/amdgcn-amd-amdhsa.bc",
    "/usr/share/clc/amdgcn-amd-amdhsa.bc",
    "/usr/lib64/clc/amdgcn-amd-amdhsa.bc",
    "/usr/local/share/clc/amdgcn-amd-amdhsa.bc",
];

impl Ninja {
    /// Writes the build files to `dir`.
    pub(crate) fn prepare(
        workspace: &Workspace,
        dir: &Path,
        (plan, cache): (&Plan, CompilerCache),
    ) -> Result<Ninja> {
        let clang = match cache {
            CompilerCache::None => tool(workspace, "clang")?.display().to_string(),
            CompilerCache::Ccache => format!("ccache {}", tool(workspace, "clang")?.display()),
        };
        let text = match plan.kernels {
            Language::OpenClC => {
                let libclc = LIBCLC.iter().map(Path::new).find(|path| path.is_file());
                let libclc = libclc.ok_or_else(|| missing("libclc"))?;
                opencl_build_file(plan, (&clang, &tool(workspace, "ld.lld")?), libclc)
            }
            Language::Hip => hip_build_file(plan, &clang, &workspace.root.join(HIP_HEADER)),
        };
        let ninja = Ninja {
            program: workspace.program("ninja").ok_or_else(|| missing("ninja"))?,
            dir: dir.join(if cache == CompilerCache::None { "ninja" } else { "ninja-ccache" }),
            cache,
            jobs: plan.jobs,
        };
        for profile in [Profile::First, Profile::Second] {
            workspace.shell.write_file(ninja.build_dir(profile).join("build.ninja"), &text)?;
        }
        Ok(ninja)
    }

    /// The image of a file for a target.
    pub(crate) fn image(&self, module: &str, target: &str) -> PathBuf {
        self.build_dir(Profile::First).join("out").join(format!("{module}.{target}.hsaco"))
    }

    fn build_dir(&self, profile: Profile) -> PathBuf {
        self.dir.join(if profile == Profile::First { "first" } else { "second" })
    }

    fn forget(&self, profile: Profile) -> Result<()> {
        let dir = self.build_dir(profile);
        for path in ["out", ".ninja_log", ".ninja_deps"].map(|name| dir.join(name)) {
            remove(&path)?;
        }
        Ok(())
    }

    fn compiler_cache(&self) -> PathBuf {
        self.dir.join("ccache")
    }
}

fn missing(what: &str) -> Error {
    Error::new(format!("`{what}` is not installed")).hint("cargo xtask setup")
}

fn tool(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    setup::llvm(workspace, name).ok_or_else(|| missing(name))
}

impl Side for Ninja {
    fn name(&self) -> &'static str {
        if self.cache == CompilerCache::None { "ninja" } else { "ninja+ccache" }
    }

    fn build(&self, profile: Profile) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["-j", &self.jobs.to_string()]).current_dir(self.build_dir(profile));
        command.env("CCACHE_DIR", self.compiler_cache()).env_remove("CCACHE_DISABLE");
        command
    }

    fn forget_everything(&self) -> Result<()> {
        remove(&self.compiler_cache())?;
        self.forget(Profile::First)
    }

    fn forget_second_profile(&self) -> Result<()> {
        self.forget(Profile::Second)
    }
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => Ok(std::fs::remove_dir_all(path)?),
        Ok(_) => Ok(std::fs::remove_file(path)?),
        Err(_) => Ok(()),
    }
}

/// The flags that the documentation of clang and libclc leads to.
fn opencl_build_file(plan: &Plan, (clang, lld): (&str, &Path), libclc: &Path) -> String {
    let mut text = format!(
        "rule compile\n  command = {clang} --target=amdgcn-amd-amdhsa -mcpu=$target -mcode-object-version=$version \
         -nogpulib -x cl -cl-std=CL1.2 -O2 -Xclang -mlink-builtin-bitcode -Xclang {} -Wno-linker-warnings \
         -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n\n\
         rule link\n  command = {} -shared $in -o $out\n\n",
        libclc.display(),
        lld.display()
    );
    for module in plan.modules() {
        for target in &plan.targets {
            let version = code_object(target);
            text.push_str(&format!(
                "build out/{module}.{target}.o: compile ../../kernels/{module}.cl\n  target = {target}\n  version = {version}\n\
                 build out/{module}.{target}.hsaco: link out/{module}.{target}.o\n"
            ));
        }
    }
    text
}

/// What kernels use of HIP's headers, where ROCm is not installed.
const HIP_HEADER: &str = "tests/bench/pack/hip_runtime.h";

/// Clang compiles for one processor, and links.
fn hip_build_file(plan: &Plan, clang: &str, header: &Path) -> String {
    let mut text = format!(
        "rule compile\n  command = {clang} -x hip --cuda-device-only --offload-arch=$target -mcode-object-version=$version \
         -nogpuinc -nogpulib --no-gpu-bundle-output -fuse-cuid=none -std=c++17 -O2 -include {} \
         -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n\n",
        header.display()
    );
    for module in plan.modules() {
        for target in &plan.targets {
            let version = code_object(target);
            text.push_str(&format!(
                "build out/{module}.{target}.hsaco: compile ../../kernels/{module}.hip\n  target = {target}\n  version = {version}\n"
            ));
        }
    }
    text
}

/// The version of the container; generic processors need the latest.
fn code_object(target: &str) -> u32 {
    if target.ends_with("-generic") { 6 } else { 5 }
}
