//! The tools of this machine, for programs that are no build script.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use offload_format::{HostLevel, Target, TargetSet};

use super::search::Candidates;
use super::{Finder, Known, remedy};
use crate::cache::Cache;
use crate::compile::{LIBCLC_AMD, LIBCLC_NVIDIA, pocl};
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::flight::Flights;
use crate::fs;
use crate::jobs::Jobs;
use crate::targets;
use crate::tool::{Invocation, Runner, Tool};

/// The tools that a build script of a package in some directory would find.
///
/// ```
/// use offload_build::toolchain::{Component, Toolchain};
///
/// let toolchain = Toolchain::of(".".as_ref()).unwrap();
/// match toolchain.find(Component::Clang) {
///     Ok(clang) => println!("{}", clang.path.display()),
///     Err(error) => println!("{}; {}", error.message(), error.hint().unwrap_or_default()),
/// }
/// ```
#[derive(Debug)]
pub struct Toolchain {
    env: CargoEnv,
    cache: Cache,
    jobs: Jobs,
    /// Stands for a build script's `OUT_DIR`.
    _scratch: tempfile::TempDir,
}

/// A tool or a library that compiles, checks or shows kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Component {
    /// LLVM's compiler.
    Clang,
    /// LLVM's linker of bitcode.
    LlvmLink,
    /// LLVM's linker of machine code.
    Lld,
    /// LLVM's functions of OpenCL C, for NVIDIA.
    LibclcNvidia,
    /// The same for AMD.
    LibclcAmd,
    /// NVIDIA's mathematics.
    Libdevice,
    /// NVIDIA's assembler.
    Ptxas,
    /// Intel's offline compiler and disassembler.
    Ocloc,
    /// PoCL's functions of OpenCL C, for the CPU.
    Pocl,
    /// The validator of the SPIR-V tools.
    SpirvVal,
    /// NVIDIA's compiler of CUDA C++.
    Nvcc,
    /// AMD's compiler of HIP C++.
    Hipcc,
    /// Intel's compiler of SYCL C++.
    Icpx,
    /// LLVM's disassembler, for AMD GPUs and CPUs.
    LlvmObjdump,
    /// NVIDIA's disassembler.
    Nvdisasm,
    /// The disassembler of the SPIR-V tools.
    SpirvDis,
}

/// Where a component is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The program, library or directory.
    pub path: PathBuf,
    /// The line of what it says of itself that has its version, if any.
    pub version: Option<String>,
}

/// What a program printed that ended well.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Output {
    /// On standard output.
    pub stdout: String,
    /// On standard error.
    pub stderr: String,
}

impl Toolchain {
    /// The tools that a build script of a package in `directory` would find: paths in variables are relative to it.
    ///
    /// # Errors
    /// If there is no place for temporary files, or a variable about the cache is not understood.
    pub fn of(directory: &Path) -> Result<Toolchain> {
        let scratch = fs::scratch_anywhere()?;
        let env = CargoEnv::of_machine(directory, scratch.path());
        let cache = Cache::open(&env)?;
        Ok(Toolchain { env, cache, jobs: Jobs::alone(), _scratch: scratch })
    }

    /// The folder into which `cargo offload toolchain install` unpacks compilers, and in which build scripts of packages
    /// in `directory` look for them last. There need be no such folder.
    pub fn folder(directory: &Path) -> Option<PathBuf> {
        CargoEnv::of_machine(directory, directory).toolchain_folder()
    }

    /// Where `component` is.
    ///
    /// # Errors
    /// It is not installed, or too old: [`Error::message`] says where it was looked for, and [`Error::hint`] how to
    /// install it on this system.
    pub fn find(&self, component: Component) -> Result<Found> {
        let runner = self.runner();
        let flights = Flights::default();
        let finder = Finder {
            env: &self.env,
            cache: &self.cache,
            runner: &runner,
            flights: &flights,
            tools: Known::default(),
            files: Known::default(),
        };
        find(&finder, component)
    }

    /// Runs `program` with a build's environment and waits for it.
    ///
    /// # Errors
    /// If it cannot be started or does not exit with 0; the message has all that it printed.
    pub fn run(&self, program: &Path, args: &[OsString], directory: &Path) -> Result<Output> {
        let invocation = Invocation { program, args: args.to_vec(), directory, input: None };
        let printed = self.runner().run(&invocation)?;
        Ok(Output { stdout: printed.stdout, stderr: printed.stderr })
    }

    fn runner(&self) -> Runner<'_> {
        Runner { env: &self.env, jobs: &self.jobs }
    }
}

/// The targets of `set` where every tool and every device is there.
///
/// # Errors
/// If this release does not know the set.
pub fn members(set: TargetSet) -> std::result::Result<Vec<Target>, Error> {
    targets::possible(set)
}

fn find(finder: &Finder<'_>, component: Component) -> Result<Found> {
    let file = |path: PathBuf| Found { path, version: None };
    let paired = |name, variable| finder.llvm().and_then(|llvm| finder.paired(&llvm, name, variable));
    let shower = |name, candidates: Candidates, remedy: fn() -> String| {
        let found = candidates.first().map(PathBuf::from);
        found.ok_or_else(|| candidates.error(name, &[]).with_hint(remedy())).map(file)
    };
    match component {
        Component::Clang => finder.llvm().map(|llvm| found(llvm.clang)),
        Component::LlvmLink => paired("llvm-link", "OFFLOAD_LLVM_LINK").map(found),
        Component::Lld => paired("ld.lld", "OFFLOAD_LLD").map(found),
        Component::LibclcNvidia => finder.libclc_here(LIBCLC_NVIDIA).map(file),
        Component::LibclcAmd => finder.libclc_here(LIBCLC_AMD).map(file),
        Component::Libdevice => finder.libdevice().map(file),
        Component::Ptxas => finder.ptxas().map(found),
        Component::Ocloc => finder.ocloc().map(found),
        Component::Pocl => pocl(finder, HostLevel::Baseline).map(|pocl| file(pocl.library)),
        Component::SpirvVal => finder.spirv_val().map(found),
        Component::Nvcc => finder.nvcc().map(found),
        Component::Hipcc => finder.hipcc().map(found),
        Component::Icpx => finder.icpx().map(found),
        Component::LlvmObjdump => shower("llvm-objdump", Candidates::objdump(finder.env), remedy::llvm),
        Component::Nvdisasm => {
            let candidates = Candidates::cuda(finder.env, "OFFLOAD_NVDISASM", &["bin/nvdisasm"]);
            shower("nvdisasm", candidates, remedy::nvdisasm)
        }
        Component::SpirvDis => {
            let candidates = Candidates::named(finder.env, "spirv-dis", "OFFLOAD_SPIRV_DIS");
            shower("spirv-dis", candidates, remedy::spirv_tools)
        }
    }
}

fn found(tool: Tool) -> Found {
    // NVIDIA's tools start with their name and licence.
    let version =
        tool.version.lines().find(|line| line.chars().any(|c| c.is_ascii_digit()) && !line.contains("(c)"));
    Found { version: version.map(|line| line.trim().to_string()), path: tool.path }
}
