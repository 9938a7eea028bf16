//! Reading and rewriting of LLVM IR text, beside the passes of `offload-workgroup`.
//!
//! Text, not bitcode, because its lines are stable across releases and no library is needed
//! (<https://llvm.org/docs/LangRef.html>).

mod attachments;
mod calls;
mod debug;
mod described;
mod file_local;
mod foreign;
mod host_part;
mod inline_assembly;
mod interface;
mod kernel;
mod kernels;
mod output;
mod pointers;
mod prepare;
mod recursion;
mod retarget;
mod rewrite;
mod shared_memory;
mod variables;
mod warp_synchronous;

use offload_format::pack::ArgKind;
use offload_workgroup::ir::Parameter;

pub(crate) use calls::aspects;
pub(crate) use file_local::with_distinct_names;
pub(crate) use foreign::{ForeignCode, ForeignConstruct, References, foreign_code, without_bodies};
pub(crate) use host_part::{HostPart, host_part, missing_runtime_functions, needs_cpp_library};
pub(crate) use interface::{Interface, hide, symbols};
pub(crate) use kernel::{Kernel, KernelArg};
pub(crate) use kernels::{kernels, take_types};
pub(crate) use output::{Output, has_kernel_names, has_output, with_assertions, with_output};
pub(crate) use pointers::{exporting, through_pointers};
pub(crate) use prepare::{BODY_PREFIX, LocalArguments, Prepared, prepare};
pub(crate) use recursion::recursion;
pub(crate) use retarget::{CodeTarget, retarget, without_windows_convention};
pub(crate) use rewrite::{
    has_inline_that_is_not_inlined, in_global_memory, with_conventions, with_inline_definitions,
    without_processor,
};
pub(crate) use shared_memory::with_shared_memory;
pub(crate) use variables::with_variables;
pub(crate) use warp_synchronous::with_warp_synchronous_stores;

/// Whether a `define` line is of a kernel, on any GPU.
fn is_kernel(line: &str) -> bool {
    [" spir_kernel ", " ptx_kernel ", " amdgpu_kernel "].iter().any(|convention| line.contains(convention))
}

/// The kind of an argument by the address space of its parameter, in the numbering that AMD, NVIDIA and SPIR-V share for
/// global and local memory.
fn argument_kind(parameter: &Parameter<'_>) -> ArgKind {
    if !parameter.text.starts_with("ptr") || parameter.is_by_value() {
        return ArgKind::Value;
    }
    match parameter.type_text() {
        "ptr addrspace(3)" => ArgKind::Local,
        // 2 in SPIR, 4 on AMD and NVIDIA.
        "ptr addrspace(2)" | "ptr addrspace(4)" => ArgKind::Constant,
        _ => ArgKind::Global,
    }
}

#[cfg(test)]
mod tests {
    use offload_workgroup::ir::parameters;

    use super::*;

    #[test]
    fn arguments_have_the_kind_of_their_address_space() {
        let line = "(ptr addrspace(1) noundef align 4 %x, <3 x float> noundef %v, ptr byval(%struct.s) align 8 %2, ptr addrspace(3) %t) #0 !x {";
        let parameters = parameters(line).unwrap().list;
        let kinds: Vec<_> = parameters.iter().map(argument_kind).collect();
        assert_eq!(kinds, [ArgKind::Global, ArgKind::Value, ArgKind::Value, ArgKind::Local]);
    }
}
