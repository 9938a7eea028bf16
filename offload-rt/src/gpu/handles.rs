//! Handles of the caller's, and of this crate's values.

use std::any::Any;
use std::sync::Arc;

use super::api::{DriverApi, RawStream};
use super::device::GpuDevice;
use super::kernel::GpuKernel;
use super::memory::GpuMemory;
use super::stream::GpuStream;
use crate::backend::Owner;
use crate::device::Device;
use crate::error::Error;
use crate::launch::{Buffer, Kernel, Plain, Stream};

/// The caller's stream `raw` as a stream of `device`.
///
/// # Errors
/// `device` is of another back end, or the stream is of another context.
///
/// # Safety
/// That of [`GpuStream::adopt`].
pub(crate) unsafe fn adopt_stream<A: DriverApi>(
    device: &Device,
    raw: RawStream,
    owner: Owner,
) -> Result<Stream, Error> {
    let name = device.to_string();
    let context = GpuDevice::<A>::from_device(device)?.context();
    let context = context.map_err(|problem| Error::from_device(&name, problem))?;
    // SAFETY: the contract is the same.
    match unsafe { GpuStream::adopt(context, raw, owner) } {
        Ok(Some(stream)) => Ok(Stream::new(device, Box::new(stream))),
        Ok(None) => Err(Error::device(&name, "the stream is of another device or context")),
        Err(error) => Err(Error::from_device(&name, error.during("cannot use the stream"))),
    }
}

/// `len` values of the caller's memory at `address`.
///
/// # Errors
/// `device` is of another back end.
pub(crate) fn adopt_memory<A: DriverApi, T: Plain>(
    device: &Device,
    address: u64,
    len: usize,
    owner: Owner,
) -> Result<Buffer<T>, Error> {
    let context = GpuDevice::<A>::from_device(device)?.context();
    let context = context.map_err(|problem| Error::from_device(&device.to_string(), problem))?;
    Ok(Buffer::new(Arc::new(GpuMemory::<A>::owned(address, context.id(), owner)), len))
}

/// The back end's stream.
pub(crate) fn own_stream<A: DriverApi>(stream: &Stream) -> Result<&GpuStream<A>, Error> {
    (stream.backend() as &dyn Any).downcast_ref().ok_or_else(|| other_backend::<A>("stream"))
}

/// The back end's memory.
pub(crate) fn own_memory<A: DriverApi, T>(buffer: &Buffer<T>) -> Result<&GpuMemory<A>, Error> {
    (buffer.memory() as &dyn Any).downcast_ref().ok_or_else(|| other_backend::<A>("buffer"))
}

/// The back end's kernel.
pub(crate) fn own_kernel<A: DriverApi>(kernel: &Kernel) -> Result<&GpuKernel<A>, Error> {
    (&**kernel.backend() as &dyn Any).downcast_ref().ok_or_else(|| other_backend::<A>("kernel"))
}

fn other_backend<A: DriverApi>(what: &str) -> Error {
    let problem = format!("the {what} is of another kind of device");
    Error::device(A::INTERFACE, problem).with_hint(format!("take devices from {}", A::DEVICES))
}
