//! Code generation: from the IR of a module, or from ready-made code, to an image for each target.

pub(super) mod amdgcn;
pub(super) mod cubin;
pub(super) mod foreign;
pub(super) mod gpu;
pub(super) mod host;
pub(super) mod host_library;
pub(super) mod intel;
pub(super) mod llvm;
pub(super) mod llvm_ir;
pub(super) mod nvptx;
pub(super) mod opencl_c;
pub(super) mod processor;
pub(super) mod ready;
pub(super) mod ready_ptx;
pub(super) mod spirv;
