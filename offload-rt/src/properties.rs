//! Properties of devices and of loaded kernels, as their drivers tell them.

use offload_format::Aspects;
use offload_format::pack::KernelInfo;

use crate::identity::{DeviceUuid, PciAddress};

/// The properties of a device, made by [`Device::properties`](crate::Device::properties).
///
/// What the driver does not tell is `None`, or an empty list; no number stands for it.
///
/// ```
/// let properties = offload_rt::Device::host().properties()?;
/// if let (Some(memory), Some(free)) = (properties.memory, properties.free_memory) {
///     assert!(free <= memory);
///     println!("{} of {} MiB are free", free >> 20, memory >> 20);
/// }
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// Bytes of global memory. Of the host CPU: of the machine, or the limit of the process's control group.
    pub memory: Option<u64>,
    /// Bytes of it that were free at the time of the query, for all processes.
    pub free_memory: Option<u64>,
    /// Whether the device has no memory of its own, but uses that of the CPU.
    pub is_memory_unified: Option<bool>,
    /// Whether the driver takes advice on managed memory: without it, [`Managed::advise`](crate::Managed::advise) has no effect.
    pub takes_memory_advice: Option<bool>,
    /// Units that run work-groups: multiprocessors of NVIDIA GPUs, compute units of AMD GPUs and of OpenCL, hardware threads
    /// of the CPU that the process may use.
    pub compute_units: Option<u32>,
    /// The highest clock rate of the compute units in kHz, as far as the driver knows it.
    pub clock_khz: Option<u32>,
    /// The sizes of sub-groups in work-items: that of a warp or a wavefront, or those that kernels may require.
    pub sub_group_sizes: Vec<u32>,
    /// Work-items of the largest work-group. A kernel may allow fewer: [`KernelProperties::max_work_group`].
    pub max_work_group: Option<u64>,
    /// The largest extent of a work-group in each dimension, in work-items.
    pub max_work_items: Option<[u64; 3]>,
    /// The most work-groups of a launch in each dimension.
    pub max_groups: Option<[u64; 3]>,
    /// Bytes of local (shared) memory that a work-group can have.
    pub local_memory: Option<u64>,
    /// Bytes of local memory that a work-group can have at most: launches opt in to more than `local_memory` by themselves.
    pub local_memory_opt_in: Option<u64>,
    /// The sizes of caches.
    pub caches: CacheSizes,
    /// The aspects, as in [`DeviceDescription::aspects`](crate::DeviceDescription::aspects).
    pub aspects: Aspects,
    /// The address on PCI.
    pub pci: Option<PciAddress>,
    /// The UUID.
    pub uuid: Option<DeviceUuid>,
    /// The driver's version: that of CUDA that it supports, as `12.8`; of HIP's runtime, as `6.3`; of an OpenCL driver its own
    /// text.
    pub driver_version: Option<String>,
}

/// The sizes of a device's caches in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheSizes {
    /// The cache of first level for data, of one core of a CPU.
    pub l1_data: Option<u64>,
    /// The cache of second level: of the whole GPU, or of one core of a CPU.
    pub l2: Option<u64>,
    /// The cache of third level of a CPU.
    pub l3: Option<u64>,
    /// The cache of global memory of an OpenCL device; its driver decides which level that is.
    pub global: Option<u64>,
}

/// The properties of a loaded kernel, made by [`Kernel::properties`](crate::Kernel::properties): the driver's answers, and what
/// the pack knows where the driver does not tell.
///
/// [`Kernel::info`](crate::Kernel::info) has the pack's record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelProperties {
    /// Registers in the architecture's own unit, as [`KernelInfo::registers`].
    pub registers: Option<u32>,
    /// Spilled bytes of a work-item (AMD, NVIDIA) or of a hardware thread (Intel).
    pub spilled: Option<u64>,
    /// Bytes of local (shared) memory of a work-group, without that of a launch's arguments.
    pub local_memory: Option<u64>,
    /// Bytes of private memory of a work-item.
    pub private_memory: Option<u64>,
    /// Work-items of the largest work-group.
    pub max_work_group: Option<u64>,
    /// The number of work-items of which a work-group's size is best a multiple: a sub-group, or a vector of the CPU.
    pub preferred_multiple: Option<u32>,
    /// The work-group size that the source requires.
    pub required_work_group: Option<[u32; 3]>,
}

impl KernelProperties {
    /// What a record has.
    pub(crate) fn from_info(info: &KernelInfo) -> KernelProperties {
        KernelProperties {
            registers: info.registers,
            spilled: info.spilled,
            local_memory: info.local_memory,
            private_memory: info.private_memory,
            max_work_group: info.max_work_group.map(u64::from),
            preferred_multiple: info.sub_group_size,
            required_work_group: info.required_work_group,
        }
    }
}
