//! A device's context and queue, and running a kernel there.

use std::ffi::c_void;
use std::time::Duration;

use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::error_codes::ClError;
use opencl3::kernel::{Kernel, set_kernel_arg};
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::CL_BLOCKING;

use super::device::{ClDevice, describe};
use crate::error::Error;
use crate::launch::{Arg, NdRange, refuse_shared_memory};

/// A context of one device with a queue.
#[derive(Debug)]
pub(super) struct Queue {
    // Released in this order.
    queue: CommandQueue,
    context: Context,
}

/// What is asked to run.
pub(super) struct Launch<'a, 'b> {
    pub(super) kernel: &'a str,
    pub(super) range: &'a NdRange,
    pub(super) args: &'a mut [Arg<'b>],
}

/// A kernel's argument, by its index.
#[derive(Clone, Copy)]
struct Slot<'a> {
    kernel: &'a Kernel,
    index: u32,
}

type ClResult<T> = Result<T, ClError>;

impl Queue {
    /// # Errors
    /// The driver refuses.
    pub(super) fn new(device: &ClDevice) -> Result<Queue, Error> {
        let failed = |what: &str| {
            let (name, what) = (device.name(), what.to_string());
            move |error| Error::device(&name, format!("{what}: {}", describe(error)))
        };
        let context = Context::from_device(&opencl3::device::Device::new(device.id()));
        let context = context.map_err(failed("cannot make a context"))?;
        // Not `create_with_properties`: drivers of OpenCL 1.2 lack it.
        let queue = CommandQueue::create_default(&context, CL_QUEUE_PROFILING_ENABLE)
            .map_err(failed("cannot make a queue"))?;
        Ok(Queue { queue, context })
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Runs the kernel, which `create` makes, waits for its end, and says how long it ran.
    ///
    /// # Safety
    /// As that of [`launch::Program::launch`].
    pub(super) unsafe fn launch(
        &self,
        launch: Launch<'_, '_>,
        create: impl FnOnce() -> Result<Kernel, Error>,
    ) -> Result<Duration, Error> {
        let Launch { kernel: name, range, args } = launch;
        refuse_shared_memory(name, range)?;
        if name.contains('\0') {
            return Err(Error::launch(name, "the name has a NUL"));
        }
        // A kernel object holds its arguments: one for each launch, so that threads do not disturb each other.
        let kernel = create()?;
        let count = kernel.num_args().map_err(refused(name, "does not tell its arguments"))? as usize;
        if count != args.len() {
            return Err(Error::launch(name, format!("it takes {count} arguments, {} are given", args.len())));
        }
        // SAFETY: the caller of `launch` answers for what the kernel does with these arguments.
        unsafe {
            let buffers = self.set_args(&kernel, args).map_err(refused(name, "an argument is refused"))?;
            let took = self.run(&kernel, range).map_err(refused(name, "the launch failed"))?;
            self.read_back(&buffers, args).map_err(refused(name, "results cannot be read"))?;
            Ok(took)
        }
    }

    /// Sets every argument; the buffers have to live until the kernel has run.
    unsafe fn set_args(&self, kernel: &Kernel, args: &mut [Arg<'_>]) -> ClResult<Vec<Option<Buffer<u8>>>> {
        let mut buffers = Vec::new();
        for (index, arg) in (0u32..).zip(args) {
            // SAFETY: sizes and pointers are those of one live value or buffer each.
            buffers.push(unsafe {
                match arg {
                    Arg::Value(bytes) => {
                        set_kernel_arg(kernel.get(), index, bytes.len(), bytes.as_ptr().cast())?;
                        None
                    }
                    Arg::Local(size) => {
                        kernel.set_arg_local_buffer(index, *size)?;
                        None
                    }
                    Arg::In(bytes) => {
                        Some(self.set_buffer(Slot { kernel, index }, CL_MEM_READ_ONLY, bytes)?)
                    }
                    Arg::InOut(bytes) => {
                        Some(self.set_buffer(Slot { kernel, index }, CL_MEM_READ_WRITE, bytes)?)
                    }
                }
            });
        }
        Ok(buffers)
    }

    unsafe fn set_buffer(&self, slot: Slot<'_>, access: u64, bytes: &[u8]) -> ClResult<Buffer<u8>> {
        // OpenCL has no empty buffers.
        let bytes = if bytes.is_empty() { &[0] } else { bytes };
        let data: *mut c_void = bytes.as_ptr().cast_mut().cast();
        // SAFETY: with COPY_HOST_PTR the driver reads `bytes.len()` bytes during the call and keeps no pointer.
        unsafe {
            let buffer = Buffer::create(&self.context, access | CL_MEM_COPY_HOST_PTR, bytes.len(), data)?;
            slot.kernel.set_arg(slot.index, &buffer.get())?;
            Ok(buffer)
        }
    }

    unsafe fn run(&self, kernel: &Kernel, range: &NdRange) -> ClResult<Duration> {
        let [offset, global, local] =
            [range.offset(), range.global(), range.local()].map(|sizes| sizes.map(|size| size as usize));
        // SAFETY: each array has at least as many sizes as there are dimensions, and every argument is set.
        let event = unsafe {
            self.queue.enqueue_nd_range_kernel(
                kernel.get(),
                range.dimensions(),
                offset.as_ptr(),
                global.as_ptr(),
                local.as_ptr(),
                &[],
            )?
        };
        event.wait()?;
        let (start, end) = (event.profiling_command_start()?, event.profiling_command_end()?);
        Ok(Duration::from_nanos(end.saturating_sub(start)))
    }

    unsafe fn read_back(&self, buffers: &[Option<Buffer<u8>>], args: &mut [Arg<'_>]) -> ClResult<()> {
        for (buffer, arg) in buffers.iter().zip(args) {
            if let (Some(buffer), Arg::InOut(bytes)) = (buffer, arg)
                && !bytes.is_empty()
            {
                // SAFETY: the buffer was made with the size of `bytes`, and the read is finished on return.
                unsafe { self.queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, bytes, &[])? };
            }
        }
        Ok(())
    }
}

/// What the driver said of the kernel.
pub(super) fn refused(kernel: &str, what: &str) -> impl Fn(ClError) -> Error + use<> {
    let (kernel, what) = (kernel.to_string(), what.to_string());
    move |error| Error::launch(&kernel, format!("{what}: {}", describe(error)))
}
