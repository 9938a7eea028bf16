//! Environment variables that this project reads: names, readers, meanings.
//!
//! This is the only definition of each name; no function here reads a variable. The table in the book,
//! `docs/environment.md`, is generated from [`ALL`]. Variables that cargo sets for build scripts, such as `OUT_DIR`, are
//! not listed (<https://doc.rust-lang.org/cargo/reference/environment-variables.html>).
//!
//! ```
//! use offload_protocol::variable::{ALL, CONFIG, Reader};
//!
//! let config = ALL.iter().find(|variable| variable.name == CONFIG).unwrap();
//! assert!(config.readers.contains(&Reader::BuildScript));
//! ```

/// An environment variable.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub purpose: Purpose,
    /// Its readers.
    pub readers: &'static [Reader],
    /// Its meaning and default, in Markdown.
    pub meaning: &'static str,
}

/// The purpose of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Purpose {
    /// Configuration of builds.
    Build,
    /// The location of a tool: a path, or a name in `PATH`.
    Tool,
    /// Location and limits of the compile cache.
    Cache,
    /// Set by `cargo offload` for build scripts and tests.
    Handed,
    /// Configuration of programs at run time.
    Program,
    /// Output of `cargo offload`.
    Printing,
    /// A variable of another program or of the system.
    System,
    /// Passed on to compilers. They get no other variable, because any could affect their output.
    Compiler,
}

/// A reader of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reader {
    /// `offload-build`, in a build script.
    BuildScript,
    /// `offload-rt`, in a program.
    Program,
    /// `cargo offload`.
    Subcommand,
    /// A driver that a program uses.
    Driver,
    /// A compiler that a build script starts.
    Compiler,
}

/// Declares each variable once: a constant with its name, and its row of [`ALL`].
macro_rules! variables {
    ($($constant:ident = $name:literal, $purpose:ident, [$($reader:ident),+], $meaning:literal;)+) => {
        $(#[doc = $meaning] pub const $constant: &str = $name;)+

        /// Every variable, in the order of the book.
        pub const ALL: &[Variable] = &[$(Variable {
            name: $name,
            purpose: Purpose::$purpose,
            readers: &[$(Reader::$reader),+],
            meaning: $meaning,
        }),+];
    };
}

variables! {
    CONFIG = "OFFLOAD_CONFIG", Build, [BuildScript, Subcommand],
        "the file with settings, in place of `offload.toml`";
    WORKSPACE = "OFFLOAD_WORKSPACE", Build, [BuildScript, Subcommand],
        "the directory of the workspace that is built, for dependencies whose target directory lies elsewhere";
    TARGETS = "OFFLOAD_TARGETS", Build, [BuildScript], "targets, separated by commas, in place of those in the file";
    COMPRESSION = "OFFLOAD_COMPRESSION", Build, [BuildScript], "a mode or a level, in place of `compression` in the file";
    EMBED = "OFFLOAD_EMBED", Build, [BuildScript], "in place of `embed` in the file";
    VENDORED = "OFFLOAD_VENDORED", Build, [BuildScript], "in place of `vendored` in the file";
    OPTIONAL = "OFFLOAD_OPTIONAL", Build, [BuildScript],
        "`1`: every target is optional, as if each had `optional = true`";
    SKIP = "OFFLOAD_SKIP", Build, [BuildScript], "`1`: compile no kernels; the program says so at run time";
    CHECK = "OFFLOAD_CHECK", Build, [BuildScript],
        "`1`: run the front end only, for its errors and warnings, and only warn where a compiler is missing; `cargo offload check` sets it";
    SANITIZE = "OFFLOAD_SANITIZE", Build, [BuildScript, Program],
        "`1`: kernels for `host` are instrumented, and a launch fails at an invalid access or barrier; `cargo offload test --sanitize` sets it";
    TOOL_TIMEOUT = "OFFLOAD_TOOL_TIMEOUT", Build, [BuildScript],
        "after how many seconds a compiler is stopped; 3600 unless set, `0`: never";
    REMOTE = "OFFLOAD_REMOTE", Build, [BuildScript, Subcommand],
        "the URL of the remote cache, in place of `url` in the table `remote` of the file; `0`: none";
    OBJECT = "OFFLOAD_OBJECT", Build, [BuildScript], "`cc`: assemble the object with the C compiler instead of writing it";

    CLANG = "OFFLOAD_CLANG", Tool, [BuildScript, Subcommand], "clang of LLVM 19 or later; some targets need 20 or 22";
    LLVM_LINK = "OFFLOAD_LLVM_LINK", Tool, [BuildScript, Subcommand], "LLVM's linker of bitcode";
    LLD = "OFFLOAD_LLD", Tool, [BuildScript, Subcommand], "LLVM's linker, for AMD GPUs";
    STRIP = "OFFLOAD_STRIP", Tool, [BuildScript], "llvm-strip";
    OCLOC = "OFFLOAD_OCLOC", Tool, [BuildScript, Subcommand], "Intel's offline compiler";
    PTXAS = "OFFLOAD_PTXAS", Tool, [BuildScript, Subcommand], "NVIDIA's assembler";
    SPIRV_VAL = "OFFLOAD_SPIRV_VAL", Tool, [BuildScript, Subcommand], "the validator of SPIR-V";
    NVCC = "OFFLOAD_NVCC", Tool, [BuildScript, Subcommand], "NVIDIA's compiler of CUDA C++";
    HIPCC = "OFFLOAD_HIPCC", Tool, [BuildScript, Subcommand], "AMD's compiler of HIP C++";
    ICPX = "OFFLOAD_ICPX", Tool, [BuildScript, Subcommand], "Intel's compiler of SYCL C++";
    OBJDUMP = "OFFLOAD_OBJDUMP", Tool, [Subcommand], "llvm-objdump, with which `asm` shows code for AMD GPUs and CPUs";
    NVDISASM = "OFFLOAD_NVDISASM", Tool, [Subcommand], "nvdisasm, with which `asm` shows cubins";
    SPIRV_DIS = "OFFLOAD_SPIRV_DIS", Tool, [Subcommand], "spirv-dis, with which `asm` shows SPIR-V";
    OCLGRIND = "OFFLOAD_OCLGRIND", Tool, [Subcommand],
        "Oclgrind, on which `test --sanitize` runs kernels in OpenCL C";
    COMPUTE_SANITIZER = "OFFLOAD_COMPUTE_SANITIZER", Tool, [Subcommand],
        "NVIDIA's compute-sanitizer, under which `test --sanitize` runs kernels on NVIDIA GPUs";
    NVIDIA_SMI = "OFFLOAD_NVIDIA_SMI", Tool, [BuildScript], "the tool that lists NVIDIA GPUs, for the target `native`";
    POCL_DIR = "OFFLOAD_POCL_DIR", Tool, [BuildScript, Subcommand], "directory of PoCL's function library, for `host`";
    LIBCLC_DIR = "OFFLOAD_LIBCLC_DIR", Tool, [BuildScript, Subcommand], "directory of libclc, for NVIDIA and AMD";
    LIBDEVICE = "OFFLOAD_LIBDEVICE", Tool, [BuildScript, Subcommand], "file of NVIDIA's library of mathematics";
    CUDA_SDK = "OFFLOAD_CUDA_SDK", Tool, [BuildScript, Subcommand],
        "root of the CUDA toolkit whose headers `cuda-sdk = true` shows to clang";
    TOOLCHAIN = "OFFLOAD_TOOLCHAIN", Tool, [BuildScript, Subcommand],
        "the folder of `cargo offload toolchain install`, where tools are looked for last";
    CARGO_OFFLOAD = "OFFLOAD_CARGO_OFFLOAD", Tool, [BuildScript, Subcommand],
        "the `cargo-offload` that reaches other machines, and that compiles for build scripts without a compiler; the one in `PATH` unless set. `cargo offload` sets it";
    CUDA_PATH = "CUDA_PATH", Tool, [BuildScript, Subcommand], "where CUDA is installed";
    CUDA_HOME = "CUDA_HOME", Tool, [BuildScript, Subcommand], "the same, looked at after `CUDA_PATH`";
    ROCM_PATH = "ROCM_PATH", Tool, [BuildScript, Subcommand], "where ROCm is installed";
    CMPLR_ROOT = "CMPLR_ROOT", Tool, [BuildScript, Subcommand], "where oneAPI's compiler is installed";

    CACHE_DIR = "OFFLOAD_CACHE_DIR", Cache, [BuildScript, Program, Subcommand],
        "directory of the compile cache; `cargo-offload` in the user's cache directory unless set. Programs of development builds read large packs from it";
    CACHE_SIZE = "OFFLOAD_CACHE_SIZE", Cache, [BuildScript],
        "how large it may grow: bytes, or with `K`, `M`, `G`; `5G` unless set, `0`: no limit";
    CACHE_AGE = "OFFLOAD_CACHE_AGE", Cache, [BuildScript],
        "how many days an unused result stays; 90 unless set, `0`: no limit";

    RUN_ID = "OFFLOAD_RUN_ID", Handed, [Subcommand],
        "the runs of `cargo offload` that a process belongs to, separated by colons: on Linux it ends with each of them";
    BUILD_SCRIPT = "OFFLOAD_BUILD_SCRIPT", Handed, [Subcommand],
        "the build script that `cargo-offload` compiles for; a build script without a compiler sets it";
    CARGO_DIRECTORY = "OFFLOAD_CARGO_DIRECTORY", Handed, [Subcommand],
        "where cargo runs, for `cargo-offload` that compiles for a build script";
    PROGRESS = "OFFLOAD_PROGRESS", Handed, [BuildScript], "a file to which a line is appended for each compile";
    VENDOR_DIR = "OFFLOAD_VENDOR_DIR", Handed, [BuildScript], "where `cargo offload vendor` wants images";
    RELOAD_PACKS = "OFFLOAD_RELOAD_PACKS", Handed, [BuildScript],
        "the folder into which `cargo offload dev` wants changed kernels, in place of what a program links";
    RELOAD_DIR = "OFFLOAD_RELOAD_DIR", Handed, [Program],
        "the folder from which a program takes changed kernels while it runs, if `offload-rt` was compiled with debug assertions; `cargo offload dev` sets it";
    TEST_RESULTS = "OFFLOAD_TEST_RESULTS", Handed, [Program],
        "a file to which a kernel test or benchmark appends how it goes: an object of JSON a line";
    TEST_RUN = "OFFLOAD_TEST_RUN", Handed, [Subcommand],
        "the directory in which `cargo offload test` keeps what its tests run on and how they end";

    PACK_DIR = "OFFLOAD_PACK_DIR", Program, [Program], "a directory that is searched for sidecars before the program's own";
    DECODE_THREADS = "OFFLOAD_DECODE_THREADS", Program, [Program],
        "the number of threads that decode and check one image of 4 MiB or more; unless set, that of the processors that the program may use";
    OPENCL_DYLIB_PATH = "OPENCL_DYLIB_PATH", Program, [Program], "other OpenCL libraries, separated by `;`";
    PEER_ACCESS = "OFFLOAD_PEER_ACCESS", Program, [Program],
        "`0`: no GPU uses another's memory, and copies between them go through the program's: for machines that are set up wrong, as `NCCL_P2P_DISABLE`";
    TEST_DEVICE = "OFFLOAD_TEST_DEVICE", Program, [Program],
        "which devices kernel tests and benchmarks use, separated by commas: a driver (`host`, `opencl`, `cuda`, `hip`), one of its devices (`opencl:1`), or a part of a device's name; all unless set. `cargo offload test` and `bench` set it";
    CUDA_VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES", Program, [Driver], "CUDA's own: which devices the driver shows";
    HIP_VISIBLE_DEVICES = "HIP_VISIBLE_DEVICES", Program, [Driver], "ROCm's own: which devices HIP's runtime shows";
    ROCR_VISIBLE_DEVICES = "ROCR_VISIBLE_DEVICES", Program, [Driver], "the same for all of ROCm";

    TERM_COLOR = "CARGO_TERM_COLOR", Printing, [Subcommand], "cargo's own: when to use colours";
    TERM_PROGRESS_WHEN = "CARGO_TERM_PROGRESS_WHEN", Printing, [Subcommand], "cargo's own: when to draw a bar";
    TERM_PROGRESS_WIDTH = "CARGO_TERM_PROGRESS_WIDTH", Printing, [Subcommand],
        "cargo's own: `cargo offload` sets it for the cargo that it runs";
    TERM_QUIET = "CARGO_TERM_QUIET", Printing, [Subcommand], "cargo's own: `true`: print less";
    TERM_VERBOSE = "CARGO_TERM_VERBOSE", Printing, [BuildScript, Subcommand],
        "cargo's own: `true`: print more, also the compiler's command below an error in a kernel";
    TERM = "TERM", Printing, [Subcommand], "`dumb`: no bar";
    NO_COLOR = "NO_COLOR", Printing, [BuildScript], "no colours in errors";
    SOURCE_DATE_EPOCH = "SOURCE_DATE_EPOCH", Printing, [Subcommand],
        "seconds since 1970: the date on the page of `report --html`, in place of that of the file";

    CARGO = "CARGO", System, [BuildScript, Subcommand], "the cargo that runs; cargo sets it";
    RUSTC = "RUSTC", System, [BuildScript],
        "the compiler whose component `llvm-tools` has `llvm-link` where LLVM has none; cargo sets it";
    DOCS_RS = "DOCS_RS", System, [BuildScript], "docs.rs sets it: no kernels are compiled";
    RA_RUSTC_WRAPPER = "RA_RUSTC_WRAPPER", System, [BuildScript], "rust-analyzer sets it: no kernels are compiled";
    CLIPPY_ARGS = "CLIPPY_ARGS", System, [BuildScript], "clippy sets it: no kernels are compiled";
    VIRTUAL_ENV = "VIRTUAL_ENV", System, [BuildScript, Subcommand], "where packages of Python are looked for first";
    XDG_DATA_HOME = "XDG_DATA_HOME", System, [BuildScript, Subcommand],
        "where the folder of `toolchain install` is, unless `OFFLOAD_TOOLCHAIN` names it; `~/.local/share` unless set";
    XDG_CACHE_HOME = "XDG_CACHE_HOME", System, [BuildScript, Program, Subcommand],
        "where the cache is, unless `OFFLOAD_CACHE_DIR` names it; `~/.cache` unless set";
    LOCALAPPDATA = "LOCALAPPDATA", System, [BuildScript, Program, Subcommand], "the same on Windows";
    AWS_REGION = "AWS_REGION", System, [Subcommand],
        "AWS's own: where the bucket of `s3://` is, unless `region` in the table `remote` says so";
    AWS_DEFAULT_REGION = "AWS_DEFAULT_REGION", System, [Subcommand], "the same, looked at after `AWS_REGION`";
    AWS_ENDPOINT_URL_S3 = "AWS_ENDPOINT_URL_S3", System, [Subcommand],
        "AWS's own: which server has the bucket of `s3://`, unless `endpoint` in the table `remote` says so";
    AWS_ENDPOINT_URL = "AWS_ENDPOINT_URL", System, [Subcommand], "the same, looked at after `AWS_ENDPOINT_URL_S3`";
    OCL_ICD_VENDORS = "OCL_ICD_VENDORS", System, [Program],
        "OpenCL's loaders' own: the folder that registers drivers, or a file there; `/etc/OpenCL/vendors` unless set";
    PWD = "PWD", System, [BuildScript], "where cargo was started: paths in errors are relative to it";

    PATH = "PATH", Compiler, [BuildScript, Subcommand, Compiler], "where tools are looked for; only its absolute directories count";
    HOME = "HOME", Compiler, [BuildScript, Program, Subcommand, Compiler],
        "the user's directory, where the variables `XDG_...` are not set";
    USERPROFILE = "USERPROFILE", Compiler, [Compiler], "the user's directory on Windows";
    TMPDIR = "TMPDIR", Compiler, [BuildScript, Compiler], "where temporary files go";
    TEMP = "TEMP", Compiler, [BuildScript, Compiler], "the same on Windows";
    SYSTEMROOT = "SYSTEMROOT", Compiler, [Compiler], "where Windows is";
    LD_LIBRARY_PATH = "LD_LIBRARY_PATH", Compiler, [Compiler], "where compilers find their libraries";
    DYLD_LIBRARY_PATH = "DYLD_LIBRARY_PATH", Compiler, [Compiler], "the same on macOS";
    LC_ALL = "LC_ALL", Compiler, [Compiler], "always `C`, whatever its value: messages are in English";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = ALL.iter().map(|variable| variable.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }

    #[test]
    fn the_table_goes_by_purpose() {
        assert!(ALL.is_sorted_by_key(|variable| variable.purpose));
        for variable in ALL {
            assert!(variable.readers.is_sorted(), "{}", variable.name);
        }
    }
}
