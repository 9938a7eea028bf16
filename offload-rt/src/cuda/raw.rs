//! From and to the handles of CUDA's driver: contexts, streams and memory that other code of the program has.
//!
//! Handles are pointers (`CUcontext`, `CUstream`, `CUfunction`, `CUmodule`), and memory is a `CUdeviceptr`, whatever
//! crate or C header they come from.
//!
//! Borrowed handles stay their owner's: they are not destroyed here. An `owner` goes with it, which is dropped when
//! the last value that needs the handle is gone: an [`Arc`] of what destroys the handle, or `()` if the caller keeps the
//! handle valid in another way. What is given away stays this crate's, and is valid as long as the value that it was
//! asked of.
//!
//! ```no_run
//! use std::ffi::c_void;
//! use offload_rt::{Device, KernelArg, NdRange, Program, cuda::raw};
//!
//! fn scale(
//!     program: &Program, device: &Device, stream: *mut c_void, address: u64, len: usize,
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
use std::ffi::c_void;
use std::sync::Arc;

use super::api::CudaApi;
use super::context::CudaContext;
use super::device::from_context;
use super::driver::{CUDA, CudaDriver};
use crate::device::Device;
use crate::error::Error;
use crate::gpu::{GpuDevice, adopt_memory, adopt_stream, own_kernel, own_memory, own_stream};
use crate::launch::{Buffer, Kernel, Plain, Stream};

/// The device of the context `context`, a `CUcontext`. Its streams, buffers and programs are of this context.
///
/// If it is the device's primary context, they work with those of [`devices`](super::devices) too.
///
/// # Errors
/// The driver cannot be opened, or refuses the context.
///
/// # Safety
/// `context` is a context of CUDA's driver, and stays valid until `owner` is dropped.
pub unsafe fn from_raw_context(context: *mut c_void, owner: impl Any + Send + Sync) -> Result<Device, Error> {
    let driver = CudaDriver::open()?;
    // SAFETY: the contract is the same.
    let context = unsafe { CudaContext::adopt(driver.functions(), context.cast(), Arc::new(owner)) };
    let device = context.and_then(|context| from_context(driver, context));
    device.map_err(|error| Error::from_device(CUDA, error.during("cannot use the context")))
}

/// The stream `stream`, a `CUstream` of the context of `device`; null is CUDA's default stream.
///
/// # Errors
/// `device` is not of CUDA, or the stream is of another context.
///
/// # Safety
/// `stream` is a stream of CUDA's driver, and stays valid until `owner` is dropped.
pub unsafe fn from_raw_stream(
    device: &Device,
    stream: *mut c_void,
    owner: impl Any + Send + Sync,
) -> Result<Stream, Error> {
    // SAFETY: the contract is the same.
    unsafe { adopt_stream::<CudaApi>(device, stream.cast(), Arc::new(owner)) }
}

/// `len` values in the memory at `address`, a `CUdeviceptr` that the context of `device` can use.
///
/// # Errors
/// `device` is not of CUDA.
///
/// # Safety
/// The memory has `len` values of `T`, aligned as `T` is, and stays valid until `owner` is dropped. No other code uses it
/// at the same time, unless streams and events order them.
pub unsafe fn from_raw_address<T: Plain>(
    device: &Device,
    address: u64,
    len: usize,
    owner: impl Any + Send + Sync,
) -> Result<Buffer<T>, Error> {
    adopt_memory::<CudaApi, T>(device, address, len, Arc::new(owner))
}

/// The `CUcontext` that all streams, buffers and programs of `device` share.
///
/// # Errors
/// `device` is not of CUDA, or the driver cannot make its primary context.
pub fn as_raw_context(device: &Device) -> Result<*mut c_void, Error> {
    let context = GpuDevice::<CudaApi>::from_device(device)?.context();
    let context = context.map_err(|problem| Error::from_device(&device.to_string(), problem))?;
    Ok(context.handle().raw().cast())
}

/// The `CUstream` of `stream`.
///
/// # Errors
/// `stream` is not of CUDA.
pub fn as_raw_stream(stream: &Stream) -> Result<*mut c_void, Error> {
    Ok(own_stream::<CudaApi>(stream)?.raw.cast())
}

/// Where the values of `buffer` start, a `CUdeviceptr`.
///
/// The first call for a buffer of a stream of this crate waits for the work that the stream has; from then on the memory is
/// released when all work of the device is done, because nothing tells what other code does with it.
///
/// # Errors
/// `buffer` is not of CUDA.
pub fn as_raw_address<T>(buffer: &Buffer<T>) -> Result<u64, Error> {
    let address = own_memory::<CudaApi, T>(buffer)?.give_away();
    let address = address.map_err(|problem| Error::from_device(CUDA, problem))?;
    Ok(address)
}

/// The `CUfunction` of `kernel`.
///
/// # Errors
/// `kernel` is not of CUDA.
pub fn as_raw_function(kernel: &Kernel) -> Result<*mut c_void, Error> {
    Ok(own_kernel::<CudaApi>(kernel)?.raw().cast())
}

/// The `CUmodule` that has `kernel`.
///
/// # Errors
/// `kernel` is not of CUDA.
pub fn as_raw_module(kernel: &Kernel) -> Result<*mut c_void, Error> {
    Ok(own_kernel::<CudaApi>(kernel)?.module().raw().cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_other_devices_have_no_handles() {
        let host = Device::host();
        fn refused(error: Error) {
            assert!(error.to_string().contains("CUDA"), "{error}");
        }
        refused(as_raw_context(&host).unwrap_err());
        // SAFETY: nothing is there, and nothing is used.
        unsafe {
            refused(from_raw_stream(&host, std::ptr::null_mut(), ()).unwrap_err());
            refused(from_raw_address::<u8>(&host, 0, 0, ()).unwrap_err());
        }
        if let Ok(stream) = host.stream() {
            refused(as_raw_stream(&stream).unwrap_err());
            refused(as_raw_address(&stream.zeroed::<u8>(1).unwrap()).unwrap_err());
        }
    }
}
