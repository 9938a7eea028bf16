//! Platforms and their devices.

use std::fmt;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use opencl_sys::{
    CL_DEVICE_NOT_FOUND, CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_TYPE_ALL, cl_device_id, cl_device_info,
    cl_device_partition_property, cl_platform_id, cl_uint,
};

use super::error::{ClError, ClResult};
use super::info::{self, Answer, check};
use super::library::{Functions, call, functions};

/// A driver for some devices. It is the library's as long as the program runs.
#[derive(Clone, Copy)]
pub(in crate::opencl) struct Platform {
    functions: &'static Functions,
    raw: cl_platform_id,
}

/// A device of a platform, or a part of one. Neither is released.
#[derive(Clone, Copy)]
pub(in crate::opencl) struct DeviceId {
    pub(super) functions: &'static Functions,
    pub(super) raw: cl_device_id,
}

// SAFETY: a device is a name for what all threads may use, as OpenCL's functions are for all threads
// (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html, "Multiple Host Threads").
unsafe impl Send for DeviceId {}
// SAFETY: as above.
unsafe impl Sync for DeviceId {}

impl fmt::Debug for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceId({:p})", self.raw)
    }
}

impl PartialEq for DeviceId {
    fn eq(&self, other: &DeviceId) -> bool {
        self.raw == other.raw
    }
}

/// All platforms that the library knows.
pub(in crate::opencl) fn platforms() -> ClResult<Vec<Platform>> {
    let functions = functions()?;
    let mut count = 0;
    // SAFETY: without space for platforms the driver tells their number alone.
    check(unsafe { call!(functions, clGetPlatformIDs(0, ptr::null_mut(), &raw mut count))? })?;
    let mut found = vec![ptr::null_mut(); count as usize];
    if count > 0 {
        // SAFETY: there is space for `count` platforms.
        check(unsafe { call!(functions, clGetPlatformIDs(count, found.as_mut_ptr(), ptr::null_mut()))? })?;
    }
    Ok(found.into_iter().map(|raw| Platform { functions, raw }).collect())
}

impl Platform {
    /// Its devices of every type; there may be none.
    pub(in crate::opencl) fn devices(self) -> ClResult<Vec<DeviceId>> {
        // PoCL 3.1 starts at its first call, and tells other threads meanwhile of devices that it has not made yet.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mut count = 0;
        match self.device_ids(0, ptr::null_mut(), &raw mut count) {
            Err(ClError::Code(CL_DEVICE_NOT_FOUND)) => return Ok(Vec::new()),
            other => other?,
        }
        let mut found = vec![ptr::null_mut(); count as usize];
        if count > 0 {
            self.device_ids(count, found.as_mut_ptr(), ptr::null_mut())?;
        }
        let functions = self.functions;
        Ok(found.into_iter().map(|raw| DeviceId { functions, raw }).collect())
    }

    fn device_ids(self, capacity: cl_uint, devices: *mut cl_device_id, count: *mut cl_uint) -> ClResult<()> {
        let all = CL_DEVICE_TYPE_ALL;
        // SAFETY: the platform is the library's; there is space for so many devices, and for their number.
        check(unsafe { call!(self.functions, clGetDeviceIDs(self.raw, all, capacity, devices, count))? })
    }
}

impl DeviceId {
    /// The driver's properties of the device.
    pub(in crate::opencl) fn info(self, parameter: cl_device_info) -> ClResult<Vec<u8>> {
        info::bytes(&|Answer { capacity, value, size }| {
            // SAFETY: the device is a platform's, and the answer has space for what it says.
            unsafe { call!(self.functions, clGetDeviceInfo(self.raw, parameter, capacity, value, size)) }
        })
    }
}

impl DeviceId {
    /// Devices with so many compute units each. They live as long as the program: PoCL's threads use the device of a
    /// command after they have completed it, and crash if it is released.
    pub(in crate::opencl) fn partition(self, units: cl_uint) -> ClResult<Vec<DeviceId>> {
        let properties = [CL_DEVICE_PARTITION_EQUALLY as cl_device_partition_property, units as isize, 0];
        let mut count = 0;
        // SAFETY: the list ends with 0; without space for devices the driver writes their number alone.
        let known = unsafe {
            call!(
                self.functions,
                clCreateSubDevices(self.raw, properties.as_ptr(), 0, ptr::null_mut(), &raw mut count)
            )?
        };
        check(known)?;
        let mut found = vec![ptr::null_mut(); count as usize];
        // SAFETY: as above, with space for `count` devices.
        let made = unsafe {
            call!(
                self.functions,
                clCreateSubDevices(self.raw, properties.as_ptr(), count, found.as_mut_ptr(), ptr::null_mut())
            )?
        };
        check(made)?;
        let functions = self.functions;
        Ok(found.into_iter().map(|raw| DeviceId { functions, raw }).collect())
    }
}
