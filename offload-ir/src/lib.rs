//! Kernels, arguments and interfaces of LLVM IR modules, and the rewrites between clang's front end and a code generator.
//!
//! Text, not bitcode, because its lines are stable across releases and no library is needed
//! (<https://llvm.org/docs/LangRef.html>). The reader is [`offload_workgroup::ir`].
//!
//! - [`kernels`] reads the kernels with names, types and address spaces of their arguments; [`take_types`] completes them
//!   from debug information;
//! - [`Interface`], [`symbols`] and [`aspects`] describe what a module defines, needs, and asks of a device;
//! - [`foreign_code`], [`recursion`] and [`References`] find what a target has no code for, and who calls it;
//! - [`prepare`], [`hide`], [`with_conventions`] and the others rewrite a module, and are pure functions from text to text.
//!
//! ```
//! let module = "
//! define dso_local spir_kernel void @scale(ptr addrspace(1) noundef %x, float noundef %a) {
//!   ret void
//! }
//! ";
//! let kernels = offload_ir::kernels(module);
//! assert_eq!(kernels[0].name, "scale");
//! assert_eq!(kernels[0].args[1].size, Some(4));
//! ```

#![forbid(unsafe_code)]

mod attachments;
mod calls;
mod debug;
mod described;
mod file_local;
mod foreign;
mod host_part;
mod inline_assembly;
mod inline_ptx;
mod interface;
mod kernel;
mod kernels;
mod movable_assembly;
mod output;
mod pointers;
mod prepare;
mod recursion;
mod retarget;
mod rewrite;
mod shared_memory;
mod variables;
mod vector_copies;
mod warp_synchronous;

use offload_format::pack::ArgKind;
use offload_workgroup::ir::Parameter;

pub use self::calls::aspects;
pub use self::file_local::with_distinct_names;
pub use self::foreign::{ForeignCode, ForeignConstruct, References, foreign_code, without_bodies};
pub use self::host_part::{HostPart, host_part, missing_runtime_functions, needs_cpp_library};
pub use self::inline_assembly::Place;
pub use self::inline_ptx::{Machine, with_inline_ptx};
pub use self::interface::{Interface, hide, symbols};
pub use self::kernel::{Kernel, KernelArg};
pub use self::kernels::{kernels, take_types};
pub use self::output::{Output, has_kernel_names, has_output, with_assertions, with_output};
pub use self::pointers::{exporting, through_pointers};
pub use self::prepare::{BODY_PREFIX, LocalArguments, Prepared, prepare};
pub use self::recursion::recursion;
pub use self::retarget::{CodeTarget, retarget, without_windows_convention};
pub use self::rewrite::{
    has_inline_that_is_not_inlined, in_global_memory, with_conventions, with_inline_definitions,
    without_processor,
};
pub use self::shared_memory::with_shared_memory;
pub use self::variables::with_variables;
pub use self::warp_synchronous::with_warp_synchronous_stores;

/// `module` as LLVM's passes need it for PTX.
pub fn for_ptx(module: &str) -> String {
    movable_assembly::with_movable_assembly(&vector_copies::with_vector_copies(module))
}

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
