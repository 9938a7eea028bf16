//! The attributes of a kernel in a loaded module.

use std::ffi::c_uint;

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

use super::api::{
    DriverApi, FUNCTION_LOCAL_SIZE, FUNCTION_MAX_THREADS, FUNCTION_REGISTERS, FUNCTION_SHARED_SIZE,
    RawFunction,
};
use super::context::Entered;
use super::error::ApiResult;
use super::kernels::Resources;
use super::limits::Needs;

/// The kind of an argument whose size is all that is known.
const UNKNOWN_KIND: u16 = u16::MAX;

/// A kernel as the library has it; it lives as long as its module.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) raw: RawFunction,
    pub(super) resources: Resources,
    /// Sizes of the parameters, if the library tells them.
    pub(super) sizes: Option<Vec<usize>>,
}

// SAFETY: the library's functions may be called from any thread, and a kernel's handle is as good as its module.
unsafe impl Send for Function {}
// SAFETY: as above; the only change is an attribute that every thread sets to the same value.
unsafe impl Sync for Function {}

impl Function {
    /// Queries the attributes of `raw`, a kernel of a loaded module of the current context.
    pub(super) fn new<A: DriverApi>(raw: RawFunction, entered: &Entered<'_, A>) -> ApiResult<Function, A> {
        let needs = Needs {
            max_threads: attribute(entered, raw, FUNCTION_MAX_THREADS)?,
            static_shared: attribute(entered, raw, FUNCTION_SHARED_SIZE)?,
        };
        let resources = Resources {
            needs,
            registers: attribute(entered, raw, FUNCTION_REGISTERS)?,
            private_memory: attribute(entered, raw, FUNCTION_LOCAL_SIZE)?,
            sub_group: entered.limits().sub_group,
        };
        // SAFETY: the kernel's module is loaded.
        let sizes = unsafe { entered.api().parameter_sizes(raw) };
        Ok(Function { raw, resources, sizes })
    }

    /// Completes a record of the pack with the library's attributes.
    pub(super) fn complete(&self, mut info: KernelInfo) -> KernelInfo {
        self.resources.complete(&mut info);
        // A pack has no arguments of a kernel without any, and of one that it knows only by name; a library that tells no
        // sizes does not tell which it is.
        if info.args.as_ref().is_none_or(Vec::is_empty) {
            info.args =
                self.sizes.as_ref().map(|sizes| sizes.iter().map(|size| unknown_arg(*size)).collect());
        }
        info
    }
}

/// The value of an attribute of `function`, which is of a loaded module of the current context.
fn attribute<A: DriverApi>(
    entered: &Entered<'_, A>,
    function: RawFunction,
    attribute: c_uint,
) -> ApiResult<u32, A> {
    let mut value = 0;
    // SAFETY: the kernel's module is loaded; the function writes one number.
    unsafe { entered.api().function_attribute(&raw mut value, attribute, function) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

fn unknown_arg(size: usize) -> ArgInfo {
    let size = u32::try_from(size).ok();
    ArgInfo::new(ArgKind::from_u16(UNKNOWN_KIND)).with_size(size)
}
