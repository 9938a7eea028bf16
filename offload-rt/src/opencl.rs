//! OpenCL devices: images become programs of the driver. The library is opened at run time.
//!
//! The library is `libOpenCL.so.1` (`OpenCL.dll`, or the framework on macOS); the environment variable
//! `OPENCL_DYLIB_PATH` may name others, separated by `;`.
//!
//! Images of packs are opened by [`Device::open`]; a [`Compiler`] takes SPIR-V and native code from elsewhere.
//!
//! Programs that have a context, queues or memory already hand them over with [`raw`]; the feature `opencl3-0_12` adds
//! conversions for the crate `opencl3`.

mod answers;
#[allow(unsafe_code, reason = "calls the driver")]
mod api;
mod aspects;
#[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
mod compiler;
mod context;
mod current_queue;
mod device;
mod device_properties;
mod external;
#[allow(unsafe_code, reason = "launches a kernel of this project")]
mod failures;
mod icd;
mod image;
mod kernel_properties;
mod library;
#[allow(unsafe_code, reason = "has memory of the driver")]
mod managed;
mod memory;
#[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
mod module;
#[cfg(feature = "opencl3-0_12")]
#[allow(unsafe_code, reason = "takes handles of another crate")]
pub mod opencl3_0_12;
#[allow(unsafe_code, reason = "has memory of the driver")]
mod pinned;
mod program;
mod properties;
#[allow(unsafe_code, reason = "takes handles of the caller's")]
pub mod raw;
mod rebuild;
#[allow(unsafe_code, reason = "memory at an address that kernels know")]
mod records;
#[allow(unsafe_code, reason = "the device copies from and to memory of the program")]
mod stream;

use opencl_sys::CL_PLATFORM_NOT_FOUND_KHR;

use self::api::{ClError, Platform, platforms};
pub use self::compiler::{Compiler, Executable, Object};
use self::device::{ClDevice, LOADER};
pub use self::properties::{DeviceType, Properties};
use crate::device::Device;
use crate::error::Error;

const LIBRARY_HINT: &str =
    "install an OpenCL loader (Debian: ocl-icd-libopencl1), or name its file in OPENCL_DYLIB_PATH";
const DRIVER_HINT: &str =
    "install the device's OpenCL driver (Debian: intel-opencl-icd, or pocl-opencl-icd for the CPU)";

/// The devices of all OpenCL platforms.
///
/// A platform that fails does not hide the others. Threads may call it at once: PoCL 3.1, which crashes or finds no device
/// when a second thread asks while it starts, is asked by one at a time.
///
/// # Errors
/// The library cannot be opened, there is no platform, or no platform has a device; the message says what was looked
/// for.
pub fn devices() -> Result<Vec<Device>, Error> {
    let platforms = platforms().map_err(no_platform)?;
    let (devices, failures) = list(&platforms);
    if devices.is_empty() {
        let error = match failures.as_slice() {
            [] => Error::no_device(LOADER, format!("none of {} platforms has a device", platforms.len())),
            failures => Error::device(LOADER, format!("no device: {}", failures.join(", "))),
        };
        return Err(error.with_hint(DRIVER_HINT));
    }
    Ok(devices)
}

/// Devices with `units` compute units each, as many as `device` has whole ones of: parts of a CPU for work that is not to
/// disturb each other, or as a stand-in for several GPUs.
///
/// Each has a context of its own, as whole devices have: buffers of one are not those of another.
/// [`Stream::copy_from`](crate::Stream::copy_from) copies between them. Parts live as long as the program: divide a device
/// once.
///
/// ```no_run
/// # fn main() -> Result<(), offload_rt::Error> {
/// let devices = offload_rt::opencl::devices()?;
/// let halves = offload_rt::opencl::partition(&devices[0], 2)?;
/// # drop(halves);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `device` is not of OpenCL, has fewer units, or its driver does not divide it
/// (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#_partitioning_a_device>).
pub fn partition(device: &Device, units: u32) -> Result<Vec<Device>, Error> {
    device::partition(device, units)
}

/// The devices of all platforms, and the platforms that failed.
#[derive(Debug, Default)]
pub(crate) struct PlatformDevices {
    pub(crate) devices: Vec<Device>,
    pub(crate) failures: Vec<Error>,
}

/// As [`devices`], with the failures beside the devices.
pub(crate) fn all() -> PlatformDevices {
    match platforms() {
        Ok(platforms) => {
            let (devices, failures) = list(&platforms);
            let failures = failures.into_iter().map(|failure| Error::device(LOADER, failure));
            PlatformDevices { devices, failures: failures.collect() }
        }
        Err(error) => PlatformDevices { devices: Vec::new(), failures: vec![no_platform(error)] },
    }
}

/// The devices of `platforms`, and the messages of those that failed.
fn list(platforms: &[Platform]) -> (Vec<Device>, Vec<String>) {
    let mut devices = Vec::new();
    let mut failures = Vec::new();
    for platform in platforms {
        match platform.devices() {
            Ok(found) => devices.extend(found.into_iter().map(device::from_id)),
            Err(error) => failures.push(error.to_string()),
        }
    }
    (devices, failures)
}

/// Whether an OpenCL device is a CPU.
pub(crate) fn is_cpu(device: &Device) -> bool {
    ClDevice::from_device(device).is_ok_and(|own| Properties::query(own.id()).device_type == DeviceType::Cpu)
}

fn no_platform(error: ClError) -> Error {
    match error {
        ClError::NoLibrary => {
            let looked_for = "cannot open the library libOpenCL.so.1 (or those of OPENCL_DYLIB_PATH)";
            Error::no_device(LOADER, looked_for).with_hint(LIBRARY_HINT)
        }
        ClError::Code(CL_PLATFORM_NOT_FOUND_KHR) => {
            let looked_for = "the loader knows no driver: it looks for files NAME.icd in /etc/OpenCL/vendors, or in OCL_ICD_VENDORS";
            let gone = icd::without_library(&icd::vendors());
            match gone.as_slice() {
                [] => Error::no_device(LOADER, looked_for).with_hint(DRIVER_HINT),
                gone => Error::device(LOADER, format!("the loader knows no driver: {}", gone.join("; ")))
                    .with_hint("install the driver's library again, or remove the file .icd that names it"),
            }
        }
        _ => Error::device(LOADER, format!("cannot list platforms: {error}")),
    }
}

#[cfg(test)]
mod tests;
