//! Which tools there are, how each is found, and which targets need which.

use std::path::PathBuf;

use offload_format::{HostLevel, Target};

use super::{Examined, Found, Missing};
use crate::compile::{LIBCLC_AMD, LIBCLC_NVIDIA, pocl};
use crate::error::Result;
use crate::tool::Tool;
use crate::toolchain::Finder;

/// A tool or a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Clang,
    LlvmLink,
    Lld,
    LibclcNvidia,
    LibclcAmd,
    Libdevice,
    Ptxas,
    Ocloc,
    Pocl,
    SpirvVal,
    Nvcc,
    Hipcc,
    Icpx,
}

/// What `target` cannot do without, and what makes it better.
pub(super) fn of(target: &Target) -> (Vec<Need>, Vec<Need>) {
    use Need::{Clang, LibclcAmd, LibclcNvidia, Libdevice, Lld, LlvmLink, Ocloc, Pocl, Ptxas, SpirvVal};
    match target {
        Target::Host(_) => (vec![Clang, Pocl], vec![LlvmLink]),
        Target::Spirv64(_) => (vec![Clang], vec![LlvmLink, SpirvVal]),
        Target::Intel(_) => (vec![Clang, Ocloc], vec![LlvmLink, SpirvVal]),
        Target::Nvptx(_) => (vec![Clang, LibclcNvidia], vec![LlvmLink, Libdevice]),
        Target::Cubin(_) => (vec![Clang, LibclcNvidia, Ptxas], vec![LlvmLink, Libdevice]),
        Target::Amdgcn(_) => (vec![Clang, LibclcAmd, Lld], vec![LlvmLink]),
        _ => (vec![Clang], vec![]),
    }
}

impl Need {
    pub(super) const ALL: [Need; 13] = [
        Need::Clang,
        Need::LlvmLink,
        Need::Lld,
        Need::LibclcNvidia,
        Need::LibclcAmd,
        Need::Libdevice,
        Need::Ptxas,
        Need::Ocloc,
        Need::Pocl,
        Need::SpirvVal,
        Need::Nvcc,
        Need::Hipcc,
        Need::Icpx,
    ];

    pub(super) fn examined(self, finder: &Finder<'_>) -> Examined {
        let (name, purpose) = self.named();
        let outcome = self.find(finder).map_err(|error| {
            let (reason, remedy) = error.parts();
            Missing { reason: reason.to_string(), remedy: remedy.map(str::to_string) }
        });
        Examined { name, purpose, outcome }
    }

    fn named(self) -> (&'static str, &'static str) {
        match self {
            Need::Clang => ("clang", "compiles kernels for every target"),
            Need::LlvmLink => ("llvm-link", "joins the files of a module"),
            Need::Lld => ("ld.lld", "links code for AMD GPUs"),
            Need::LibclcNvidia => ("libclc (NVIDIA)", "has the functions of OpenCL C"),
            Need::LibclcAmd => ("libclc (AMD)", "has the functions of OpenCL C"),
            Need::Libdevice => ("libdevice", "has better mathematics for NVIDIA GPUs"),
            Need::Ptxas => ("ptxas", "makes native code for NVIDIA GPUs"),
            Need::Ocloc => ("ocloc", "makes native code for Intel GPUs"),
            Need::Pocl => ("PoCL's library", "has the functions of OpenCL C for the CPU"),
            Need::SpirvVal => ("spirv-val", "checks SPIR-V"),
            Need::Nvcc => ("nvcc", "compiles CUDA C++ where `compiler` says so"),
            Need::Hipcc => ("hipcc", "compiles HIP C++ where `compiler` says so"),
            Need::Icpx => ("icpx", "compiles SYCL C++ where `compiler` says so"),
        }
    }

    fn find(self, finder: &Finder<'_>) -> Result<Found> {
        let file = |path: PathBuf| Found { path, version: None };
        let paired = |name, variable| finder.llvm().and_then(|llvm| finder.paired(&llvm, name, variable));
        match self {
            Need::Clang => finder.llvm().map(|llvm| found(llvm.clang)),
            Need::LlvmLink => paired("llvm-link", "OFFLOAD_LLVM_LINK").map(found),
            Need::Lld => paired("ld.lld", "OFFLOAD_LLD").map(found),
            Need::LibclcNvidia => finder.libclc_here(LIBCLC_NVIDIA).map(file),
            Need::LibclcAmd => finder.libclc_here(LIBCLC_AMD).map(file),
            Need::Libdevice => finder.libdevice().map(file),
            Need::Ptxas => finder.ptxas().map(found),
            Need::Ocloc => finder.ocloc().map(found),
            Need::Pocl => pocl(finder, HostLevel::Baseline).map(|pocl| file(pocl.library)),
            Need::SpirvVal => finder.spirv_val().map(found),
            Need::Nvcc => finder.nvcc().map(found),
            Need::Hipcc => finder.hipcc().map(found),
            Need::Icpx => finder.icpx().map(found),
        }
    }
}

fn found(tool: Tool) -> Found {
    // NVIDIA's tools start with their name and licence.
    let version =
        tool.version.lines().find(|line| line.chars().any(|c| c.is_ascii_digit()) && !line.contains("(c)"));
    Found { version: version.map(|line| line.trim().to_string()), path: tool.path }
}
