//! Asking a driver what SYCL's rules look at.

use opencl3::device::{
    CL_DEVICE_EXTENSIONS, CL_DEVICE_IMAGE_SUPPORT, CL_DEVICE_LINKER_AVAILABLE, CL_DEVICE_MAX_WORK_GROUP_SIZE,
    CL_DEVICE_MAX_WORK_ITEM_SIZES, CL_DEVICE_TYPE, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU,
    CL_DEVICE_TYPE_GPU, get_device_data,
};
use opencl3::types::cl_device_id;

use offload_format::Aspects;

use super::device::{has, long, text, word};
use crate::bundle::{DeviceArch, Traits};
use crate::device::OpenClDevice;

/// `CL_DEVICE_SUB_GROUP_SIZES_INTEL`
/// (<https://registry.khronos.org/OpenCL/extensions/intel/cl_intel_required_subgroup_size.html>).
const CL_DEVICE_SUB_GROUP_SIZES_INTEL: u32 = 0x4108;

pub(super) fn of(id: cl_device_id, device: &OpenClDevice) -> Traits {
    let kind = long(id, CL_DEVICE_TYPE).unwrap_or(0);
    let extents = sizes(id, CL_DEVICE_MAX_WORK_ITEM_SIZES);
    let extent = |dimension: usize| extents.get(dimension).copied().unwrap_or(1);
    let group = sizes(id, CL_DEVICE_MAX_WORK_GROUP_SIZE).first().copied().unwrap_or(1);
    let sub_groups = match has(&text(id, CL_DEVICE_EXTENSIONS), "cl_intel_required_subgroup_size") {
        true => sizes(id, CL_DEVICE_SUB_GROUP_SIZES_INTEL),
        false => Vec::new(),
    };
    let is = |parameter| word(id, parameter).is_some_and(|value| value != 0);
    Traits {
        arch: arch(kind, device),
        aspects: aspects(kind, device, (is(CL_DEVICE_IMAGE_SUPPORT), is(CL_DEVICE_LINKER_AVAILABLE))),
        work_group: (group, [extent(0), extent(1), extent(2)]),
        sub_groups: sub_groups.into_iter().filter_map(|size| u32::try_from(size).ok()).collect(),
        spirv: device.spirv.clone(),
    }
}

fn arch(kind: u64, device: &OpenClDevice) -> DeviceArch {
    match device.intel_ip {
        Some(ip) if kind & CL_DEVICE_TYPE_GPU != 0 => DeviceArch::IntelGpu(ip),
        _ if kind & CL_DEVICE_TYPE_CPU != 0 && cfg!(target_arch = "x86_64") => DeviceArch::Cpu,
        _ => DeviceArch::Other,
    }
}

/// The numbers of SYCL's aspects that can be told from OpenCL; a module that needs another one is left out.
fn aspects(kind: u64, device: &OpenClDevice, (images, linker): (bool, bool)) -> Vec<u32> {
    let has = |aspect: Aspects| aspect.missing_from(device.aspects).is_empty();
    let all = [
        (1, kind & CL_DEVICE_TYPE_CPU != 0),
        (2, kind & CL_DEVICE_TYPE_GPU != 0),
        (3, kind & CL_DEVICE_TYPE_ACCELERATOR != 0),
        (5, has(Aspects::FP16)),
        (6, has(Aspects::FP64)),
        // Images; an online compiler and linker; profiling of queues, which every OpenCL device has.
        (9, images),
        (10, device.opencl_c),
        (11, linker),
        (12, true),
        (28, has(Aspects::ATOMIC64)),
    ];
    all.into_iter().filter_map(|(aspect, present)| present.then_some(aspect)).collect()
}

/// Numbers as large as addresses.
fn sizes(id: cl_device_id, parameter: u32) -> Vec<u64> {
    let bytes = get_device_data(id, parameter).unwrap_or_default();
    let size = |bytes: &[u8]| Some(usize::from_ne_bytes(bytes.try_into().ok()?) as u64);
    bytes.chunks(size_of::<usize>()).filter_map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aspects_have_sycl_s_numbers() {
        let device = OpenClDevice::new("a", "b").aspects(Aspects::FP64).opencl_c();
        assert_eq!(aspects(CL_DEVICE_TYPE_CPU, &device, (false, true)), [1, 6, 10, 11, 12]);
        let device = OpenClDevice::new("a", "b").aspects(Aspects::FP16 | Aspects::ATOMIC64);
        assert_eq!(aspects(CL_DEVICE_TYPE_GPU, &device, (true, false)), [2, 5, 9, 12, 28]);
    }

    #[test]
    fn a_gpu_is_told_by_its_version() {
        let gpu = OpenClDevice::new("a", "b").intel_ip([12, 60, 7]);
        assert_eq!(arch(CL_DEVICE_TYPE_GPU, &gpu), DeviceArch::IntelGpu([12, 60, 7]));
        assert_eq!(arch(CL_DEVICE_TYPE_GPU, &OpenClDevice::new("a", "b")), DeviceArch::Other);
    }
}
