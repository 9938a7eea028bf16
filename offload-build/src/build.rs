//! What a build script says: [`Build`].

use std::path::{Path, PathBuf};

use offload_containers::syclbin::State as SyclState;
use offload_format::Variant;

use crate::compile::Sources;
use crate::config::Config;
use crate::embed;
use crate::env;
use crate::error::{Error, Result};
use crate::flow;
use crate::options::{Compiler, Options, Split};
use crate::source::SourceFile;
use crate::syclbin;

/// Compiles kernel sources and embeds the images; a builder in the manner of `cc::Build`.
///
/// All files of one `Build` form one kernel module. Flags reach the compiler in this order, later ones winning:
/// what the target needs, the language, include directories, definitions, [`Build::flag`].
///
/// ```no_run
/// offload_build::Build::new()
///     .file("kernels/blas.cl")
///     .file("kernels/stats.cl")
///     .include("kernels")
///     .define("TILE", "16")
///     .compile("demo");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Build {
    files: Vec<PathBuf>,
    includes: Vec<PathBuf>,
    defines: Vec<String>,
    flags: Vec<String>,
    std: OpenClStd,
    options: Options,
    syclbin: Option<SyclState>,
    syclbin_libraries: Vec<PathBuf>,
}

/// A version of OpenCL C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenClStd {
    /// OpenCL C 1.2, which every device takes.
    #[default]
    C12,
    /// OpenCL C 2.0.
    C20,
    /// OpenCL C 3.0.
    C30,
}

impl Build {
    /// A build without files.
    pub fn new() -> Build {
        Build::default()
    }

    /// Adds a kernel source; the path is relative to the crate's Cargo.toml.
    ///
    /// The extension tells the language:
    ///
    /// | extension | language | targets |
    /// |---|---|---|
    /// | `.cl` | OpenCL C | all |
    /// | `.clcpp` | C++ for OpenCL | all but `host` and `opencl-c` |
    /// | `.c`, `.cpp`, `.cc`, `.cxx` | C and C++ with `<gpuintrin.h>` | all but `host` and `opencl-c` |
    /// | `.cu` | CUDA C++ | `nvptx`, `cubin` |
    /// | `.hip` | HIP C++ | `amdgcn` |
    /// | `.syclbin` | a SYCLBIN with one module of SPIR-V | `spirv64`, `intel` |
    ///
    /// Targets that a language of one vendor cannot serve are left out of the module; the program is told so.
    pub fn file(&mut self, path: impl AsRef<Path>) -> &mut Build {
        self.files.push(path.as_ref().to_path_buf());
        self
    }

    /// Adds kernel sources.
    pub fn files<P: AsRef<Path>>(&mut self, paths: impl IntoIterator<Item = P>) -> &mut Build {
        self.files.extend(paths.into_iter().map(|path| path.as_ref().to_path_buf()));
        self
    }

    /// Adds a directory where `#include` looks.
    pub fn include(&mut self, dir: impl AsRef<Path>) -> &mut Build {
        self.includes.push(dir.as_ref().to_path_buf());
        self
    }

    /// Defines a macro.
    pub fn define(&mut self, name: &str, value: &str) -> &mut Build {
        self.defines.push(format!("-D{name}={value}"));
        self
    }

    /// Adds a flag for clang's front end, which sees it for every target.
    pub fn flag(&mut self, flag: &str) -> &mut Build {
        self.flags.push(flag.to_string());
        self
    }

    /// Chooses the version of OpenCL C; 1.2 unless said.
    pub fn std(&mut self, std: OpenClStd) -> &mut Build {
        self.std = std;
        self
    }

    /// Makes a module for each of `values`, with the macro `name` defined as that value; with several names one for
    /// each combination. The program looks a variant up by its values.
    ///
    /// ```no_run
    /// offload_build::Build::new()
    ///     .file("kernels/attention.cl")
    ///     .variants("HEAD_DIM", [64, 128, 256])
    ///     .variants("T", ["half", "float"])
    ///     .compile("attention");
    /// ```
    pub fn variants<V: std::fmt::Display>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = V>,
    ) -> &mut Build {
        let values = values.into_iter().map(|value| value.to_string()).collect();
        self.options.variants.insert(name.to_string(), values);
        self
    }

    /// Cuts the module into several images for each target.
    pub fn split(&mut self, how: Split) -> &mut Build {
        self.options.split = Some(how);
        self
    }

    /// Chooses the compiler of CUDA C++ and HIP C++; clang unless said.
    pub fn compiler(&mut self, compiler: Compiler) -> &mut Build {
        self.options.compiler = Some(compiler);
        self
    }

    /// Has clang compile CUDA C++ with the headers of an installed CUDA toolkit; without, common CUDA C++ needs none.
    pub fn cuda_sdk(&mut self) -> &mut Build {
        self.options.cuda_sdk = Some(true);
        self
    }

    /// Limits the registers of a work-item, for NVIDIA (registers) and AMD (VGPRs): more work-items at once, maybe
    /// with spills.
    pub fn max_registers(&mut self, count: u32) -> &mut Build {
        self.options.max_registers = Some(count);
        self
    }

    /// As [`Build::max_registers`], for one kernel.
    pub fn kernel_max_registers(&mut self, kernel: &str, count: u32) -> &mut Build {
        self.options.kernels.entry(kernel.to_string()).or_default().max_registers = Some(count);
        self
    }

    /// Also writes the module as a SYCLBIN, `NAME.syclbin` in `OUT_DIR`, from which SYCL programs load kernels.
    ///
    /// It holds the SPIR-V, whose kernels get the prefix `__sycl_kernel_` that SYCL looks for. An executable also holds
    /// native images of kernels that have the prefix in the source already: the first for Intel, NVIDIA and AMD GPUs
    /// each. A runtime takes the first that fits whatever the architecture is, so that every other one is a file of its
    /// own, `NAME-ARCH.syclbin`. Objects and inputs list what the SPIR-V imports and exports. Where kernels are not
    /// compiled (`OFFLOAD_SKIP`, clippy) the file has no module.
    ///
    /// ```no_run
    /// use offload_build::{Build, SyclState};
    ///
    /// Build::new().file("kernels/blas.cl").syclbin(SyclState::Executable).compile("blas");
    /// // In the program: include_bytes!(concat!(env!("OUT_DIR"), "/blas.syclbin"))
    /// ```
    pub fn syclbin(&mut self, state: SyclState) -> &mut Build {
        self.syclbin = Some(state);
        self
    }

    /// Adds a SPIR-V file to the SYCLBIN as a module of its own, and to nothing else: it may import symbols, or export
    /// them to modules that it is linked with when they are loaded.
    pub fn syclbin_library(&mut self, path: impl AsRef<Path>) -> &mut Build {
        self.syclbin_libraries.push(path.as_ref().to_path_buf());
        self
    }

    /// Compiles and embeds the kernels as the module `name`; on failure shows the error and ends the build script
    /// with exit code 1.
    pub fn compile(&self, name: &str) {
        if let Err(error) = self.try_compile(name) {
            env::exit_with(&error);
        }
    }

    /// Compiles and embeds the kernels as the module `name`.
    ///
    /// Several modules are better compiled by [`compile_all`](crate::compile_all): each call makes a pack of its own.
    ///
    /// # Errors
    /// If the configuration is wrong, a tool is missing, a kernel does not compile, or an image is not what it
    /// should be.
    pub fn try_compile(&self, name: &str) -> std::result::Result<(), Error> {
        flow::run(&[(name, self)], embed::Owner::Module(name))
    }

    /// The SYCLBIN that is asked for.
    pub(crate) fn wanted_syclbin(&self) -> Option<syclbin::Wanted> {
        let libraries = self.syclbin_libraries.clone();
        self.syclbin.map(|state| syclbin::Wanted { state, libraries })
    }

    /// The sources once for each variant.
    pub(crate) fn variants_of(&self, name: &str, config: &Config) -> Result<Vec<Sources>> {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(legal) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Error::new(format!("`{}` cannot name a kernel module", name.escape_default()))
                .with_hint("use letters, digits, `_` and `-`, with a letter first"));
        }
        if self.files.is_empty() {
            return Err(Error::new(format!("the kernel module `{name}` has no files"))
                .with_hint("add `.file(\"kernel.cl\")`"));
        }
        let options = config.options(name, &self.options);
        options.check()?;
        let files = self.files.iter().map(|path| SourceFile::new(path)).collect::<Result<Vec<_>>>()?;
        let sources = |variant: Variant| Sources {
            module: name.to_string(),
            files: files.clone(),
            std: self.std.flag(),
            flags: self.all_flags(&variant, &options),
            options: options.clone(),
            variant,
        };
        Ok(options.combinations()?.into_iter().map(sources).collect())
    }

    fn all_flags(&self, variant: &Variant, options: &Options) -> Vec<String> {
        let includes = self.includes.iter().map(|dir| format!("-I{}", dir.display()));
        let values = variant.iter().map(|(name, value)| format!("-D{name}={value}"));
        let given = self.defines.iter().chain(&self.flags).chain(&options.flags).cloned();
        includes.chain(values).chain(given).collect()
    }
}

impl OpenClStd {
    fn flag(self) -> &'static str {
        match self {
            OpenClStd::C12 => "CL1.2",
            OpenClStd::C20 => "CL2.0",
            OpenClStd::C30 => "CL3.0",
        }
    }
}
