//! The driver's properties of a kernel.

use opencl_sys::{
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_WORK_GROUP_SIZE,
};

use super::answers::sizes_of;
use super::api::{DeviceId, Kernel};
use super::device::is_intel_gpu;
use crate::properties::KernelProperties;

/// `CL_KERNEL_SPILL_MEM_SIZE_INTEL`
/// (<https://registry.khronos.org/OpenCL/extensions/intel/cl_intel_required_subgroup_size.html>).
pub(super) const CL_KERNEL_SPILL_MEM_SIZE_INTEL: u32 = 0x4109;
/// `CL_KERNEL_REGISTER_COUNT_INTEL`
/// (<https://github.com/intel/compute-runtime/blob/master/opencl/extensions/public/cl_ext_private.h>).
pub(super) const CL_KERNEL_REGISTER_COUNT_INTEL: u32 = 0x425b;

/// The properties of `kernel`, whose arguments are not set: local memory of arguments would count.
pub(super) fn query(kernel: &Kernel, device: DeviceId) -> KernelProperties {
    let mut properties = KernelProperties {
        local_memory: kernel_number(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE),
        // A driver that does not know it answers 0.
        private_memory: kernel_number(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE).filter(|bytes| *bytes > 0),
        max_work_group: kernel_number(kernel, device, CL_KERNEL_WORK_GROUP_SIZE).filter(|items| *items > 0),
        preferred_multiple: kernel_count(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)
            .filter(|items| *items > 0),
        required_work_group: required_size(kernel, device),
        ..KernelProperties::default()
    };
    if is_intel_gpu(device) {
        properties.registers = kernel_count(kernel, device, CL_KERNEL_REGISTER_COUNT_INTEL);
        properties.spilled = kernel_number(kernel, device, CL_KERNEL_SPILL_MEM_SIZE_INTEL);
    }
    properties
}

/// "If the work-group size is not specified ... (0, 0, 0) is returned."
fn required_size(kernel: &Kernel, device: DeviceId) -> Option<[u32; 3]> {
    let answer = kernel.work_group_info(device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE).ok()?;
    let [x, y, z] = *sizes_of(&answer).first_chunk::<3>()?;
    let size = [u32::try_from(x).ok()?, u32::try_from(y).ok()?, u32::try_from(z).ok()?];
    (!size.contains(&0)).then_some(size)
}

pub(super) fn kernel_number(kernel: &Kernel, device: DeviceId, parameter: u32) -> Option<u64> {
    number(&kernel.work_group_info(device, parameter).ok()?)
}

pub(super) fn kernel_count(kernel: &Kernel, device: DeviceId, parameter: u32) -> Option<u32> {
    u32::try_from(kernel_number(kernel, device, parameter)?).ok()
}

/// A number of 4 or 8 bytes: releases of Intel's driver differ.
fn number(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 => Some(u32::from_ne_bytes(bytes.try_into().ok()?).into()),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_sizes() {
        assert_eq!(number(&640u32.to_ne_bytes()), Some(640));
        assert_eq!(number(&(1u64 << 40).to_ne_bytes()), Some(1 << 40));
        assert_eq!((number(&[]), number(&[1, 2])), (None, None));
    }
}
