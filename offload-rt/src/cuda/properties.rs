//! The properties of a CUDA device, and what other drivers tell of it too.

use super::api::{
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
    CU_DEVICE_ATTRIBUTE_INTEGRATED, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CUdevice_attribute,
    CuResult, DeviceId,
};
use super::driver::{CUDA, CudaDriver};
use super::limits::limits;
use crate::description::CudaVersion;
use crate::identity::{DeviceIdentity, DeviceUuid};
use crate::properties::{CacheSizes, DeviceProperties};

pub(super) fn properties(device: DeviceId) -> CuResult<DeviceProperties> {
    let caches = CacheSizes {
        l2: positive(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE).map(u64::from),
        ..CacheSizes::default()
    };
    Ok(DeviceProperties {
        memory: device.total_memory().ok().filter(|bytes| *bytes > 0),
        is_memory_unified: device.attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED).ok().map(|value| value != 0),
        takes_memory_advice: device
            .attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
            .ok()
            .map(|value| value != 0),
        compute_units: positive(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        clock_khz: positive(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        max_work_group: positive(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK).map(u64::from),
        caches,
        driver_version: driver_version(),
        ..limits(device)?.properties()
    })
}

pub(super) fn identity(device: DeviceId) -> DeviceIdentity {
    DeviceIdentity {
        pci: device.pci_address().ok().and_then(|address| address.parse().ok()),
        uuid: device.uuid().ok().and_then(DeviceUuid::from_driver),
        ..DeviceIdentity::unknown(CUDA)
    }
}

/// The value of an attribute, if the driver knows it and the device has some.
fn positive(device: DeviceId, attribute: CUdevice_attribute) -> Option<u32> {
    device.attribute(attribute).ok().filter(|value| *value > 0)
}

fn driver_version() -> Option<String> {
    let driver = CudaDriver::open().ok()?;
    Some(CudaVersion::new(driver.version()).to_string())
}
