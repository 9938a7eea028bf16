//! Asking the driver for its devices.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result::{DriverError, device};
use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute};

use super::context::Context;
use super::driver::{CUDA, Driver, describe, no_device};
use crate::description::CudaDescription;
use crate::device::Device;
use crate::error::Error;
use crate::text::escape;

/// A device that the driver has found.
#[derive(Debug)]
pub(crate) struct Found {
    name: String,
    driver: Arc<Driver>,
    device: CUdevice,
    context: Mutex<Option<Arc<Context>>>,
}

impl Found {
    /// The device's name, safe to show.
    pub(super) fn name(&self) -> String {
        escape(&self.name)
    }

    /// The device's primary context: taken at the first call, since it costs some hundred megabytes of its memory,
    /// and kept as long as the device or a program lives.
    pub(super) fn context(&self) -> Result<Arc<Context>, DriverError> {
        let mut kept = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = kept.as_ref() {
            return Ok(context.clone());
        }
        let context = Arc::new(Context::retain(&self.driver, self.device)?);
        *kept = Some(context.clone());
        Ok(context)
    }
}

/// The devices of `driver`.
pub(super) fn all(driver: &Arc<Driver>) -> Result<Vec<Device>, Error> {
    let failed = |error| Error::device(CUDA, format!("cannot list devices: {}", describe(error)));
    let count = device::get_count().map_err(failed)?;
    let devices: Vec<Device> =
        (0..count).map(|ordinal| one(driver, ordinal).map_err(failed)).collect::<Result<_, _>>()?;
    if devices.is_empty() { Err(no_device()) } else { Ok(devices) }
}

fn one(driver: &Arc<Driver>, ordinal: i32) -> Result<Device, DriverError> {
    let device = device::get(ordinal)?;
    let value = |attribute| {
        // SAFETY: the device is the driver's.
        unsafe { device::get_attribute(device, attribute) }.map(|value| u32::try_from(value).unwrap_or(0))
    };
    let capability = [
        value(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        value(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    ];
    let name = device::get_name(device)?;
    let description = CudaDescription::new(&name, capability).driver_version(driver.version());
    let found = Found { name, driver: driver.clone(), device, context: Mutex::default() };
    Ok(Device::found(description, found))
}
