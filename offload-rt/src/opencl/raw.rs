//! From and to the handles of OpenCL: contexts, queues and memory that other code of the program has.
//!
//! Handles are pointers (`cl_context`, `cl_command_queue`, `cl_mem`, `cl_kernel`), whatever crate or C header they come
//! from. The library is the one that [`devices`](super::devices) opens; handles of the same loader are good there.
//!
//! A borrowed handle gets a reference of its own (`clRetain...`), so that the caller may release its reference at any
//! time. What is given away is valid as long as the value that it was asked of, but for [`create_raw_kernel`], whose
//! reference is the caller's.

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

use super::api::{Buffer as ClBuffer, ClError, CommandQueue, Context, DeviceId};
use super::context::ClContext;
use super::device::{ClDevice, LOADER, from_context};
use super::memory::ClMemory;
use super::module::ClKernel;
use super::stream::ClStream;
use crate::device::Device;
use crate::error::Error;
use crate::launch::{Buffer, Kernel, Plain, Stream};

/// `device`, a `cl_device_id`, in `context`, a `cl_context`. Its streams, buffers and programs are of this context.
///
/// # Errors
/// The library cannot be opened, or refuses the context.
///
/// # Safety
/// Both are handles of OpenCL, and the context has the device.
pub unsafe fn from_raw_context(context: *mut c_void, device: *mut c_void) -> Result<Device, Error> {
    // SAFETY: the contract is the same.
    let (context, device) = unsafe { (Context::retained(context), DeviceId::from_raw(device)) };
    let context = context.map_err(|error| use_error("context", error))?;
    let device = device.map_err(|error| use_error("context", error))?;
    Ok(from_context(ClContext::from_context(context, device)))
}

fn use_error(what: &str, error: ClError) -> Error {
    Error::device(LOADER, format!("cannot use the {what}: {error}"))
}

/// The queue `queue`, a `cl_command_queue` of the context of `device`.
///
/// Events of the stream tell times if the queue was made with `CL_QUEUE_PROFILING_ENABLE`.
///
/// # Errors
/// `device` is not of OpenCL, the queue is of another context, or its commands may overtake each other.
///
/// # Safety
/// `queue` is a queue of OpenCL.
pub unsafe fn from_raw_queue(device: &Device, queue: *mut c_void) -> Result<Stream, Error> {
    let own = ClDevice::from_device(device)?;
    let name = device.to_string();
    let context = own.context().map_err(|problem| Error::from_device(&name, problem))?;
    // SAFETY: the contract is the same.
    let queue = unsafe { CommandQueue::retained(queue) };
    let queue = queue.map_err(|error| Error::device(&name, format!("cannot use the queue: {error}")))?;
    let stream = ClStream::from_queue(queue, context);
    let stream = stream.map_err(|problem| Error::from_device(&name, problem))?;
    Ok(Stream::new(device, Box::new(stream)))
}

/// The memory `memory`, a `cl_mem`, for the streams and kernels of its context. It has as many values as fit into it.
///
/// # Errors
/// The library refuses the handle.
///
/// # Safety
/// `memory` is a buffer of OpenCL, with a value of `T` wherever one fits. No other code uses it at the same time, unless
/// queues and events order them.
pub unsafe fn from_raw_mem<T: Plain>(memory: *mut c_void) -> Result<Buffer<T>, Error> {
    // SAFETY: the contract is the same.
    let buffer = unsafe { ClBuffer::retained(memory) }.map_err(|error| use_error("buffer", error))?;
    let size = buffer.size().map_err(|error| use_error("buffer", error))?;
    let len = size.checked_div(size_of::<T>()).unwrap_or(0);
    let memory = ClMemory::from_buffer(buffer).map_err(|error| use_error("buffer", error))?;
    Ok(Buffer::new(Arc::new(memory), len))
}

/// The `cl_context` that all streams, buffers and programs of `device` share.
///
/// # Errors
/// `device` is not of OpenCL, or the driver refuses a context.
pub fn as_raw_context(device: &Device) -> Result<*mut c_void, Error> {
    let context = ClDevice::from_device(device)?.context();
    Ok(context.map_err(|problem| Error::from_device(&device.to_string(), problem))?.context.raw())
}

/// The `cl_device_id` of `device`.
///
/// # Errors
/// `device` is not of OpenCL.
pub fn as_raw_device(device: &Device) -> Result<*mut c_void, Error> {
    Ok(ClDevice::from_device(device)?.id().raw())
}

/// The `cl_command_queue` of `stream`, which stays the same from now on.
///
/// # Errors
/// `stream` is not of OpenCL.
pub fn as_raw_queue(stream: &Stream) -> Result<*mut c_void, Error> {
    let own: Option<&ClStream> = (stream.backend() as &dyn Any).downcast_ref();
    let last = own.ok_or_else(|| other("stream"))?.last();
    let last = last.map_err(|error| {
        Error::device(&stream.device().to_string(), format!("cannot make a queue: {error}"))
    })?;
    Ok(last.raw())
}

/// The `cl_mem` of `buffer`.
///
/// # Errors
/// `buffer` is not of OpenCL.
pub fn as_raw_mem<T>(buffer: &Buffer<T>) -> Result<*mut c_void, Error> {
    let own: Option<&ClMemory> = (buffer.memory() as &dyn Any).downcast_ref();
    Ok(own.ok_or_else(|| other("buffer"))?.shared().raw())
}

/// The `cl_program` that has `kernel`.
///
/// # Errors
/// `kernel` is not of OpenCL.
pub fn as_raw_program(kernel: &Kernel) -> Result<*mut c_void, Error> {
    Ok(own(kernel)?.program().raw())
}

/// A `cl_kernel` for `kernel`, whose arguments are not set. The caller releases it.
///
/// # Errors
/// `kernel` is not of OpenCL, or the driver refuses another object.
pub fn create_raw_kernel(kernel: &Kernel) -> Result<*mut c_void, Error> {
    let another = own(kernel)?.another();
    let name = &kernel.info().name;
    Ok(another.map_err(|error| Error::launch(name, format!("cannot be created: {error}")))?.into_raw())
}

fn own(kernel: &Kernel) -> Result<&ClKernel, Error> {
    (&**kernel.backend() as &dyn Any).downcast_ref().ok_or_else(|| other("kernel"))
}

fn other(what: &str) -> Error {
    let problem = format!("the {what} is of another kind of device");
    Error::device(LOADER, problem).with_hint("take devices from offload_rt::opencl::devices()")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_other_devices_have_no_handles() {
        let host = Device::host();
        fn refused(error: Error) {
            assert!(error.to_string().contains("OpenCL"), "{error}");
        }
        refused(as_raw_context(&host).unwrap_err());
        refused(as_raw_device(&host).unwrap_err());
        // SAFETY: nothing is there, and nothing is used.
        refused(unsafe { from_raw_queue(&host, std::ptr::null_mut()) }.unwrap_err());
        if let Ok(stream) = host.stream() {
            refused(as_raw_queue(&stream).unwrap_err());
            refused(as_raw_mem(&stream.zeroed::<u8>(1).unwrap()).unwrap_err());
        }
    }
}
