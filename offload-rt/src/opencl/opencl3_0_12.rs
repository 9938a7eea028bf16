//! Conversions for [`opencl3`](https://docs.rs/opencl3/0.12): kernels of this crate in the program's own context, in its
//! own queues, with its own memory. Each conversion takes a reference of its own.
//!
//! ```no_run
//! # fn blas() -> &'static offload_rt::Module { unimplemented!() }
//! # use opencl3_0_12 as opencl3;
//! use offload_rt::{Buffer, Device, KernelArg, NdRange, Stream};
//!
//! # fn run(
//! #     context: opencl3::context::Context, queue: opencl3::command_queue::CommandQueue,
//! #     x: opencl3::memory::Buffer<f32>, y: opencl3::memory::Buffer<f32>,
//! # ) -> Result<(), Box<dyn std::error::Error>> {
//! // `context`, `queue`, `x` and `y` are the program's.
//! let saxpy = blas().load(&Device::try_from(&context)?)?.kernel("saxpy")?;
//! let stream = Stream::try_from(&queue)?;
//! let x = Buffer::try_from(&x)?;
//! let mut y = Buffer::try_from(&y)?;
//! let args = [KernelArg::value(&2.5f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
//! // SAFETY: each work-item reads and writes one element.
//! unsafe { saxpy.launch(&stream, NdRange::linear_at_least(1 << 20, 64), &args)? };
//!
//! // Or launch it as the program's other kernels.
//! let saxpy = opencl3::kernel::Kernel::try_from(&saxpy)?;
//! # Ok(())
//! # }
//! ```

use opencl3_0_12::command_queue::CommandQueue;
use opencl3_0_12::context::Context;
use opencl3_0_12::error_codes::ClError;
use opencl3_0_12::memory::ClMem;
use opencl3_0_12::{kernel, memory};

use super::device::LOADER;
use super::raw;
use crate::device::Device;
use crate::error::Error;
use crate::launch::{Buffer, Kernel, Plain, Stream};

impl TryFrom<&Context> for Device {
    type Error = Error;

    /// The first device of the context, whose streams, buffers and programs are of this context.
    fn try_from(context: &Context) -> Result<Device, Error> {
        // SAFETY: the context is one as long as the value lives, and the device is its own.
        unsafe { raw::from_raw_context(context.get(), context.default_device()) }
    }
}

impl TryFrom<&CommandQueue> for Stream {
    type Error = Error;

    /// The same queue, on its device.
    fn try_from(queue: &CommandQueue) -> Result<Stream, Error> {
        let context = queue.context().map_err(queue_error)?;
        let device = queue.device().map_err(queue_error)?;
        // SAFETY: a queue is one as long as the value lives, and keeps its context.
        unsafe { raw::from_raw_queue(&raw::from_raw_context(context, device)?, queue.get()) }
    }
}

fn queue_error(error: ClError) -> Error {
    Error::device(LOADER, format!("cannot use the queue: {error}"))
}

impl<T: Plain> TryFrom<&memory::Buffer<T>> for Buffer<T> {
    type Error = Error;

    /// The same memory.
    fn try_from(buffer: &memory::Buffer<T>) -> Result<Buffer<T>, Error> {
        // SAFETY: a buffer is one as long as the value lives, and was made for values of `T`. `opencl3` reads, writes and
        // launches in unsafe functions alone, whose callers order them.
        unsafe { raw::from_raw_mem(buffer.get()) }
    }
}

impl TryFrom<&Kernel> for kernel::Kernel {
    type Error = Error;

    /// Another object for the same kernel, whose arguments are not set.
    fn try_from(kernel: &Kernel) -> Result<kernel::Kernel, Error> {
        Ok(kernel::Kernel::new(raw::create_raw_kernel(kernel)?))
    }
}
