//! An image that a driver has built, and its kernels: setting their arguments and putting them into a queue.

use std::sync::{Arc, Mutex, TryLockError};

use offload_format::pack::KernelInfo;
use opencl_sys::{
    CL_DEVICE_MAX_COMPUTE_UNITS, CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE,
    CL_KERNEL_WORK_GROUP_SIZE,
};

use super::answers;
use super::api::{Buffer, ClError, ClResult, DeviceId, Kernel, KernelArg as Arg, Program};
use super::context::ClContext;
use super::external::with_external;
use super::image::{ClImage, ClSampler};
use super::kernel_properties;
use super::memory::ClMemory;
use super::rebuild::BuiltImage;
use super::stream::ClStream;
use crate::backend::{
    BackendKernel, BackendModule, BackendOutput, BackendStream, ContextId, MemoryRange, downcast,
};
use crate::backend::{
    KernelArg, KernelArgKind, no_textures, refuse_mode, refuse_shared_memory, uneven_range,
};
use crate::error::{Error, Problem};
use crate::group_size::{GroupSizes, USUAL_GROUP};
use crate::properties::KernelProperties;
use crate::range::{NdRange, widened};

/// An image that an OpenCL driver has built.
///
/// Kernels that an Intel GPU's driver has compiled from SPIR-V and that spill registers are built for the large
/// register file too, and each is launched from its better build. [`KernelInfo::remark`] says what was chosen and why,
/// `registers`, `spilled` and `max_work_group` are those of that build; larger work-groups are launched from the other.
#[derive(Debug)]
pub(super) struct ClModule {
    // Released in this order.
    pub(super) built: BuiltImage<Program>,
    /// The linked libraries, kept so that other images share them.
    pub(super) _libraries: Vec<Arc<Program>>,
    /// Where its assertions fail.
    pub(super) failures: Option<Arc<dyn BackendOutput>>,
    pub(super) context: Arc<ClContext>,
}

impl BackendModule for ClModule {
    fn kernels(&self) -> &[KernelInfo] {
        self.built.kernels()
    }

    fn kernel(self: Arc<Self>, name: &str) -> Result<Box<dyn BackendKernel>, Error> {
        // An image without records is left to the driver, which knows its kernels.
        let known = self.kernels().iter().find(|kernel| kernel.name == name).cloned();
        let info = known.unwrap_or_else(|| KernelInfo::new(name));
        Ok(Box::new(ClKernel::new(self, info)?))
    }
}

/// A kernel, in each of the builds that it may be launched from.
#[derive(Debug)]
pub(super) struct ClKernel {
    info: KernelInfo,
    arg_count: usize,
    // Released in this order.
    default: Mutex<Kernel>,
    large: Option<Mutex<Kernel>>,
    module: Arc<ClModule>,
}

impl ClKernel {
    pub(super) fn new(module: Arc<ClModule>, info: KernelInfo) -> Result<ClKernel, Error> {
        let name = info.name.as_str();
        if name.contains('\0') {
            return Err(Error::launch(name, "the name has a NUL"));
        }
        let default = create_kernel(module.built.default_program(), name)?;
        let large = match module.built.large_program(name) {
            Some(program) => Some(Mutex::new(create_kernel(program, name)?)),
            None => None,
        };
        let arg_count = default.arg_count();
        let arg_count = arg_count
            .map_err(|error| Error::launch(name, format!("does not tell its arguments: {error}")))?;
        Ok(ClKernel { info, arg_count, default: Mutex::new(default), large, module })
    }

    /// The driver's object for work-groups of `size` work-items.
    fn object(&self, size: u64) -> &Mutex<Kernel> {
        match &self.large {
            Some(large) if self.module.built.is_large_better(&self.info.name, size) => large,
            _ => &self.default,
        }
    }
}

impl ClKernel {
    /// The driver's program, in the build that is right for small work-groups.
    pub(super) fn program(&self) -> &Program {
        self.module.built.default_program()
    }

    /// Another object of the driver's for the same kernel, whose arguments are not set.
    pub(super) fn another(&self) -> ClResult<Kernel> {
        self.program().kernel(&self.info.name)
    }
}

fn create_kernel(program: &Program, name: &str) -> Result<Kernel, Error> {
    program.kernel(name).map_err(|error| Error::launch(name, format!("cannot be created: {error}")))
}

impl BackendKernel for ClKernel {
    fn context(&self) -> ContextId {
        self.module.context.id()
    }

    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn properties(&self) -> KernelProperties {
        let known = KernelProperties::from_info(&self.info);
        let Ok(kernel) = self.another() else { return known };
        let reported = kernel_properties::query(&kernel, self.module.context.device());
        KernelProperties {
            // Those of the build that small work-groups are launched from.
            registers: known.registers.or(reported.registers),
            spilled: known.spilled.or(reported.spilled),
            local_memory: reported.local_memory.or(known.local_memory),
            private_memory: reported.private_memory.or(known.private_memory),
            max_work_group: reported.max_work_group.or(known.max_work_group),
            preferred_multiple: reported.preferred_multiple.or(known.preferred_multiple),
            required_work_group: reported.required_work_group.or(known.required_work_group),
        }
    }

    /// Small launches are spread over the compute units.
    fn group_sizes(&self, shared_memory: u32) -> Result<GroupSizes, Problem> {
        refuse_shared_memory(&NdRange::linear_at_least(1, 1).with_shared_memory(shared_memory))?;
        let properties = BackendKernel::properties(self);
        let device = self.module.context.device();
        let most = properties.max_work_group.map_or(1, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let most = match answers::group_extents(device) {
            Some([width, ..]) => most.min(usize::try_from(width).unwrap_or(usize::MAX)),
            None => most,
        };
        let multiple = properties.preferred_multiple.unwrap_or(1) as usize;
        let units = answers::word(device, CL_DEVICE_MAX_COMPUTE_UNITS).unwrap_or(1) as usize;
        Ok(GroupSizes { units, ..GroupSizes::with_most(most.min(USUAL_GROUP), multiple) })
    }

    fn output(&self) -> Option<Arc<dyn BackendOutput>> {
        self.module.failures.clone()
    }

    unsafe fn launch(
        &self,
        stream: &dyn BackendStream,
        range: &NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Problem> {
        refuse_mode(range)?;
        refuse_shared_memory(range)?;
        if self.arg_count != args.len() {
            return Err(format!("it takes {} arguments, {} are given", self.arg_count, args.len()).into());
        }
        let stream = downcast::<ClStream>(stream)?;
        // An object holds its arguments, so that one thread at a time sets them. Another does not wait: it creates an
        // object of its own.
        let own;
        let locked;
        let kernel: &Kernel = match self.object(range.group_size() as u64).try_lock() {
            Ok(kernel) => {
                locked = kernel;
                &locked
            }
            Err(TryLockError::Poisoned(poisoned)) => {
                locked = poisoned.into_inner();
                &locked
            }
            Err(TryLockError::WouldBlock) => {
                let program = self.module.built.program_for(&self.info.name, range.group_size() as u64);
                let kernel = program.kernel(&self.info.name);
                own = kernel.map_err(|error| format!("cannot be created: {error}"))?;
                &own
            }
        };
        // SAFETY: the caller answers for what the kernel does with these arguments.
        unsafe { enqueue(kernel, stream, range, args) }
    }
}

/// # Safety
/// `kernel` is this thread's, and may run on `args` over `range`.
pub(super) unsafe fn enqueue(
    kernel: &Kernel,
    stream: &ClStream,
    range: &NdRange,
    args: &[KernelArg<'_>],
) -> Result<(), Problem> {
    // "A kernel object does not update the reference count for objects set as argument values" (the specification, of
    // `clSetKernelArg`): until the kernel is in the queue these have to be there. Without parts nothing is allocated.
    if range.is_uneven() && !stream.has_uneven_ranges() {
        return Err(uneven_range(range, "the device"));
    }
    let mut parts = Vec::new();
    let mut local_memory: u64 = 0;
    for (index, arg) in (0..).zip(args) {
        if let KernelArgKind::Local(size) = arg.0 {
            local_memory = local_memory.saturating_add(size as u64);
        }
        // SAFETY: as promised.
        parts.extend(unsafe { set(kernel, index, *arg, stream)? });
    }
    if let Some(most) = stream.local_memory().filter(|most| local_memory > *most) {
        return Err(too_much_local_memory(local_memory, most));
    }
    let used = args.iter().filter_map(|arg| match arg.0 {
        KernelArgKind::Memory(memory) => Some(memory),
        _ => None,
    });
    let current = stream.current();
    with_external(&current.queue, used, || {
        // SAFETY: every argument was set; the caller answers for the rest.
        let launched = unsafe { kernel.launch(&current.queue, range) };
        launched.map_err(|error| launch_failed(kernel, stream.device(), range, error))
    })
}

/// A launch whose arguments are more local memory than a work-group has. Drivers refuse it without a reason, and PoCL ends
/// the program.
#[cold]
fn too_much_local_memory(taken: u64, most: u64) -> Problem {
    let text = format!("its arguments are {taken} bytes of local memory, and a work-group has {most}");
    Problem::with_hint(text, "`device.properties()?.local_memory` is the limit")
}

/// The error of a launch, with the limit that a work-group is above.
#[cold]
fn launch_failed(kernel: &Kernel, device: DeviceId, range: &NdRange, error: ClError) -> Problem {
    let mut text = format!("the launch failed: {error}");
    if let ClError::Code(CL_INVALID_WORK_GROUP_SIZE | CL_INVALID_WORK_ITEM_SIZE) = error {
        let limits = GroupLimits::new(kernel, device);
        if let Some(above) = limits.exceeded_by(range) {
            text = format!("{text}: {above}");
        } else if range.is_uneven() {
            text = format!(
                "{text}: the range has smaller last work-groups, which kernels have from OpenCL C 2.0 on"
            );
            return Problem::with_hint(text, range.fitting_hint());
        }
    }
    text.into()
}

/// The largest work-groups of a kernel on a device, as far as the driver tells.
struct GroupLimits {
    /// Work-items of a group.
    items: Option<u64>,
    /// The extent of a group in each dimension.
    extents: Option<[u64; 3]>,
}

impl GroupLimits {
    fn new(kernel: &Kernel, device: DeviceId) -> GroupLimits {
        let items = kernel.work_group_info(device, CL_KERNEL_WORK_GROUP_SIZE).unwrap_or_default();
        GroupLimits {
            items: answers::sizes_of(&items).first().copied(),
            extents: answers::group_extents(device),
        }
    }

    /// The limit that a work-group of `range` exceeds.
    fn exceeded_by(&self, range: &NdRange) -> Option<String> {
        let local = widened(range.local());
        let size = range.group_size() as u64;
        if let Some(most) = self.extents
            && local.iter().zip(&most).any(|(size, most)| size > most)
        {
            return Some(format!("local size {local:?} is more than the device's {most:?}"));
        }
        let most = self.items.filter(|most| size > *most)?;
        Some(format!("a work-group of {size} work-items is more than the {most} that this kernel allows"))
    }
}

/// Returns the object that was made for a part of a buffer: it has to live until the kernel is in a queue.
///
/// # Safety
/// The argument number `index` of `kernel` is of the kind of `arg`.
unsafe fn set(
    kernel: &Kernel,
    index: u32,
    arg: KernelArg<'_>,
    stream: &ClStream,
) -> Result<Option<Buffer>, Problem> {
    let mut part = None;
    let arg = match arg.0 {
        KernelArgKind::Value(bytes) => Arg::Value(bytes),
        KernelArgKind::Local(size) => Arg::Local(size),
        KernelArgKind::Memory(MemoryRange { memory, offset: 0, .. }) => {
            Arg::Buffer(downcast::<ClMemory>(memory.get())?.for_stream(stream.queue()))
        }
        // There is no object for an empty part, and no byte that the kernel may access.
        KernelArgKind::Memory(MemoryRange { size: 0, .. }) => Arg::NoBuffer,
        KernelArgKind::Memory(MemoryRange { memory, offset, size, .. }) => {
            let created = downcast::<ClMemory>(memory.get())?.for_stream(stream.queue()).part(offset, size);
            let created = created.map_err(|error| {
                let text = format!("argument {index} starts at byte {offset} of its buffer: {error}");
                Problem::with_hint(
                    text,
                    "start parts at multiples of 128 bytes, or pass the whole buffer and an index",
                )
            })?;
            Arg::Buffer(part.insert(created))
        }
        KernelArgKind::Image(image, _) => Arg::Image(&downcast::<ClImage>(&**image)?.image),
        KernelArgKind::Texture(_) => return Err(no_textures()),
        KernelArgKind::Sampler(sampler) => Arg::Sampler(&downcast::<ClSampler>(&**sampler)?.sampler),
    };
    // SAFETY: as promised; the driver keeps the buffers of kernels that are in a queue.
    let set = unsafe { kernel.set_arg(index, arg) };
    set.map_err(|error| Problem::from(format!("argument {index} is refused: {error}")))?;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exceeded(local: [usize; 3], limits: &GroupLimits) -> Option<String> {
        limits.exceeded_by(&NdRange::new(local, local))
    }

    #[test]
    fn the_limit_that_a_group_is_above_is_named() {
        let limits = GroupLimits { items: Some(256), extents: Some([512, 512, 64]) };
        let extent = exceeded([1, 1, 65], &limits).unwrap();
        assert!(extent.contains("[1, 1, 65]") && extent.contains("[512, 512, 64]"), "{extent}");
        let items = exceeded([32, 16, 1], &limits).unwrap();
        assert!(items.contains("512") && items.contains("256"), "{items}");
        assert_eq!(exceeded([256, 1, 1], &limits), None);
        let unknown = GroupLimits { items: None, extents: None };
        assert_eq!(exceeded([4096, 1, 1], &unknown), None);
    }
}
