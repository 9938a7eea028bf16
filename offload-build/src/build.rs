//! [`Build`], the builder of a build script.

use std::borrow::Borrow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::dispatch;
use crate::error::Error;
use crate::options::{
    Compiler, Definition, Grf, Link, OpenClStd, Options, SpecValue, SpillBudget, Split, SyclState, TargetKind,
};
use crate::report;
use crate::request::{KernelModule, Request};

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
    options: Options,
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
    /// | `.clcpp` | C++ for OpenCL | all but `opencl-c` |
    /// | `.c`, `.cpp`, `.cc`, `.cxx` | C and C++ with `<gpuintrin.h>` | all but `opencl-c` |
    /// | `.cu` | CUDA C++ | `nvptx`, `cubin`, `amdgcn`, `host` |
    /// | `.hip` | HIP C++ | `nvptx`, `cubin`, `amdgcn`, `host` |
    /// | `.syclbin` | a SYCLBIN with one module of SPIR-V | `spirv64`, `intel` |
    ///
    /// Targets that a vendor's language does not support are left out of the module, and recorded as missing in the program.
    pub fn file(&mut self, path: impl AsRef<Path>) -> &mut Build {
        self.files.push(path.as_ref().to_path_buf());
        self
    }

    /// Adds kernel sources.
    pub fn files<P: AsRef<Path>>(&mut self, paths: impl IntoIterator<Item = P>) -> &mut Build {
        self.files.extend(paths.into_iter().map(|path| path.as_ref().to_path_buf()));
        self
    }

    /// Lets the module call the functions of a device library, which a crate below `[dependencies]` exports with
    /// [`Build::export`]. `#include` finds the library's headers.
    ///
    /// ```no_run
    /// offload_build::Build::new().file("kernels/sum.cl").import("bf16").compile("sum");
    /// ```
    ///
    /// The library is compiled for each target of the module, and linked with it; functions that the module does not use
    /// are left out. A function that is missing, or is declared with other types than the library has, is an error.
    pub fn import(&mut self, library: &str) -> &mut Build {
        self.options.imports.push(library.to_string());
        self
    }

    /// Sets when the libraries of [`Build::import`] are linked: when this module is compiled, which is the default, or when
    /// its images are loaded. The crate that exports such a library sets the same before [`Build::export`], which then
    /// compiles and embeds images of it.
    ///
    /// ```no_run
    /// use offload_build::{Build, Link};
    ///
    /// Build::new().file("kernels/sum.cl").import("bf16").link(Link::Load).compile("sum");
    /// ```
    ///
    /// The program has to have the library when it loads an image: as a crate that it mentions, or in any shared library
    /// of the process.
    pub fn link(&mut self, link: Link) -> &mut Build {
        self.options.link = Some(link);
        self
    }

    /// Adds a directory where `#include` looks.
    pub fn include(&mut self, dir: impl AsRef<Path>) -> &mut Build {
        self.options.includes.push(dir.as_ref().to_path_buf());
        self
    }

    /// Defines a macro.
    pub fn define(&mut self, name: &str, value: &str) -> &mut Build {
        self.options.defines.push(Definition { name: name.to_string(), value: value.to_string() });
        self
    }

    /// Adds a flag for clang's front end, which sees it for every target.
    pub fn flag(&mut self, flag: impl AsRef<OsStr>) -> &mut Build {
        self.options.flags.push(flag.as_ref().to_os_string());
        self
    }

    /// Sets the version of OpenCL C; the default is 1.2.
    pub fn std(&mut self, std: OpenClStd) -> &mut Build {
        self.options.std = Some(std);
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

    /// Makes the macro `name` a specialisation constant: a value that the program chooses when it loads the module, with
    /// `request().spec(...)` of the generated Rust, and `default` if it chooses none. The type is that of `default`: `bool`, `i32`,
    /// `u32`, `i64`, `u64`, `f32` or `f64`.
    ///
    /// ```no_run
    /// offload_build::Build::new().file("kernels/blas.cl").spec("TILE", 16).spec("SCALE", 1.5f32).compile("blas");
    /// ```
    ///
    /// SPIR-V and OpenCL C take any value, because drivers compile them. Other images are compiled with the default;
    /// [`Build::variants`] of the same name makes an image for each of its values. In a kernel the constant is an
    /// expression, and neither a size of an array nor a condition of `#if`.
    pub fn spec(&mut self, name: &str, default: impl Into<SpecValue>) -> &mut Build {
        self.options.spec.insert(name.to_string(), default.into());
        self
    }

    /// Cuts the module into several images for each target.
    pub fn split(&mut self, how: Split) -> &mut Build {
        self.options.split = Some(how);
        self
    }

    /// Sets the compiler of CUDA C++ and HIP C++; the default is clang.
    pub fn compiler(&mut self, compiler: Compiler) -> &mut Build {
        self.options.compiler = Some(compiler);
        self
    }

    /// Compiles the module for the targets of these kinds alone, as far as the application has them: for one with inline
    /// assembly, or a kernel that has a purpose on one kind of device.
    ///
    /// ```no_run
    /// use offload_build::{Build, TargetKind};
    ///
    /// Build::new().file("kernels/ptx.cu").only([TargetKind::Nvptx, TargetKind::Cubin]).compile("ptx");
    /// ```
    pub fn only(&mut self, kinds: impl IntoIterator<Item = TargetKind>) -> &mut Build {
        self.options.only.extend(kinds);
        self
    }

    /// Has clang compile CUDA C++ for NVIDIA with the headers of an installed CUDA toolkit; without, common CUDA C++ needs
    /// none. Other targets never see them: NVIDIA licenses them for its own GPUs.
    pub fn cuda_sdk(&mut self) -> &mut Build {
        self.options.cuda_sdk = Some(true);
        self
    }

    /// Sets what `__CUDA_ARCH__` is for CUDA C++ where no GPU of NVIDIA is the target, as 700 for compute capability 7.0;
    /// the default is 800.
    pub fn cuda_arch(&mut self, arch: u32) -> &mut Build {
        self.options.cuda_arch = Some(arch);
        self
    }

    /// Compiles the host functions of CUDA C++ too, those that launch kernels with `<<<...>>>`, and links them into the
    /// program, which calls them through C. The program has `offload-rt` with its feature `launchers`, whose functions
    /// take the place of CUDA's runtime library.
    ///
    /// ```no_run
    /// offload_build::Build::new().file("kernels/scale.cu").launchers().compile("scale");
    /// // In the program: unsafe extern "C" { fn launch_scale(x: *mut f32, n: i32, stream: *mut c_void) -> i32; }
    /// ```
    pub fn launchers(&mut self) -> &mut Build {
        self.options.launchers = Some(true);
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

    /// Keeps a kernel to the targets of these kinds: images for others are without it and what only it uses. For a
    /// kernel with inline assembly beside others that have none.
    ///
    /// ```no_run
    /// use offload_build::{Build, TargetKind};
    ///
    /// Build::new()
    ///     .file("kernels/sort.cu")
    ///     .kernel_targets("sort_with_ptx", [TargetKind::Nvptx, TargetKind::Cubin])
    ///     .compile("sort");
    /// ```
    pub fn kernel_targets(
        &mut self,
        kernel: &str,
        kinds: impl IntoIterator<Item = TargetKind>,
    ) -> &mut Build {
        self.options.kernels.entry(kernel.to_string()).or_default().targets.extend(kinds);
        self
    }

    /// Declares how much of its memory a kernel accesses: its generated method is safe, and refuses arguments with less.
    ///
    /// Each pointer of the kernel has a bound, the number of its elements, by the name of the argument. A bound is made of
    /// the kernel's integer arguments and numbers with `+ - * / %`, parentheses, `min(a, b)` and `max(a, b)`, of
    /// `local_size(0)` and `num_groups(0)` of the range, and of `global_size(0)`, which is one more than the greatest
    /// global id. `shared_memory` is the name of the shared memory of the launch, whose bound is in bytes. A negative
    /// bound is none.
    ///
    /// The settings file has the same as `bounds`, where nothing marks it as unsafe.
    ///
    /// ```no_run
    /// let mut build = offload_build::Build::new();
    /// build.file("kernels/blas.cl");
    /// // SAFETY: `saxpy` compares its id with `n`, and each work-item has an element of its own.
    /// unsafe { build.kernel_bounds("saxpy", [("x", "n"), ("y", "n")]) };
    /// build.compile("blas");
    /// ```
    ///
    /// # Safety
    /// For all ranges and arguments, the kernel and its functions access nothing beyond these elements and their own
    /// variables, and its work-items do not race.
    #[allow(unsafe_code, reason = "the methods that it makes safe rely on it")]
    pub unsafe fn kernel_bounds<'b>(
        &mut self,
        kernel: &str,
        bounds: impl IntoIterator<Item = (&'b str, &'b str)>,
    ) -> &mut Build {
        let options = self.options.kernels.entry(kernel.to_string()).or_default();
        for (argument, bound) in bounds {
            options.bounds.insert(argument.to_string(), bound.to_string());
        }
        self
    }

    /// Sets the registers of a hardware thread on Intel GPUs; the default is [`Grf::Auto`].
    pub fn grf(&mut self, grf: Grf) -> &mut Build {
        self.options.grf = Some(grf);
        self
    }

    /// Sets how many bytes a kernel may spill; by default each spill is a warning.
    ///
    /// ```no_run
    /// use offload_build::{Build, SpillBudget};
    ///
    /// Build::new().file("kernels/blas.cl").max_spills(SpillBudget::AtMost(0)).compile("blas");
    /// ```
    pub fn max_spills(&mut self, budget: SpillBudget) -> &mut Build {
        self.options.max_spills = Some(budget);
        self
    }

    /// Removes symbol table, line tables and `.comment` from images for AMD.
    pub fn strip(&mut self) -> &mut Build {
        self.options.strip = Some(true);
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
        self.options.syclbin = Some(state);
        self
    }

    /// Adds a SPIR-V file to the SYCLBIN as a module of its own, and to nothing else: it may import symbols, or export
    /// them to modules that it is linked with when they are loaded.
    pub fn syclbin_library(&mut self, path: impl AsRef<Path>) -> &mut Build {
        self.options.syclbin_libraries.push(path.as_ref().to_path_buf());
        self
    }

    /// Compiles and embeds the kernels as the module `name`; on failure shows the error and ends the build script
    /// and the build.
    pub fn compile(&self, name: &str) {
        if let Err(error) = self.try_compile(name) {
            report::exit_with(&error);
        }
    }

    /// Compiles and embeds the kernels as the module `name`.
    ///
    /// Several modules are better compiled by [`compile_all`](crate::compile_all): each call makes a pack of its own.
    ///
    /// # Errors
    /// If the configuration is wrong, a tool is missing, a kernel does not compile, or an image is not what it
    /// should be.
    pub fn try_compile(&self, name: &str) -> Result<(), Error> {
        dispatch::run(Request::Module(self.module(name)))
    }

    /// Exports the functions of the files as the device library `name`; on failure shows the error and ends the build
    /// script and the build.
    ///
    /// `headers` is the folder with the headers that importers include, relative to the crate's Cargo.toml. Functions that
    /// no header names stay the library's own. The manifest needs a key `links`, by which cargo tells crates that depend on
    /// this one where the library is. Nothing is embedded unless [`Build::link`] asks for it: images are made where kernels
    /// call the functions.
    ///
    /// ```no_run
    /// // Cargo.toml has `links = "bf16-device"` below [package].
    /// offload_build::Build::new().file("device/bf16.cl").include("include").export("bf16", "include");
    /// ```
    pub fn export(&self, name: &str, headers: impl AsRef<Path>) {
        if let Err(error) = self.try_export(name, headers) {
            report::exit_with(&error);
        }
    }

    /// As [`Build::export`], for build scripts that handle errors themselves.
    ///
    /// # Errors
    /// If the manifest has no key `links`, there is no header, a source does not compile for one of the targets, or the
    /// configuration is wrong.
    pub fn try_export(&self, name: &str, headers: impl AsRef<Path>) -> Result<(), Error> {
        dispatch::run(Request::Library { module: self.module(name), headers: headers.as_ref() })
    }

    #[cfg(feature = "compiler")]
    pub(crate) fn from_parts(files: Vec<PathBuf>, options: Options) -> Build {
        Build { files, options }
    }

    pub(crate) fn module<'a>(&'a self, name: &'a str) -> KernelModule<'a> {
        KernelModule { name, files: &self.files, options: &self.options }
    }
}

/// Compiles several kernel modules into one pack; on failure shows the error and ends the build script and the
/// build.
///
/// Modules that resemble each other share their bytes only within a pack. The program includes each by its name, as
/// after [`Build::compile`].
///
/// ```no_run
/// use offload_build::Build;
///
/// offload_build::compile_all([
///     ("blas", Build::new().file("kernels/blas.cl")),
///     ("stats", Build::new().file("kernels/stats.cl").define("BINS", "64")),
/// ]);
/// ```
pub fn compile_all<'n, B: Borrow<Build>>(modules: impl IntoIterator<Item = (&'n str, B)>) {
    if let Err(error) = try_compile_all(modules) {
        report::exit_with(&error);
    }
}

/// As [`compile_all`], for build scripts that handle errors themselves.
///
/// # Errors
/// As [`Build::try_compile`]; or if two modules have the same name.
pub fn try_compile_all<'n, B: Borrow<Build>>(
    modules: impl IntoIterator<Item = (&'n str, B)>,
) -> Result<(), Error> {
    let builds: Vec<(&str, B)> = modules.into_iter().collect();
    let modules: Vec<KernelModule<'_>> =
        builds.iter().map(|(name, build)| build.borrow().module(name)).collect();
    dispatch::run(Request::Package(&modules))
}

#[cfg(test)]
#[cfg(feature = "compiler")]
mod tests {
    use super::*;
    use crate::settings;

    const FILE: &str = r#"
[module]
only = ["nvptx", "cubin"]
compiler = "nvcc"
split = "kernel"
cuda-sdk = true
cuda-arch = 700
launchers = true
strip = true
std = "3.0"
includes = ["inc"]
defines = { TILE = 16 }
flags = ["-O1"]
variants = { N = [1, 2] }
spec = { WIDTH = { uint = 16 }, SCALE = { float = 1.5 } }
max-registers = 64
grf = "large"
max-spills = 0
kernels = { saxpy = { max-registers = 32, targets = ["cubin"], bounds = { x = "n", y = 4 } } }
syclbin = "executable"
syclbin-libraries = ["library.spv"]
imports = ["bf16"]
link = "load"
"#;

    #[test]
    fn the_builder_and_the_file_say_the_same() {
        let mut build = Build::new();
        build
            .compiler(Compiler::Nvcc)
            .split(Split::Kernel)
            .cuda_sdk()
            .launchers()
            .strip()
            .std(OpenClStd::C30);
        build.cuda_arch(700).only([TargetKind::Nvptx, TargetKind::Cubin]);
        build.spec("WIDTH", 16u32).spec("SCALE", 1.5f32);
        build.include("inc").define("TILE", "16").flag("-O1").variants("N", [1, 2]);
        build.max_registers(64).kernel_max_registers("saxpy", 32);
        build.kernel_targets("saxpy", [TargetKind::Cubin]);
        // SAFETY: nothing is launched.
        #[allow(unsafe_code, reason = "declares bounds")]
        unsafe {
            build.kernel_bounds("saxpy", [("x", "n"), ("y", "4")])
        };
        build.grf(Grf::Large).max_spills(SpillBudget::AtMost(0));
        build.syclbin(SyclState::Executable).syclbin_library("library.spv").import("bf16").link(Link::Load);
        let of_file = settings::read(FILE, |table| Options::read(table.required("module")?)).unwrap();
        assert_eq!(build.options, of_file);
        let mut left_out = Vec::new();
        for key in Options::KEYS {
            if !FILE.lines().any(|line| line.starts_with(&format!("{key} = "))) {
                left_out.push(key);
            }
        }
        // What a release needs is for `cargo offload verify` alone.
        assert_eq!(left_out, ["require"]);
    }
}
