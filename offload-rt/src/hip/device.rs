//! HIP devices and their descriptions.

use std::sync::Arc;

use super::api::{DeviceId, HipResult};
use super::context::Context;
use super::limits::Limits;
use super::runtime::{HIP, HipRuntime, no_device};
use crate::description::HipDescription;
use crate::device::Device;
use crate::error::Error;
use crate::text::escape;

/// A device that the runtime has found.
#[derive(Debug)]
pub(crate) struct HipDevice {
    name: String,
    pub(super) context: Arc<Context>,
}

impl HipDevice {
    /// # Errors
    /// `device` is not of HIP.
    pub(super) fn from_device(device: &Device) -> Result<&HipDevice, Error> {
        device.backend_as().ok_or_else(|| {
            Error::device(&device.to_string(), "it is not a HIP device")
                .with_hint("take devices from offload_rt::hip::devices()")
        })
    }

    /// The device's name, safe to show.
    pub(super) fn name(&self) -> String {
        escape(&self.name)
    }
}

/// The devices of `runtime`.
pub(super) fn all(runtime: HipRuntime) -> Result<Vec<Device>, Error> {
    let devices = list(runtime);
    let devices = devices.map_err(|error| Error::device(HIP, format!("cannot list devices: {error}")))?;
    if devices.is_empty() { Err(no_device()) } else { Ok(devices) }
}

fn list(runtime: HipRuntime) -> HipResult<Vec<Device>> {
    let mut devices = Vec::new();
    for device in DeviceId::all(runtime.functions())? {
        devices.push(describe(runtime, device)?);
    }
    Ok(devices)
}

fn describe(runtime: HipRuntime, device: DeviceId) -> HipResult<Device> {
    let properties = device.properties()?;
    let name = properties.name();
    let description = HipDescription::new(&name, &properties.target_id());
    let description = match runtime.version() {
        Some(version) => description.runtime_version(version),
        None => description,
    };
    let context = Arc::new(Context::new(device, Limits::new(&properties)));
    Ok(Device::from_backend(description, HipDevice { name, context }))
}
