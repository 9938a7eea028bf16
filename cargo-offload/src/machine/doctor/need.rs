//! Which tools are examined, what each is for, and which targets need which.

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

/// What a target, or all targets of a set, take.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// What they cannot do without.
    pub(super) needed: Vec<Component>,
    /// What makes them better.
    pub(super) useful: Vec<Component>,
}

impl Needs {
    /// What `target` takes.
    pub(super) fn of(target: &Target) -> Needs {
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
pub(super) fn described(component: Component) -> (&'static str, &'static str) {
    match component {
        Component::Clang => ("clang", "compiles kernels for every target"),
        Component::LlvmLink => ("llvm-link", "joins the files of a module"),
        Component::Lld => ("ld.lld", "links code for AMD GPUs"),
        Component::LibclcNvidia => ("libclc (NVIDIA)", "has the functions of OpenCL C"),
        Component::LibclcAmd => ("libclc (AMD)", "has the functions of OpenCL C"),
        Component::Libdevice => ("libdevice", "has better mathematics for NVIDIA GPUs"),
        Component::Ptxas => ("ptxas", "makes native code for NVIDIA GPUs"),
        Component::Ocloc => ("ocloc", "makes native code for Intel GPUs"),
        Component::Pocl => ("PoCL's library", "has the functions of OpenCL C for the CPU"),
        Component::SpirvVal => ("spirv-val", "checks SPIR-V"),
        Component::Nvcc => ("nvcc", "compiles CUDA C++ where `compiler` says so"),
        Component::CudaSdk => ("CUDA's headers", "let clang compile CUDA C++ that includes them"),
        Component::Hipcc => ("hipcc", "compiles HIP C++ where `compiler` says so"),
        Component::Icpx => ("icpx", "compiles SYCL C++ where `compiler` says so"),
        _ => ("a tool", "shows machine code"),
    }
}
