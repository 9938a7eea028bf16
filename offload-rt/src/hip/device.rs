//! The devices of HIP's runtime, and their descriptions.

use std::ffi::c_int;

use super::api::{DeviceId, HipApi, HipResult};
use super::limits::limits;
use super::runtime::{HIP, HipRuntime, no_device};
use crate::description::HipDescription;
use crate::device::Device;
use crate::error::Error;
use crate::gpu::{Context, GpuDevice, Limits};

/// A device that the runtime has listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HipDevice {
    id: DeviceId,
    limits: Limits,
}

impl HipDevice {
    pub(super) fn id(self) -> DeviceId {
        self.id
    }

    pub(super) fn ordinal(self) -> c_int {
        self.id.ordinal
    }

    pub(super) fn context(self) -> Context<HipApi> {
        Context::new(self.id.api, self.id.ordinal, self.limits)
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
    for id in DeviceId::all(runtime.functions())? {
        devices.push(describe(runtime, id)?);
    }
    Ok(devices)
}

fn describe(runtime: HipRuntime, id: DeviceId) -> HipResult<Device> {
    let properties = id.properties()?;
    let name = properties.name();
    let description = HipDescription::new(&name, &properties.target_id());
    let description = match runtime.version() {
        Some(version) => description.runtime_version(version),
        None => description,
    };
    let device = HipDevice { id, limits: limits(&properties) };
    Ok(Device::from_backend(description, GpuDevice::<HipApi>::new(name, device, None)))
}
