//! Handles of the launch layer's values for host functions, and the device of a thread.

use std::ffi::c_void;
use std::ptr;

use super::current;
use super::failure::Failure;
use super::gpu::{cuda, hip};
use super::host;
use crate::backend::Backend;
use crate::description::DeviceKind;
use crate::device::Device;
use crate::error::Error;
use crate::launch::{Buffer, Plain, Stream};

const NO_OPENCL: &str =
    "OpenCL's drivers have no interface for CUDA C++: take a device of `cuda`, `hip`, or `Device::host`";

/// The `cudaStream_t` of `stream`, for host functions: a `CUstream`, a `hipStream_t`, or the CPU's.
///
/// It is valid as long as `stream` is.
///
/// # Errors
/// `stream` is of OpenCL.
///
/// ```
/// let stream = offload_rt::Device::host().stream()?;
/// let handle = offload_rt::launchers::as_raw_stream(&stream)?;
/// assert!(!handle.is_null());
/// # Ok::<(), offload_rt::Error>(())
/// ```
pub fn as_raw_stream(stream: &Stream) -> Result<*mut c_void, Error> {
    match stream.backend().context().backend {
        Backend::Host => Ok(host::stream()),
        Backend::Cuda => crate::cuda::raw::as_raw_stream(stream),
        Backend::Hip => crate::hip::raw::as_raw_stream(stream),
        Backend::OpenCl => Err(Error::device("OpenCL", "it runs no launchers").with_hint(NO_OPENCL)),
    }
}

/// Where the values of `buffer` start, for host functions and the kernels that they launch.
///
/// It is valid as long as `buffer` is. What a function writes there has to be ordered with the other uses of the buffer, by
/// the stream or by waiting.
///
/// # Errors
/// `buffer` is of OpenCL.
///
/// ```
/// let stream = offload_rt::Device::host().stream()?;
/// let values = stream.upload(&[1.0f32, 2.0])?;
/// let address: *mut f32 = offload_rt::launchers::as_raw_address(&values)?;
/// assert!(!address.is_null());
/// # Ok::<(), offload_rt::Error>(())
/// ```
pub fn as_raw_address<T: Plain>(buffer: &Buffer<T>) -> Result<*mut T, Error> {
    match buffer.memory().context().backend {
        Backend::Host => Ok(buffer.memory().in_program().map_or(ptr::null_mut(), |start| start.cast())),
        Backend::Cuda => {
            let address = crate::cuda::raw::as_raw_address(buffer)?;
            Ok(ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0)))
        }
        Backend::Hip => Ok(crate::hip::raw::as_raw_address(buffer)?.cast()),
        Backend::OpenCl => Err(Error::device("OpenCL", "it runs no launchers").with_hint(NO_OPENCL)),
    }
}

/// Makes `device` the one that this thread's host functions use for calls without a stream, as `cudaMalloc` and launches
/// in the default stream are; `cudaSetDevice` then chooses among the devices of its library.
///
/// Without this call they use CUDA's driver, or HIP's runtime on a machine without it, and never the CPU.
///
/// # Errors
/// `device` is of OpenCL, or its library cannot start.
///
/// ```
/// offload_rt::launchers::set_device(&offload_rt::Device::host())?;
/// # Ok::<(), offload_rt::Error>(())
/// ```
pub fn set_device(device: &Device) -> Result<(), Error> {
    match device.description().kind() {
        DeviceKind::Host(_) => current::select(host::platform()),
        DeviceKind::Cuda(_) => {
            let platform = cuda::platform()?;
            platform.set_device(cuda::number(device)?).map_err(Failure::into_error)?;
            current::select(platform);
        }
        DeviceKind::Hip(_) => {
            let platform = hip::platform()?;
            platform.set_device(crate::hip::raw::as_raw_device(device)?).map_err(Failure::into_error)?;
            current::select(platform);
        }
        DeviceKind::OpenCl(_) => {
            return Err(Error::device(device.name(), "it runs no launchers").with_hint(NO_OPENCL));
        }
    }
    Ok(())
}
