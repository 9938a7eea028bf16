//! The runtime's devices and their properties.

use std::ffi::c_int;

use super::error::{HipError, HipResult, call};
use super::library::Functions;
use super::properties::Properties;
use super::types::hipErrorNoDevice;

/// A device, which needs no release.
#[derive(Clone, Copy, Debug)]
pub(in crate::hip) struct DeviceId {
    pub(in crate::hip) functions: &'static Functions,
    pub(in crate::hip) ordinal: c_int,
}

impl DeviceId {
    /// All devices, in the runtime's order. The runtime has been started.
    pub(in crate::hip) fn all(functions: &'static Functions) -> HipResult<Vec<DeviceId>> {
        let mut count = 0;
        // SAFETY: the function writes one number.
        match unsafe { call!(functions, hipGetDeviceCount(&raw mut count)) } {
            Err(HipError::Code(hipErrorNoDevice, _)) => count = 0,
            other => other?,
        }
        Ok((0..count).map(|ordinal| DeviceId { functions, ordinal }).collect())
    }

    /// The properties of the device.
    pub(in crate::hip) fn properties(self) -> HipResult<Box<Properties>> {
        let mut properties = Box::new(Properties::empty());
        let place: *mut Properties = &raw mut *properties;
        // SAFETY: the place is larger than the structure that the function fills.
        unsafe { call!(self.functions, hipGetDevicePropertiesR0600(place, self.ordinal)) }?;
        Ok(properties)
    }
}
