//! The runtime's devices and their properties.

use std::ffi::c_int;

use super::library::HipApi;
use super::properties::Properties;
use super::types::hipErrorNoDevice;
use super::{HipError, HipResult};
use crate::gpu::call;

/// A device, which needs no release.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceId {
    pub(crate) api: &'static HipApi,
    pub(crate) ordinal: c_int,
}

impl DeviceId {
    /// All devices, in the runtime's order. The runtime has been started.
    pub(crate) fn all(api: &'static HipApi) -> HipResult<Vec<DeviceId>> {
        let mut count = 0;
        // SAFETY: the function writes one number.
        match unsafe { call!(api, hipGetDeviceCount(&raw mut count)) } {
            Err(HipError::Code(hipErrorNoDevice, _)) => count = 0,
            other => other?,
        }
        Ok((0..count).map(|ordinal| DeviceId { api, ordinal }).collect())
    }

    /// The properties of the device.
    pub(crate) fn properties(self) -> HipResult<Box<Properties>> {
        let mut properties = Box::new(Properties::empty());
        let place: *mut Properties = &raw mut *properties;
        // SAFETY: the place is larger than the structure that the function fills.
        unsafe { call!(self.api, hipGetDevicePropertiesR0600(place, self.ordinal)) }?;
        Ok(properties)
    }
}
