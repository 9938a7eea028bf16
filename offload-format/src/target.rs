//! Targets: the machines that images are compiled for, with a text form.

mod amd;
mod host;
mod intel;
mod parse;
mod set;
mod sm;
mod spirv_version;

use std::fmt;

pub use self::amd::AmdArch;
pub use self::host::HostLevel;
pub use self::intel::IntelArch;
pub use self::parse::UnknownTarget;
pub use self::set::TargetSet;
pub use self::sm::{PtxVersion, SmArch};
pub use self::spirv_version::SpirvVersion;
use crate::ImageKind;

/// A target of compilation. `FromStr` and `Display` round-trip.
///
/// | text | image |
/// |---|---|
/// | `host`, `host:x86-64-v3` | native code for the program's own CPU |
/// | `spirv64`, `spirv64:v1.4` | 64-bit SPIR-V for OpenCL, by default of version 1.2 |
/// | `intel:pvc`, `intel:xe-hpg`, `intel:dg1:acm-g10` | Intel native code for a device, a family, a range |
/// | `nvptx:sm_90` | NVIDIA PTX |
/// | `cubin:sm_90` | NVIDIA native code |
/// | `amdgcn:gfx90a:xnack+` | AMD code object |
/// | `amdgcnspirv` | AMD's SPIR-V, which HIP compiles for the installed AMD GPU |
/// | `opencl-c` | OpenCL C source without includes |
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Target {
    /// Native code for the CPU that the program itself is compiled for.
    Host(HostLevel),
    /// SPIR-V for OpenCL, 64-bit addresses.
    Spirv64(SpirvVersion),
    /// Native code for an Intel GPU.
    Intel(IntelArch),
    /// PTX for at least this NVIDIA architecture.
    Nvptx(SmArch),
    /// Native code for an NVIDIA architecture.
    Cubin(SmArch),
    /// A code object for an AMD architecture.
    Amdgcn(AmdArch),
    /// OpenCL C source.
    OpenClC,
    /// SPIR-V of HIP programs for any AMD GPU; no OpenCL driver takes it. LLVM calls its processor `amdgcnspirv`
    /// (<https://clang.llvm.org/docs/HIPSupport.html#spir-v-support-on-hipamd>).
    AmdgcnSpirv,
}

/// The architecture of a native target; `None` of [`Target::arch`] means portable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Arch {
    /// A level of the host's instruction set.
    Host(HostLevel),
    /// An Intel GPU.
    Intel(IntelArch),
    /// An NVIDIA GPU.
    Sm(SmArch),
    /// An AMD GPU.
    Amd(AmdArch),
}

impl Target {
    /// The architecture of a native target; `None` for a portable one.
    pub fn arch(&self) -> Option<Arch> {
        match self {
            Target::Host(level) => Some(Arch::Host(*level)),
            Target::Intel(arch) => Some(Arch::Intel(arch.clone())),
            Target::Nvptx(sm) | Target::Cubin(sm) => Some(Arch::Sm(sm.clone())),
            Target::Amdgcn(arch) => Some(Arch::Amd(arch.clone())),
            Target::Spirv64(_) | Target::OpenClC | Target::AmdgcnSpirv => None,
        }
    }

    /// The format of images of this target.
    pub fn image_kind(&self) -> ImageKind {
        match self {
            Target::Host(_) => ImageKind::HostObject,
            Target::Spirv64(_) | Target::AmdgcnSpirv => ImageKind::SpirV,
            Target::Intel(_) | Target::Amdgcn(_) => ImageKind::Object,
            Target::Nvptx(_) => ImageKind::Ptx,
            Target::Cubin(_) => ImageKind::Cubin,
            Target::OpenClC => ImageKind::OpenClC,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Target::Host(HostLevel::Baseline) => "host".to_string(),
            Target::Host(level) => format!("host:{level}"),
            Target::Spirv64(version) if *version == SpirvVersion::default() => "spirv64".to_string(),
            Target::Spirv64(version) => format!("spirv64:{version}"),
            Target::Intel(arch) => format!("intel:{arch}"),
            Target::Nvptx(sm) => format!("nvptx:{sm}"),
            Target::Cubin(sm) => format!("cubin:{sm}"),
            Target::Amdgcn(arch) => format!("amdgcn:{arch}"),
            Target::OpenClC => "opencl-c".to_string(),
            Target::AmdgcnSpirv => "amdgcnspirv".to_string(),
        };
        f.pad(&text)
    }
}
