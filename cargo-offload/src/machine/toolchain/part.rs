//! Parts of the toolchain, which are installed, listed and removed by name.

use clap::ValueEnum;

use super::lock::{LockedPackage, PackageKind};

/// A part of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolchainPart {
    /// Clang of LLVM 22, libclc, PoCL's library, spirv-val and ocloc, from the distribution
    Llvm,
    /// NVIDIA's assembler and its library of mathematics
    Ptxas,
    /// NVIDIA's compiler of CUDA C++, with a toolkit's headers; it needs a gcc
    Nvcc,
    /// NVIDIA's disassembler, for `asm`
    Nvdisasm,
    /// CUDA's headers for clang: cuda_fp16.h, cuda_runtime.h, cuda/std, CUB, Thrust; `nvcc` has them too
    CudaHeaders,
    /// The same of release 12, for sources that do not compile with 13's; brings ptxas
    #[value(name = "cuda-headers@12")]
    CudaHeaders12,
}

/// A package of Python's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wheel {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// Bytes to download.
    pub(super) size: u64,
}

/// The last release whose ptxas knows every architecture from sm_50 on.
const PTXAS: [Wheel; 1] = [wheel("nvidia-cuda-nvcc-cu12", "12.9.86", 40_546_229)];
/// The packages that are a whole nvcc together, all of one release.
const NVCC: [Wheel; 5] = [
    wheel("nvidia-cuda-nvcc", "13.5.37", 47_028_279),
    wheel("nvidia-nvvm", "13.5.37", 75_141_406),
    CUDA_HEADERS[0],
    CUDA_HEADERS[1],
    CUDA_HEADERS[2],
];
/// The headers of the same release, without any program.
const CUDA_HEADERS: [Wheel; 3] = [
    wheel("nvidia-cuda-crt", "13.5.37", 166_163),
    wheel("nvidia-cuda-runtime", "13.5.37", 2_504_024),
    wheel("nvidia-cuda-cccl", "13.3.5.0.6", 4_113_651),
];
/// The headers of release 12. Those of nvcc itself are in the package with ptxas.
const CUDA_HEADERS_12: [Wheel; 3] = [
    PTXAS[0],
    wheel("nvidia-cuda-runtime-cu12", "12.9.79", 3_493_179),
    wheel("nvidia-cuda-cccl-cu12", "12.9.27", 3_152_243),
];
const NVDISASM: [Wheel; 1] = [wheel("nvidia-cuda-nvdisasm", "13.5.37", 5_170_654)];

const fn wheel(name: &'static str, version: &'static str, size: u64) -> Wheel {
    Wheel { name, version, size }
}

impl ToolchainPart {
    pub(crate) const ALL: [ToolchainPart; 6] = [
        ToolchainPart::Llvm,
        ToolchainPart::Ptxas,
        ToolchainPart::Nvcc,
        ToolchainPart::Nvdisasm,
        ToolchainPart::CudaHeaders,
        ToolchainPart::CudaHeaders12,
    ];

    /// As on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ToolchainPart::Llvm => "llvm",
            ToolchainPart::Ptxas => "ptxas",
            ToolchainPart::Nvcc => "nvcc",
            ToolchainPart::Nvdisasm => "nvdisasm",
            ToolchainPart::CudaHeaders => "cuda-headers",
            ToolchainPart::CudaHeaders12 => "cuda-headers@12",
        }
    }

    /// The content of the part.
    pub(crate) fn purpose(self) -> &'static str {
        match self {
            ToolchainPart::Llvm => "clang, libclc, PoCL's library, spirv-val, ocloc",
            ToolchainPart::Ptxas => "ptxas and libdevice: cubins, faster math functions",
            ToolchainPart::Nvcc => "nvcc and a CUDA toolkit's headers",
            ToolchainPart::Nvdisasm => "nvdisasm: machine code of cubins",
            ToolchainPart::CudaHeaders => "CUDA's headers: cuda_fp16.h, cuda/std",
            ToolchainPart::CudaHeaders12 => "CUDA's headers of release 12",
        }
    }

    /// Its packages of Python's.
    pub(super) fn wheels(self) -> &'static [Wheel] {
        match self {
            ToolchainPart::Llvm => &[],
            ToolchainPart::Ptxas => &PTXAS,
            ToolchainPart::Nvcc => &NVCC,
            ToolchainPart::Nvdisasm => &NVDISASM,
            ToolchainPart::CudaHeaders => &CUDA_HEADERS,
            ToolchainPart::CudaHeaders12 => &CUDA_HEADERS_12,
        }
    }

    /// Bytes to download; nothing is known of what the distribution has.
    pub(crate) fn download(self) -> Option<u64> {
        let sizes = self.wheels().iter().map(|wheel| wheel.size);
        (self != ToolchainPart::Llvm).then(|| sizes.sum())
    }

    /// Whether a package is one of its.
    pub(super) fn has(self, package: &LockedPackage) -> bool {
        match package.source {
            PackageKind::Distribution => self == ToolchainPart::Llvm,
            PackageKind::Python => self.wheels().iter().any(|wheel| wheel.name == package.name),
        }
    }

    /// Whether `packages` have all of it.
    pub(crate) fn is_in(self, packages: &[LockedPackage]) -> bool {
        match self {
            ToolchainPart::Llvm => packages.iter().any(|package| self.has(package)),
            _ => self.wheels().iter().all(|wheel| packages.iter().any(|package| package.name == wheel.name)),
        }
    }

    /// The packages of Python's that `parts` have, each once: some parts share packages.
    pub(super) fn packages(parts: &[ToolchainPart]) -> Vec<LockedPackage> {
        let mut packages: Vec<LockedPackage> = Vec::new();
        for wheel in parts.iter().flat_map(|part| part.wheels()) {
            if !packages.iter().any(|package| package.name == wheel.name) {
                packages.push(wheel.package());
            }
        }
        packages
    }
}

impl Wheel {
    /// The package, before it is fetched.
    pub(super) fn package(&self) -> LockedPackage {
        LockedPackage {
            source: PackageKind::Python,
            name: self.name.to_string(),
            version: self.version.to_string(),
            file: String::new(),
            url: None,
            sha256: String::new(),
        }
    }
}
