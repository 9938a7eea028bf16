//! CUDA devices and their descriptions.

use std::sync::{Arc, Mutex, PoisonError};

use super::api::{
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, CuResult,
    DeviceId,
};
use super::context::Context;
use super::driver::{CUDA, CudaDriver, no_device};
use crate::description::CudaDescription;
use crate::device::Device;
use crate::error::Error;
use crate::text::escape;

/// A device that the driver has found.
#[derive(Debug)]
pub(crate) struct CudaDevice {
    name: String,
    device: DeviceId,
    context: Mutex<Option<Arc<Context>>>,
}

impl CudaDevice {
    /// # Errors
    /// `device` is not of CUDA.
    pub(super) fn from_device(device: &Device) -> Result<&CudaDevice, Error> {
        device.backend_as().ok_or_else(|| {
            Error::device(&device.to_string(), "it is not a CUDA device")
                .with_hint("take devices from offload_rt::cuda::devices()")
        })
    }

    /// The device's name, safe to show.
    pub(super) fn name(&self) -> String {
        escape(&self.name)
    }

    /// The device's primary context: taken at the first call, since it costs some hundred megabytes of its memory,
    /// and kept as long as the device or a program lives.
    pub(super) fn context(&self) -> CuResult<Arc<Context>> {
        let mut kept = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = kept.as_ref() {
            return Ok(context.clone());
        }
        let context = Arc::new(Context::retain(self.device)?);
        *kept = Some(context.clone());
        Ok(context)
    }
}

/// The devices of `driver`.
pub(super) fn all(driver: CudaDriver) -> Result<Vec<Device>, Error> {
    let devices = list(driver);
    let devices = devices.map_err(|error| Error::device(CUDA, format!("cannot list devices: {error}")))?;
    if devices.is_empty() { Err(no_device()) } else { Ok(devices) }
}

fn list(driver: CudaDriver) -> CuResult<Vec<Device>> {
    let mut devices = Vec::new();
    for device in DeviceId::all(driver.functions())? {
        devices.push(describe(driver, device, Mutex::default())?);
    }
    Ok(devices)
}

/// The device of the caller's `context`, which everything that is made of it uses.
pub(super) fn from_context(driver: CudaDriver, context: Context) -> CuResult<Device> {
    let id = context.device();
    describe(driver, id, Mutex::new(Some(Arc::new(context))))
}

fn describe(driver: CudaDriver, device: DeviceId, context: Mutex<Option<Arc<Context>>>) -> CuResult<Device> {
    let capability = [
        device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    ];
    let name = device.name()?;
    let description = CudaDescription::new(&name, capability).driver_version(driver.version());
    Ok(Device::from_backend(description, CudaDevice { name, device, context }))
}
