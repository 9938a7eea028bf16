//! The runtime's devices and their properties.

use std::ffi::{CStr, c_int};

use super::library::HipApi;
use super::properties::Properties;
use super::types::{hipDeviceAttributeConcurrentManagedAccess, hipErrorNoDevice};
use super::{HipError, HipResult};
use crate::gpu::call;

/// Bytes for an address of PCI with its NUL: more than `00000000:00:00.0` has.
const PCI_ADDRESS_SIZE: usize = 64;

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

    /// The address on PCI, as `0000:01:00.0`.
    pub(crate) fn pci_address(self) -> HipResult<String> {
        let mut address = [0u8; PCI_ADDRESS_SIZE];
        let place = address.as_mut_ptr().cast();
        let capacity = PCI_ADDRESS_SIZE as _;
        // SAFETY: the place has this capacity.
        unsafe { call!(self.api, hipDeviceGetPCIBusId(place, capacity, self.ordinal)) }?;
        let text = CStr::from_bytes_until_nul(&address).map_or(&address[..], CStr::to_bytes);
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Whether kernels and the program use managed memory at the same time, if the runtime tells.
    pub(crate) fn has_managed_memory(self) -> Option<bool> {
        let mut value = 0;
        let attribute = hipDeviceAttributeConcurrentManagedAccess;
        // SAFETY: the function writes one number.
        unsafe { call!(self.api, hipDeviceGetAttribute(&raw mut value, attribute, self.ordinal)) }.ok()?;
        Some(value != 0)
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
