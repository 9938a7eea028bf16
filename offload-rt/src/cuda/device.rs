//! The devices of CUDA's driver, and their descriptions.

use super::api::{
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, CuResult,
    CudaApi, DeviceId,
};
use super::driver::{CUDA, CudaDriver, no_device};
use crate::description::CudaDescription;
use crate::device::Device;
use crate::error::Error;
use crate::gpu::{Context, GpuDevice};

/// The devices of `driver`.
pub(super) fn all(driver: CudaDriver) -> Result<Vec<Device>, Error> {
    let devices = list(driver);
    let devices = devices.map_err(|error| Error::device(CUDA, format!("cannot list devices: {error}")))?;
    if devices.is_empty() { Err(no_device()) } else { Ok(devices) }
}

fn list(driver: CudaDriver) -> CuResult<Vec<Device>> {
    let mut devices = Vec::new();
    for device in DeviceId::all(driver.functions())? {
        devices.push(describe(driver, device, None)?);
    }
    Ok(devices)
}

/// The device of the caller's `context`, which everything that is made of it uses.
pub(crate) fn from_context(driver: CudaDriver, context: Context<CudaApi>) -> CuResult<Device> {
    let device = context.handle().device();
    describe(driver, device, Some(context))
}

fn describe(driver: CudaDriver, device: DeviceId, context: Option<Context<CudaApi>>) -> CuResult<Device> {
    let capability = [
        device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    ];
    let name = device.name()?;
    let description = CudaDescription::new(&name, capability).driver_version(driver.version());
    Ok(Device::from_backend(description, GpuDevice::new(name, device, context)))
}
