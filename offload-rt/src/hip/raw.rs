//! From and to the handles of HIP's runtime: streams and memory that other code of the program has.
//!
//! Handles are pointers (`hipStream_t`, `hipFunction_t`, `hipModule_t`, `hipDeviceptr_t`), and a device is its number
//! (`hipDevice_t`), as [`devices`](super::devices) lists them.
//!
//! Borrowed handles stay their owner's: they are not destroyed here. An `owner` goes with it, which is dropped when
//! the last value that needs the handle is gone: an [`Arc`] of what destroys the handle, or `()` if the caller keeps the
//! handle valid in another way. What is given away stays this crate's, and is valid as long as the value that it was
//! asked of.
//!
//! ```no_run
//! use std::ffi::c_void;
//! use offload_rt::{Device, KernelArg, NdRange, Program, hip::raw};
//!
//! fn scale(
//!     program: &Program, device: &Device, stream: *mut c_void, address: *mut c_void, len: usize,
//! ) -> Result<(), offload_rt::Error> {
//!     // SAFETY: the caller keeps its stream and its memory until this returns.
//!     let (stream, mut values) = unsafe {
//!         (raw::from_raw_stream(device, stream, ())?, raw::from_raw_address::<f32>(device, address, len, ())?)
//!     };
//!     let args = [KernelArg::value(&2.0f32), KernelArg::buffer_mut(&mut values)];
//!     let range = NdRange::linear_at_least(len, 256);
//!     // SAFETY: the kernel stays within the buffer.
//!     unsafe { program.kernel("scale")?.launch(&stream, range, &args)? };
//!     stream.synchronize()
//! }
//! ```

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::api::HipApi;
use super::operations::pointer;
use crate::device::Device;
use crate::error::Error;
use crate::gpu::{GpuDevice, adopt_memory, adopt_stream, own_kernel, own_memory, own_stream};
use crate::launch::{Buffer, Kernel, Plain, Stream};

/// The stream `stream`, a `hipStream_t` of `device`; null is HIP's default stream.
///
/// # Errors
/// `device` is not of HIP, or the stream is of another device, which runtimes before ROCm 5.6 do not tell.
///
/// # Safety
/// `stream` is a stream of `device`, and stays valid until `owner` is dropped.
pub unsafe fn from_raw_stream(
    device: &Device,
    stream: *mut c_void,
    owner: impl Any + Send + Sync,
) -> Result<Stream, Error> {
    // SAFETY: the contract is the same.
    unsafe { adopt_stream::<HipApi>(device, stream.cast(), Arc::new(owner)) }
}

/// `len` values in the memory at `address`, a `hipDeviceptr_t` that `device` can use.
///
/// # Errors
/// `device` is not of HIP.
///
/// # Safety
/// The memory has `len` values of `T`, aligned as `T` is, and stays valid until `owner` is dropped. No other code uses it
/// at the same time, unless streams and events order them.
pub unsafe fn from_raw_address<T: Plain>(
    device: &Device,
    address: *mut c_void,
    len: usize,
    owner: impl Any + Send + Sync,
) -> Result<Buffer<T>, Error> {
    let address = address.expose_provenance() as u64;
    adopt_memory::<HipApi, T>(device, address, len, Arc::new(owner))
}

/// The number of `device`, a `hipDevice_t`.
///
/// # Errors
/// `device` is not of HIP.
pub fn as_raw_device(device: &Device) -> Result<c_int, Error> {
    Ok(GpuDevice::<HipApi>::from_device(device)?.device().ordinal())
}

/// The `hipStream_t` of `stream`.
///
/// # Errors
/// `stream` is not of HIP.
pub fn as_raw_stream(stream: &Stream) -> Result<*mut c_void, Error> {
    Ok(own_stream::<HipApi>(stream)?.raw.cast())
}

/// Where the values of `buffer` start, a `hipDeviceptr_t`.
///
/// The first call for a buffer of a stream of this crate waits for the work that the stream has; from then on the memory is
/// released when all work of the device is done, because nothing tells what other code does with it.
///
/// # Errors
/// `buffer` is not of HIP.
pub fn as_raw_address<T>(buffer: &Buffer<T>) -> Result<*mut c_void, Error> {
    let address = own_memory::<HipApi, T>(buffer)?.give_away();
    let address = address.map_err(|problem| Error::from_device("HIP", problem))?;
    Ok(pointer(address))
}

/// The `hipFunction_t` of `kernel`.
///
/// # Errors
/// `kernel` is not of HIP.
pub fn as_raw_function(kernel: &Kernel) -> Result<*mut c_void, Error> {
    Ok(own_kernel::<HipApi>(kernel)?.raw().cast())
}

/// The `hipModule_t` that has `kernel`.
///
/// # Errors
/// `kernel` is not of HIP.
pub fn as_raw_module(kernel: &Kernel) -> Result<*mut c_void, Error> {
    Ok(own_kernel::<HipApi>(kernel)?.module().raw().cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_other_devices_have_no_handles() {
        let host = Device::host();
        fn refused(error: Error) {
            assert!(error.to_string().contains("HIP"), "{error}");
        }
        refused(as_raw_device(&host).unwrap_err());
        // SAFETY: nothing is there, and nothing is used.
        unsafe {
            refused(from_raw_stream(&host, std::ptr::null_mut(), ()).unwrap_err());
            refused(from_raw_address::<u8>(&host, std::ptr::null_mut(), 0, ()).unwrap_err());
        }
        if let Ok(stream) = host.stream() {
            refused(as_raw_stream(&stream).unwrap_err());
            refused(as_raw_address(&stream.zeroed::<u8>(1).unwrap()).unwrap_err());
        }
    }
}
