//! The tools of this machine, for programs that are no build script.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use offload_files::TemporaryName;
use offload_format::{HostLevel, Target};
use offload_protocol::variable;

use super::libclc::{LIBCLC_AMD, LIBCLC_NVIDIA};
use super::search::Candidates;
use super::{Tools, remedy};
use crate::env::{CargoEnv, temporary_directory};
use crate::error::Error;
use crate::fs;
use crate::tool::{Context, Invocation, Tool};

/// The tools that a build script of a package in some directory would find.
///
/// ```
/// use offload_build::shared::toolchain::{Component, Toolchain};
///
/// let toolchain = Toolchain::for_directory(".".as_ref()).unwrap();
/// match toolchain.find(Component::Clang) {
///     Ok(clang) => println!("{}", clang.path.display()),
///     Err(error) => println!("{}; {}", error.message(), error.hint().unwrap_or_default()),
/// }
/// ```
#[derive(Debug)]
pub struct Toolchain {
    context: Context,
    /// Stands for a build script's `OUT_DIR`.
    _scratch: TemporaryName,
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
    /// The headers of a CUDA toolkit, as its directory.
    CudaSdk,
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
    /// The simulator of an OpenCL device that watches what kernels do.
    Oclgrind,
    /// NVIDIA's program that watches what kernels do on a GPU.
    ComputeSanitizer,
}

/// Where a component is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolLocation {
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
    pub fn for_directory(directory: &Path) -> Result<Toolchain, Error> {
        let scratch = fs::scratch(&temporary_directory())?;
        Ok(Toolchain { context: Context::for_machine(directory, scratch.path())?, _scratch: scratch })
    }

    /// The folder into which `cargo offload toolchain install` unpacks compilers, and in which build scripts of packages
    /// in `directory` look for them last. There need be no such folder.
    pub fn folder(directory: &Path) -> Option<PathBuf> {
        CargoEnv::for_machine(directory, directory).toolchain_folder()
    }

    /// Where `component` is.
    ///
    /// # Errors
    /// It is not installed, or too old: [`Error::message`] says where it was looked for, and [`Error::hint`] how to
    /// install it on this system.
    pub fn find(&self, component: Component) -> Result<ToolLocation, Error> {
        find(&Tools::new(&self.context), component)
    }

    /// Whether the release of clang that is found has code for `target`.
    ///
    /// # Errors
    /// It has not, and the message names the release that has; or there is no clang.
    pub fn compiles_for(&self, target: &Target) -> Result<(), Error> {
        Tools::new(&self.context).llvm()?.compiles_for(target)
    }

    /// The same tools, which also look for their libraries in `directory`.
    #[must_use]
    pub fn with_libraries(mut self, directory: &Path) -> Toolchain {
        self.context.libraries = Some(directory.to_path_buf());
        self
    }

    /// Runs `program` with a build's environment and waits for it.
    ///
    /// # Errors
    /// If it cannot be started or does not exit with 0; the message has all that it printed.
    pub fn run(&self, program: &Path, args: &[OsString], directory: &Path) -> Result<Output, Error> {
        let invocation = Invocation { program, args: args.to_vec(), directory, input: None };
        let printed = self.context.run(&invocation)?;
        Ok(Output { stdout: printed.stdout, stderr: printed.stderr })
    }
}

fn find(tools: &Tools<'_>, component: Component) -> Result<ToolLocation, Error> {
    match component {
        Component::Clang => tools.llvm().map(|llvm| location(llvm.clang.clone())),
        Component::LlvmLink => tools.llvm_link().map(location),
        Component::Lld => tools.lld().map(location),
        Component::LibclcNvidia => tools.readable_libclc(&LIBCLC_NVIDIA).map(without_version),
        Component::LibclcAmd => tools.readable_libclc(&LIBCLC_AMD).map(without_version),
        Component::Libdevice => tools.libdevice().map(without_version),
        Component::Ptxas => tools.ptxas().map(location),
        Component::Ocloc => tools.ocloc().map(location),
        Component::Pocl => tools.pocl(HostLevel::Baseline).map(|pocl| without_version(pocl.library)),
        Component::SpirvVal => tools.find_spirv_val().map(location),
        Component::Nvcc => tools.nvcc().map(location),
        Component::CudaSdk => tools.cuda_sdk().map(without_version),
        Component::Hipcc => tools.hipcc().map(location),
        Component::Icpx => tools.icpx().map(location),
        Component::LlvmObjdump => {
            let candidates = Candidates::objdump(&tools.context.env);
            first_of(tools, "llvm-objdump", &candidates, remedy::llvm)
        }
        Component::Nvdisasm => {
            let candidates = Candidates::cuda(&tools.context.env, variable::NVDISASM, &["bin/nvdisasm"]);
            first_of(tools, "nvdisasm", &candidates, remedy::nvdisasm)
        }
        Component::SpirvDis => {
            let candidates = Candidates::named(&tools.context.env, "spirv-dis", variable::SPIRV_DIS);
            first_of(tools, "spirv-dis", &candidates, remedy::spirv_tools)
        }
        Component::Oclgrind => {
            let candidates = Candidates::named(&tools.context.env, "oclgrind", variable::OCLGRIND);
            first_of(tools, "oclgrind", &candidates, remedy::oclgrind)
        }
        Component::ComputeSanitizer => {
            // Toolkits have a script in `bin`; Python's package has the program's folder alone.
            let files = ["bin/compute-sanitizer", "compute-sanitizer/compute-sanitizer"];
            let candidates = Candidates::cuda(&tools.context.env, variable::COMPUTE_SANITIZER, &files);
            first_of(tools, "compute-sanitizer", &candidates, remedy::compute_sanitizer)
        }
    }
}

/// A program that no build runs: `cargo offload` does.
fn first_of(
    tools: &Tools<'_>,
    name: &str,
    candidates: &Candidates,
    remedy: fn() -> String,
) -> Result<ToolLocation, Error> {
    let Some(path) = candidates.first() else {
        return Err(candidates.error(&tools.context.env, name, &[]).with_hint(remedy()));
    };
    Ok(without_version(path.into()))
}

fn without_version(path: PathBuf) -> ToolLocation {
    ToolLocation { path, version: None }
}

fn location(tool: Tool) -> ToolLocation {
    // NVIDIA's tools start with their name and licence.
    let version =
        tool.version.lines().find(|line| line.chars().any(|c| c.is_ascii_digit()) && !line.contains("(c)"));
    ToolLocation { version: version.map(|line| line.trim().to_string()), path: tool.path }
}
