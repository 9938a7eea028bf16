//! Asking the runtime for its devices.

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

/// The devices of `driver`.
pub(super) fn all(runtime: HipRuntime) -> Result<Vec<Device>, Error> {
    let failed = |error| Error::device(HIP, format!("cannot list devices: {error}"));
    let devices = DeviceId::all(runtime.functions()).map_err(failed)?;
    let devices: Vec<Device> =
        devices.into_iter().map(|device| one(runtime, device).map_err(failed)).collect::<Result<_, _>>()?;
    if devices.is_empty() { Err(no_device()) } else { Ok(devices) }
}

fn one(runtime: HipRuntime, device: DeviceId) -> HipResult<Device> {
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
