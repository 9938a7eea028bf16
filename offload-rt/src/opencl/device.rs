//! OpenCL devices and their descriptions.

use std::sync::{Arc, OnceLock};

use offload_format::SpirvVersion;
use opencl_sys::{
    CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_EXTENSIONS, CL_DEVICE_IL_VERSION, CL_DEVICE_NAME, CL_DEVICE_TYPE,
    CL_DEVICE_TYPE_GPU, CL_DEVICE_VENDOR, CL_DEVICE_VENDOR_ID,
};

use super::answers::{has, long, text, word};
use super::api::DeviceId;
use super::aspects::DeviceFeatures;
use super::context::ClContext;
use super::properties::Properties;
use crate::description::OpenClDescription;
use crate::device::Device;
use crate::error::{Error, Problem};
use crate::text::escape;

/// `CL_DEVICE_IP_VERSION_INTEL`
/// (<https://registry.khronos.org/OpenCL/extensions/intel/cl_intel_device_attribute_query.html>).
const CL_DEVICE_IP_VERSION_INTEL: u32 = 0x4250;

/// Intel's number among PCI's vendors.
const INTEL: u32 = 0x8086;

/// The device name in errors of the loader.
pub(super) const LOADER: &str = "OpenCL";

/// The driver's device.
#[derive(Debug)]
pub(crate) struct ClDevice {
    id: DeviceId,
    pub(super) description: OpenClDescription,
    /// Taken when it is needed first, and kept as long as the device lives.
    context: OnceLock<Arc<ClContext>>,
}

impl ClDevice {
    /// # Errors
    /// `device` is not of OpenCL.
    pub(super) fn from_device(device: &Device) -> Result<&ClDevice, Error> {
        device.backend_as().ok_or_else(|| {
            Error::device(&device.to_string(), "it is not an OpenCL device")
                .with_hint("take devices from offload_rt::opencl::devices()")
        })
    }

    pub(super) fn id(&self) -> DeviceId {
        self.id
    }

    /// The context that everything of the device shares.
    pub(super) fn context(&self) -> Result<Arc<ClContext>, Problem> {
        if let Some(context) = self.context.get() {
            return Ok(context.clone());
        }
        let context = ClContext::for_device(self.id)?;
        Ok(self.context.get_or_init(|| context).clone())
    }

    /// The device's name, safe to show.
    pub(super) fn name(&self) -> String {
        escape(&self.description.name)
    }
}

/// Whether it is a GPU whose driver reports register spills.
pub(super) fn is_intel_gpu(id: DeviceId) -> bool {
    word(id, CL_DEVICE_VENDOR_ID) == Some(INTEL)
        && long(id, CL_DEVICE_TYPE).is_some_and(|kind| kind & CL_DEVICE_TYPE_GPU != 0)
        && has(&text(id, CL_DEVICE_EXTENSIONS), "cl_intel_required_subgroup_size")
}

/// The device `id`, with its description.
pub(super) fn from_id(id: DeviceId) -> Device {
    describe(id, OnceLock::new())
}

/// Devices with `units` compute units each, of all that `device` has.
pub(super) fn partition(device: &Device, units: u32) -> Result<Vec<Device>, Error> {
    let whole = ClDevice::from_device(device)?;
    let parts = whole.id.partition(units).map_err(|error| {
        let problem = format!("it cannot be divided into devices of {units} compute units: {error}");
        Error::device(&device.to_string(), problem)
            .with_hint("drivers of CPUs have it (CL_DEVICE_PARTITION_PROPERTIES); GPUs mostly do not")
    })?;
    Ok(parts.into_iter().map(from_id).collect())
}

/// The device of the caller's `context`.
pub(super) fn from_context(context: Arc<ClContext>) -> Device {
    describe(context.device(), OnceLock::from(context))
}

fn describe(id: DeviceId, context: OnceLock<Arc<ClContext>>) -> Device {
    let mut device = OpenClDescription::new(&text(id, CL_DEVICE_NAME), &text(id, CL_DEVICE_VENDOR))
        .spirv(&spirv_versions(&text(id, CL_DEVICE_IL_VERSION)));
    device.opencl_c = word(id, CL_DEVICE_COMPILER_AVAILABLE).is_some_and(|available| available != 0);
    let extensions = text(id, CL_DEVICE_EXTENSIONS);
    let properties = Properties::query(id);
    device.aspects = DeviceFeatures::query(id, &extensions).aspects();
    device.max_work_group = Some(properties.max_work_group);
    device.sub_group_sizes = properties.sub_group_sizes;
    if has(&extensions, "cl_intel_device_attribute_query") {
        device.intel_ip = word(id, CL_DEVICE_IP_VERSION_INTEL).map(ip_version).filter(|[gpu, ..]| *gpu != 0);
    }
    Device::from_backend(device.clone(), ClDevice { id, description: device, context })
}

/// From a list as `SPIR-V_1.2 SPIR-V_1.1 SPIR-V_1.0`.
fn spirv_versions(list: &str) -> Vec<SpirvVersion> {
    let minors = list.split(' ').filter_map(|word| word.strip_prefix("SPIR-V_1.")?.parse().ok());
    minors.filter_map(SpirvVersion::new).collect()
}

/// Architecture, release and revision from the bits of `GMD_ID`.
fn ip_version(bits: u32) -> [u32; 3] {
    [bits >> 22, bits >> 14 & 0xff, bits & 0x3f]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        fn minors(list: &str) -> Vec<u8> {
            spirv_versions(list).iter().map(|version| version.minor()).collect()
        }
        assert_eq!(minors("SPIR-V_1.2 SPIR-V_1.1 SPIR-V_1.0"), [2, 1, 0]);
        assert_eq!(minors("SPIR-V_1.4"), [4]);
        assert_eq!(minors("SPIR-V_2.0 OTHER_1.2 SPIR-V_1.99"), [0u8; 0]);
        assert_eq!(minors(""), [0u8; 0]);
    }

    #[test]
    fn intel_ip_versions_are_read() {
        // Ponte Vecchio B, from https://github.com/intel/compute-runtime.
        assert_eq!(ip_version(0x030f_0007), [12, 60, 7]);
        assert_eq!(ip_version(0x030d_c008), [12, 55, 8]);
    }
}
