//! The properties of a device beyond those of its description.

use opencl_sys::{
    CL_DEVICE_EXTENSIONS, CL_DEVICE_IMAGE_SUPPORT, CL_DEVICE_LINKER_AVAILABLE, CL_DEVICE_MAX_WORK_GROUP_SIZE,
    CL_DEVICE_TYPE, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
};

use super::answers::{flag, group_extents, has, long, sizes, text};
use super::api::DeviceId;

/// `CL_DEVICE_SUB_GROUP_SIZES_INTEL`
/// (<https://registry.khronos.org/OpenCL/extensions/intel/cl_intel_required_subgroup_size.html>).
const CL_DEVICE_SUB_GROUP_SIZES_INTEL: u32 = 0x4108;

/// The driver's properties of an OpenCL device
/// (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#platform-querying-devices>).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// The type of the device.
    pub device_type: DeviceType,
    /// Whether kernels may use images.
    pub images: bool,
    /// Whether it links compiled code.
    pub linker: bool,
    /// Work-items of the largest work-group.
    pub max_work_group: u64,
    /// The largest extent of a work-group in each dimension.
    pub max_work_items: [u64; 3],
    /// The sizes of sub-groups that a kernel may require; none if the driver does not tell.
    pub sub_group_sizes: Vec<u32>,
}

/// The type of an OpenCL device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceType {
    /// The CPU that the program runs on.
    Cpu,
    /// A GPU.
    Gpu,
    /// An accelerator, such as an FPGA.
    Accelerator,
    /// Another one.
    Other,
}

impl Properties {
    /// A device of which nothing else is known, for tests without a device: work-groups of one item.
    pub fn unknown(device_type: DeviceType) -> Properties {
        Properties {
            device_type,
            images: false,
            linker: false,
            max_work_group: 1,
            max_work_items: [1; 3],
            sub_group_sizes: Vec::new(),
        }
    }

    pub(super) fn query(id: DeviceId) -> Properties {
        let sub_groups = if has(&text(id, CL_DEVICE_EXTENSIONS), "cl_intel_required_subgroup_size") {
            sizes(id, CL_DEVICE_SUB_GROUP_SIZES_INTEL)
        } else {
            Vec::new()
        };
        Properties {
            device_type: device_type(long(id, CL_DEVICE_TYPE).unwrap_or(0)),
            images: flag(id, CL_DEVICE_IMAGE_SUPPORT),
            linker: flag(id, CL_DEVICE_LINKER_AVAILABLE),
            max_work_group: sizes(id, CL_DEVICE_MAX_WORK_GROUP_SIZE).first().copied().unwrap_or(1),
            max_work_items: group_extents(id).unwrap_or([1; 3]),
            sub_group_sizes: sub_groups.into_iter().filter_map(|size| u32::try_from(size).ok()).collect(),
        }
    }
}

fn device_type(bits: u64) -> DeviceType {
    let types = [
        (CL_DEVICE_TYPE_GPU, DeviceType::Gpu),
        (CL_DEVICE_TYPE_CPU, DeviceType::Cpu),
        (CL_DEVICE_TYPE_ACCELERATOR, DeviceType::Accelerator),
    ];
    let found = types.into_iter().find(|(bit, _)| bits & bit != 0);
    found.map_or(DeviceType::Other, |(_, device_type)| device_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_types_are_distinguished_by_their_bits() {
        assert_eq!(device_type(CL_DEVICE_TYPE_CPU), DeviceType::Cpu);
        assert_eq!(device_type(CL_DEVICE_TYPE_GPU | 1), DeviceType::Gpu);
        assert_eq!(device_type(CL_DEVICE_TYPE_ACCELERATOR), DeviceType::Accelerator);
        assert_eq!(device_type(16), DeviceType::Other);
    }
}
