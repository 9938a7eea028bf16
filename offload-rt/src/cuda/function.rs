//! The attributes of a kernel in a loaded module.

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

use super::api::{
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    CUDA_ERROR_INVALID_VALUE, CUfunction, CUfunction_attribute, CuResult, Functions, call,
};
use super::context::Entered;
use super::limits::Shape;
use crate::thread_blocks::{Needs, Resources};

/// The kind of an argument whose size is all that is known.
const UNKNOWN_KIND: u16 = u16::MAX;

/// "The number of bytes of kernel parameters is limited to 32764", and each has at least one:
/// <https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#function-parameters>.
const MAX_PARAMETERS: usize = 32764;

/// A kernel as the driver has it; it lives as long as its module.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) raw: CUfunction,
    pub(super) resources: Resources,
    /// Sizes of the parameters, if the driver tells them.
    pub(super) sizes: Option<Vec<usize>>,
}

// SAFETY: the driver's functions may be called from any thread, and a kernel's handle is as good as its module.
unsafe impl Send for Function {}
// SAFETY: as above; the only change is an attribute that every thread sets to the same value.
unsafe impl Sync for Function {}

impl Function {
    /// Queries the attributes of `raw`, a kernel of a loaded module of the current context.
    pub(super) fn new(raw: CUfunction, entered: &Entered<'_>) -> CuResult<Function> {
        let functions = entered.functions();
        // SAFETY: the kernel's module is loaded.
        unsafe {
            let needs = Needs {
                max_threads: attribute(functions, raw, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
                static_shared: attribute(functions, raw, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            };
            let resources = Resources {
                needs,
                registers: attribute(functions, raw, CU_FUNC_ATTRIBUTE_NUM_REGS)?,
                private_memory: attribute(functions, raw, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
                sub_group: entered.limits().warp,
            };
            Ok(Function { raw, resources, sizes: parameter_sizes(functions, raw) })
        }
    }

    /// Completes a record of the pack with the driver's attributes.
    pub(super) fn complete(&self, mut info: KernelInfo) -> KernelInfo {
        self.resources.complete(&mut info);
        if info.args.as_ref().is_none_or(Vec::is_empty)
            && let Some(sizes) = &self.sizes
        {
            info.args = Some(sizes.iter().map(|size| unknown_arg(*size)).collect());
        }
        info
    }

    /// Lets the kernel have as much dynamic shared memory as `shape` says.
    pub(super) fn opt_in(&self, shape: &Shape, entered: &Entered<'_>) -> CuResult<()> {
        let Some(most) = shape.opt_in else { return Ok(()) };
        // Always the most: a lower value of another thread would take it from this launch.
        self.set_dynamic_shared(most, entered).or_else(|_| self.set_dynamic_shared(shape.shared, entered))
    }

    fn set_dynamic_shared(&self, bytes: u32, entered: &Entered<'_>) -> CuResult<()> {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        let attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the kernel's module is loaded.
        unsafe { call!(entered.functions(), cuFuncSetAttribute(self.raw, attribute, bytes)) }
    }
}

/// The value of an attribute of a kernel.
///
/// # Safety
/// `function` is of a loaded module of the current context.
unsafe fn attribute(
    functions: &'static Functions,
    function: CUfunction,
    attribute: CUfunction_attribute,
) -> CuResult<u32> {
    let mut value = 0;
    // SAFETY: the function writes one number; the caller answers for the kernel.
    unsafe { call!(functions, cuFuncGetAttribute(&raw mut value, attribute, function)) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// The sizes of a kernel's parameters; `None` before CUDA 12.4.
///
/// # Safety
/// `function` is of a loaded module of the current context.
unsafe fn parameter_sizes(functions: &'static Functions, function: CUfunction) -> Option<Vec<usize>> {
    let mut sizes = Vec::new();
    while sizes.len() < MAX_PARAMETERS {
        let index = sizes.len();
        let mut offset = 0;
        let mut size = 0;
        // SAFETY: the function writes two sizes; the caller answers for the kernel.
        let queried =
            unsafe { call!(functions, cuFuncGetParamInfo(function, index, &raw mut offset, &raw mut size)) };
        match queried {
            Ok(()) => sizes.push(size),
            // "CUDA_ERROR_INVALID_VALUE if paramIndex is out of range": there are no more.
            Err(error) if error.code() == Some(CUDA_ERROR_INVALID_VALUE) => return Some(sizes),
            Err(_) => return None,
        }
    }
    None
}

fn unknown_arg(size: usize) -> ArgInfo {
    let size = u32::try_from(size).ok();
    ArgInfo::new(ArgKind::from_u16(UNKNOWN_KIND)).with_size(size)
}
