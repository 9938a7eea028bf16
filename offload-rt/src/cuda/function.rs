//! What the driver knows about a kernel of a loaded module.

use cudarc::driver::result::{DriverError, function};
use cudarc::driver::sys::{CUfunction, CUfunction_attribute as Attribute};
use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

use super::context::Entered;
use super::limits::{Needs, Shape};

/// The kind of an argument whose size is all that is known.
const UNKNOWN_KIND: u16 = u16::MAX;

/// A kernel as the driver has it; it lives as long as its module.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) raw: CUfunction,
    pub(super) needs: Needs,
    /// Sizes of the parameters, if the driver tells them.
    pub(super) sizes: Option<Vec<usize>>,
    resources: Resources,
}

// SAFETY: the driver's functions may be called from any thread, and a kernel's handle is as good as its module.
unsafe impl Send for Function {}
// SAFETY: as above; the only change is an attribute that every thread sets to the same value.
unsafe impl Sync for Function {}

#[derive(Clone, Copy, Debug)]
struct Resources {
    registers: u32,
    private_memory: u32,
    warp: u32,
}

impl Function {
    /// Asks the driver about `raw`, a kernel of a loaded module of the current context.
    pub(super) fn of(raw: CUfunction, entered: &Entered<'_>) -> Result<Function, DriverError> {
        let value = |attribute| {
            // SAFETY: the kernel's module is loaded.
            unsafe { function::get_function_attribute(raw, attribute) }
                .map(|value| u32::try_from(value).unwrap_or(0))
        };
        let needs = Needs {
            max_threads: value(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            static_shared: value(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        };
        let resources = Resources {
            registers: value(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            private_memory: value(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            warp: entered.limits().warp,
        };
        // SAFETY: as above.
        let sizes = unsafe { entered.driver().parameter_sizes(raw) };
        Ok(Function { raw, needs, sizes, resources })
    }

    /// `info` with what the driver knows in the place of what the pack does not.
    pub(super) fn complete(&self, mut info: KernelInfo) -> KernelInfo {
        let Resources { registers, private_memory, warp } = self.resources;
        info.registers.get_or_insert(registers);
        info.private_memory.get_or_insert(private_memory.into());
        info.sub_group_size.get_or_insert(warp);
        info.local_memory.get_or_insert(self.needs.static_shared.into());
        info.max_work_group.get_or_insert(self.needs.max_threads);
        if info.args.as_ref().is_none_or(Vec::is_empty) {
            let told = |sizes: &Vec<usize>| sizes.iter().map(|size| unknown_arg(*size)).collect();
            info.args = self.sizes.as_ref().map(told).or(info.args);
        }
        info
    }

    /// Lets the kernel have as much dynamic shared memory as `shape` says.
    pub(super) fn opt_in(&self, shape: &Shape) -> Result<(), DriverError> {
        let Some(most) = shape.opt_in else { return Ok(()) };
        let set = |bytes: u32| {
            let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
            let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the kernel's module is loaded.
            unsafe { function::set_function_attribute(self.raw, attribute, bytes) }
        };
        // Always the most: a lower value of another thread would take it from this launch.
        set(most).or_else(|_| set(shape.shared))
    }
}

fn unknown_arg(size: usize) -> ArgInfo {
    let size = u32::try_from(size).ok();
    ArgInfo::new(ArgKind::from_u16(UNKNOWN_KIND)).with_size(size)
}
