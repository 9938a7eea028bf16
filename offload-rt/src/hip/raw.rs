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
//!     let range = NdRange::linear(len, 256);
//!     // SAFETY: the kernel stays within the buffer.
//!     unsafe { program.kernel("scale")?.launch(&stream, range, &args)? };
//!     stream.synchronize()
//! }
//! ```

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use super::device::HipDevice;
use super::kernel::HipKernel;
use super::memory::HipMemory;
use super::runtime::{HIP, problem};
use super::stream::HipStream;
use crate::device::Device;
use crate::error::Error;
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
    let name = device.to_string();
    let context = HipDevice::from_device(device)?.context.clone();
    // SAFETY: the contract is the same.
    let adopted = unsafe { HipStream::adopt(context, stream.cast(), Arc::new(owner)) };
    match adopted {
        Ok(Some(stream)) => Ok(Stream::new(device, Box::new(stream))),
        Ok(None) => Err(Error::device(&name, "the stream is of another device")),
        Err(error) => Err(Error::from_device(&name, problem(error).during("cannot use the stream"))),
    }
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
    let context = HipDevice::from_device(device)?.context.clone();
    Ok(Buffer::new(Box::new(HipMemory::owned(address, context, Arc::new(owner))), len))
}

/// The number of `device`, a `hipDevice_t`.
///
/// # Errors
/// `device` is not of HIP.
pub fn as_raw_device(device: &Device) -> Result<c_int, Error> {
    Ok(HipDevice::from_device(device)?.context.ordinal())
}

/// The `hipStream_t` of `stream`.
///
/// # Errors
/// `stream` is not of HIP.
pub fn as_raw_stream(stream: &Stream) -> Result<*mut c_void, Error> {
    let own: Option<&HipStream> = (stream.backend() as &dyn Any).downcast_ref();
    Ok(own.ok_or_else(|| other("stream"))?.raw.cast())
}

/// Where the values of `buffer` start, a `hipDeviceptr_t`.
///
/// # Errors
/// `buffer` is not of HIP.
pub fn as_raw_address<T>(buffer: &Buffer<T>) -> Result<*mut c_void, Error> {
    let own: Option<&HipMemory> = (buffer.memory() as &dyn Any).downcast_ref();
    Ok(own.ok_or_else(|| other("buffer"))?.address)
}

/// The `hipFunction_t` of `kernel`.
///
/// # Errors
/// `kernel` is not of HIP.
pub fn as_raw_function(kernel: &Kernel) -> Result<*mut c_void, Error> {
    Ok(own(kernel)?.raw().cast())
}

/// The `hipModule_t` that has `kernel`.
///
/// # Errors
/// `kernel` is not of HIP.
pub fn as_raw_module(kernel: &Kernel) -> Result<*mut c_void, Error> {
    Ok(own(kernel)?.module().raw().cast())
}

fn own(kernel: &Kernel) -> Result<&HipKernel, Error> {
    (kernel.backend() as &dyn Any).downcast_ref().ok_or_else(|| other("kernel"))
}

fn other(what: &str) -> Error {
    let problem = format!("the {what} is of another kind of device");
    Error::device(HIP, problem).with_hint("take devices from offload_rt::hip::devices()")
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
