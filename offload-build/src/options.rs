//! Compile options of a kernel module, from build.rs and from the configuration.

#[cfg(feature = "compiler")]
mod read;
#[cfg(feature = "compiler")]
mod resolve;
#[cfg(feature = "compiler")]
pub(crate) mod spec;
#[cfg(any(test, not(feature = "compiler")))]
mod values;
#[cfg(any(test, not(feature = "compiler")))]
mod write;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

#[cfg(feature = "compiler")]
pub use offload_containers::syclbin::BundleState as SyclState;
#[cfg(feature = "compiler")]
pub use offload_format::SpecValue;

#[cfg(feature = "compiler")]
pub(crate) use self::spec::SpecForm;
#[cfg(not(feature = "compiler"))]
pub use self::values::{SpecValue, SyclState};
#[cfg(any(test, not(feature = "compiler")))]
pub(crate) use self::write::{array, utf8};

/// Which compiler makes code from C++.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compiler {
    /// LLVM's clang.
    #[default]
    Clang,
    /// NVIDIA's nvcc, for CUDA C++.
    Nvcc,
    /// AMD's hipcc, for HIP C++.
    Hipcc,
    /// Intel's DPC++, for SYCL C++ in `.cpp` files. Only its command lines are tested, not what it writes.
    Icpx,
}

/// Into which images a module is cut for a target. Helper functions are in every image that uses them.
///
/// A driver loads only the images whose kernels a program asks for. Targets `host` and `opencl-c` are never cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Split {
    /// One image with all kernels.
    #[default]
    None,
    /// An image for each kernel.
    Kernel,
    /// An image for each file.
    Source,
    /// Kernels that need the same of the device (fp64, fp16, 64-bit atomics) are together, so that one kernel with
    /// `double` does not make the whole module unusable on a device without it.
    Aspect,
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

/// The registers of a hardware thread on Intel GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grf {
    /// The default number; a kernel that spills is compiled for the larger one too, and the better result is kept.
    #[default]
    Auto,
    /// As the compiler decides.
    Default,
    /// The larger number.
    Large,
}

/// How many bytes a kernel may spill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpillBudget {
    /// Every spill is a warning.
    #[default]
    Warn,
    /// More bytes than this are an error.
    AtMost(u64),
    /// More bytes than this are a warning.
    WarnAbove(u64),
    /// Neither a warning nor an error.
    Any,
}

/// When device libraries are linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Link {
    /// When the importing module is compiled, as LLVM's bitcode: each image has what it calls, and nothing else.
    #[default]
    Build,
    /// When an image is loaded, for the targets `host` and `spirv64`: images have their own kernels alone, and share one
    /// image of the library. For all other targets as [`Link::Build`].
    Load,
}

/// A kind of targets: the part of a target's name before the colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetKind {
    /// `host`
    Host,
    /// `spirv64`
    Spirv64,
    /// `opencl-c`
    OpenClC,
    /// `intel:...`
    Intel,
    /// `nvptx:...`
    Nvptx,
    /// `cubin:...`
    Cubin,
    /// `amdgcn:...`
    Amdgcn,
}

/// Options of one kernel module.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "compiler", derive(PartialEq))]
pub(crate) struct Options {
    /// The kinds of targets that it is compiled for; none for all.
    pub(crate) only: Vec<TargetKind>,
    pub(crate) compiler: Option<Compiler>,
    pub(crate) split: Option<Split>,
    /// CUDA C++ sees the headers of the CUDA toolkit.
    pub(crate) cuda_sdk: Option<bool>,
    /// What `__CUDA_ARCH__` is where no GPU of NVIDIA is the target.
    pub(crate) cuda_arch: Option<u32>,
    /// Host functions of CUDA C++ become part of the program.
    pub(crate) launchers: Option<bool>,
    /// Images for AMD lose their symbol table and comments.
    pub(crate) strip: Option<bool>,
    pub(crate) std: Option<OpenClStd>,
    /// Device libraries of other packages.
    pub(crate) imports: Vec<String>,
    /// When those are linked; of an exported library, whether it has images for that.
    pub(crate) link: Option<Link>,
    /// Relative to the manifest's directory.
    pub(crate) includes: Vec<PathBuf>,
    pub(crate) defines: Vec<Definition>,
    pub(crate) flags: Vec<OsString>,
    pub(crate) variants: BTreeMap<String, Vec<String>>,
    /// Specialisation constants with their defaults.
    pub(crate) spec: BTreeMap<String, SpecValue>,
    pub(crate) max_registers: Option<u32>,
    pub(crate) grf: Option<Grf>,
    pub(crate) max_spills: Option<SpillBudget>,
    pub(crate) kernels: BTreeMap<String, KernelOptions>,
    /// Whether the module is written as a SYCLBIN too.
    pub(crate) syclbin: Option<SyclState>,
    /// SPIR-V files that become modules of it, relative to the manifest's directory.
    pub(crate) syclbin_libraries: Vec<PathBuf>,
}

/// A macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Options of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelOptions {
    pub(crate) max_registers: Option<u32>,
    /// The kinds of targets that have it; none for all.
    pub(crate) targets: Vec<TargetKind>,
    /// How much of its memory it accesses at most: expressions by the names of arguments. Its method is safe.
    pub(crate) bounds: BTreeMap<String, String>,
}

/// The word for `value` in the settings.
fn name_in<T: PartialEq>(names: &'static [(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, known)| known == value).map(|(name, _)| *name).unwrap_or_default()
}

impl OpenClStd {
    const NAMES: [(&'static str, OpenClStd); 3] =
        [("1.2", OpenClStd::C12), ("2.0", OpenClStd::C20), ("3.0", OpenClStd::C30)];

    /// As settings have it.
    pub(crate) fn name(self) -> &'static str {
        name_in(&OpenClStd::NAMES, &self)
    }
}

const SYCL_STATES: [(&str, SyclState); 3] =
    [("input", SyclState::Input), ("object", SyclState::Object), ("executable", SyclState::Executable)];

impl Compiler {
    const NAMES: [(&str, Compiler); 4] = [
        ("clang", Compiler::Clang),
        ("nvcc", Compiler::Nvcc),
        ("hipcc", Compiler::Hipcc),
        ("icpx", Compiler::Icpx),
    ];
}

impl TargetKind {
    const NAMES: [(&str, TargetKind); 7] = [
        ("host", TargetKind::Host),
        ("spirv64", TargetKind::Spirv64),
        ("opencl-c", TargetKind::OpenClC),
        ("intel", TargetKind::Intel),
        ("nvptx", TargetKind::Nvptx),
        ("cubin", TargetKind::Cubin),
        ("amdgcn", TargetKind::Amdgcn),
    ];

    fn name(self) -> &'static str {
        name_in(&TargetKind::NAMES, &self)
    }
}

impl std::fmt::Display for TargetKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Link {
    const NAMES: [(&str, Link); 2] = [("build", Link::Build), ("load", Link::Load)];
}

impl Split {
    const NAMES: [(&str, Split); 4] = [
        ("none", Split::None),
        ("kernel", Split::Kernel),
        ("source", Split::Source),
        ("aspect", Split::Aspect),
    ];
}

impl Grf {
    const NAMES: [(&'static str, Grf); 3] =
        [("auto", Grf::Auto), ("default", Grf::Default), ("large", Grf::Large)];
}

#[cfg(test)]
#[cfg(feature = "compiler")]
mod tests;
