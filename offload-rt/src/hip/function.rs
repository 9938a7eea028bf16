//! The attributes of a kernel in a loaded module.

use offload_format::pack::KernelInfo;

use super::api::{
    Functions, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    HIP_FUNC_ATTRIBUTE_NUM_REGS, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, HipResult, call,
    hipFunction_attribute, hipFunction_t,
};
use super::context::Entered;
use crate::thread_blocks::{Needs, Resources};

/// A kernel as the runtime has it; it lives as long as its module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) raw: hipFunction_t,
    pub(super) resources: Resources,
}

// SAFETY: the runtime's functions may be called from any thread, and a kernel's handle is as good as its module.
unsafe impl Send for Function {}
// SAFETY: as above; nothing changes.
unsafe impl Sync for Function {}

impl Function {
    /// Queries the attributes of `raw`, a kernel of a loaded module of the current device.
    pub(super) fn new(raw: hipFunction_t, entered: &Entered<'_>) -> HipResult<Function> {
        let functions = entered.functions();
        // SAFETY: the kernel's module is loaded.
        unsafe {
            let needs = Needs {
                max_threads: attribute(functions, raw, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
                static_shared: attribute(functions, raw, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            };
            let resources = Resources {
                needs,
                registers: attribute(functions, raw, HIP_FUNC_ATTRIBUTE_NUM_REGS)?,
                private_memory: attribute(functions, raw, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
                sub_group: entered.limits().wavefront,
            };
            Ok(Function { raw, resources })
        }
    }

    /// Completes a record of the pack with the runtime's attributes.
    pub(super) fn complete(&self, mut info: KernelInfo) -> KernelInfo {
        self.resources.complete(&mut info);
        // A pack has no arguments of a kernel without any, and of one that it knows only by name; the runtime does not
        // tell which it is.
        if info.args.as_ref().is_some_and(Vec::is_empty) {
            info.args = None;
        }
        info
    }
}

/// The value of an attribute of a kernel.
///
/// # Safety
/// `function` is of a loaded module of the current device.
unsafe fn attribute(
    functions: &'static Functions,
    function: hipFunction_t,
    attribute: hipFunction_attribute,
) -> HipResult<u32> {
    let mut value = 0;
    // SAFETY: the function writes one number; the caller answers for the kernel.
    unsafe { call!(functions, hipFuncGetAttribute(&raw mut value, attribute, function)) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}
