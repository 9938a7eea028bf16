//! Tools that are examined, their purpose, and the targets that need them.

use offload_build::shared::toolchain::Component;
use offload_format::Target;

/// The components that doctor looks for, in the order in which they are shown.
pub(super) const EXAMINED: [Component; 14] = [
    Component::Clang,
    Component::LlvmLink,
    Component::Lld,
    Component::LibclcNvidia,
    Component::LibclcAmd,
    Component::Libdevice,
    Component::Ptxas,
    Component::Ocloc,
    Component::Pocl,
    Component::SpirvVal,
    Component::Nvcc,
    Component::CudaSdk,
    Component::Hipcc,
    Component::Icpx,
];

/// Tools for a target, or for all targets of a set.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Required tools.
    pub(super) needed: Vec<Component>,
    /// Optional tools that improve the code.
    pub(super) useful: Vec<Component>,
}

impl Needs {
    /// The tools for `target`.
    pub(super) fn for_target(target: &Target) -> Needs {
        use Component::{
            Clang, LibclcAmd, LibclcNvidia, Libdevice, Lld, LlvmLink, Ocloc, Pocl, Ptxas, SpirvVal,
        };
        let (needed, useful) = match target {
            Target::Host(_) => (vec![Clang, Pocl], vec![LlvmLink]),
            Target::Spirv64(_) => (vec![Clang], vec![LlvmLink, SpirvVal]),
            Target::Intel(_) => (vec![Clang, Ocloc], vec![LlvmLink, SpirvVal]),
            Target::Nvptx(_) => (vec![Clang, LibclcNvidia], vec![LlvmLink, Libdevice]),
            Target::Cubin(_) => (vec![Clang, LibclcNvidia, Ptxas], vec![LlvmLink, Libdevice]),
            Target::Amdgcn(_) => (vec![Clang, LibclcAmd, Lld], vec![LlvmLink]),
            _ => (vec![Clang], vec![]),
        };
        Needs { needed, useful }
    }
}

/// Its usual name, and what it is for.
pub(super) fn describe(component: Component) -> (&'static str, &'static str) {
    match component {
        Component::Clang => ("clang", "compiles kernels for every target"),
        Component::LlvmLink => ("llvm-link", "links the files of a module"),
        Component::Lld => ("ld.lld", "links code for AMD GPUs"),
        Component::LibclcNvidia => ("libclc (NVIDIA)", "provides the built-in functions of OpenCL C"),
        Component::LibclcAmd => ("libclc (AMD)", "provides the built-in functions of OpenCL C"),
        Component::Libdevice => ("libdevice", "provides faster math functions for NVIDIA GPUs"),
        Component::Ptxas => ("ptxas", "generates native code for NVIDIA GPUs"),
        Component::Ocloc => ("ocloc", "generates native code for Intel GPUs"),
        Component::Pocl => ("PoCL's library", "provides the built-in functions of OpenCL C for the CPU"),
        Component::SpirvVal => ("spirv-val", "checks SPIR-V"),
        Component::Nvcc => ("nvcc", "compiles CUDA C++ if `compiler` selects it"),
        Component::CudaSdk => ("CUDA's headers", "let clang compile CUDA C++ that includes them"),
        Component::Hipcc => ("hipcc", "compiles HIP C++ if `compiler` selects it"),
        Component::Icpx => ("icpx", "compiles SYCL C++ if `compiler` selects it"),
        _ => ("a tool", "shows machine code"),
    }
}
