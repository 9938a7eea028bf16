//! The driver's devices, their names and attributes.

use std::ffi::CStr;

use super::CuResult;
use super::library::CudaApi;
use super::types::{CUdevice, CUdevice_attribute, CUuuid};
use crate::gpu::call;

/// Bytes for a name with its NUL. CUDA sets no limit; its runtime has this much.
const NAME_SIZE: usize = 256;

/// A device, which needs no release.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceId {
    pub(crate) api: &'static CudaApi,
    pub(crate) raw: CUdevice,
}

impl DeviceId {
    /// All devices, in the driver's order. The driver has been started.
    pub(crate) fn all(api: &'static CudaApi) -> CuResult<Vec<DeviceId>> {
        let mut count = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(api, cuDeviceGetCount(&raw mut count)) }?;
        let mut devices = Vec::new();
        for ordinal in 0..count {
            let mut raw = 0;
            // SAFETY: the function writes one number.
            unsafe { call!(api, cuDeviceGet(&raw mut raw, ordinal)) }?;
            devices.push(DeviceId { api, raw });
        }
        Ok(devices)
    }

    /// The name, cut to 255 bytes.
    pub(crate) fn name(self) -> CuResult<String> {
        let mut name = [0u8; NAME_SIZE];
        let place = name.as_mut_ptr().cast();
        let capacity = NAME_SIZE as _;
        // SAFETY: the place has this capacity.
        unsafe { call!(self.api, cuDeviceGetName(place, capacity, self.raw)) }?;
        Ok(text(&name))
    }

    /// The address on PCI, as `0000:01:00.0`.
    pub(crate) fn pci_address(self) -> CuResult<String> {
        let mut address = [0u8; NAME_SIZE];
        let place = address.as_mut_ptr().cast();
        let capacity = NAME_SIZE as _;
        // SAFETY: the place has this capacity.
        unsafe { call!(self.api, cuDeviceGetPCIBusId(place, capacity, self.raw)) }?;
        Ok(text(&address))
    }

    pub(crate) fn uuid(self) -> CuResult<[u8; 16]> {
        let mut uuid = CUuuid::default();
        // SAFETY: the function writes one UUID.
        unsafe { call!(self.api, cuDeviceGetUuid_v2(&raw mut uuid, self.raw)) }?;
        Ok(uuid.bytes)
    }

    /// Bytes of all the device's memory.
    pub(crate) fn total_memory(self) -> CuResult<u64> {
        let mut bytes = 0;
        // SAFETY: the function writes one size.
        unsafe { call!(self.api, cuDeviceTotalMem_v2(&raw mut bytes, self.raw)) }?;
        Ok(bytes as u64)
    }

    /// The value of an attribute that is no negative number.
    pub(crate) fn attribute(self, attribute: CUdevice_attribute) -> CuResult<u32> {
        let mut value = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(self.api, cuDeviceGetAttribute(&raw mut value, attribute, self.raw)) }?;
        Ok(u32::try_from(value).unwrap_or(0))
    }
}

/// A C string, cut where it has no end.
fn text(place: &[u8]) -> String {
    let text = CStr::from_bytes_until_nul(place).map_or(place, CStr::to_bytes);
    String::from_utf8_lossy(text).into_owned()
}
