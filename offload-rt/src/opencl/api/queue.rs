//! Running kernels: contexts, queues, memory and what becomes of commands.

use std::ptr;
use std::time::Duration;

use opencl_sys::{
    CL_MEM_COPY_HOST_PTR, CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_PROFILING_COMMAND_END,
    CL_PROFILING_COMMAND_START, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, cl_profiling_info,
};

use super::device::DeviceId;
use super::error::ClResult;
use super::info::check;
use super::library::call;
use super::object::{Buffer, CommandQueue, Context, Event, Kernel, created};
use crate::launch::NdRange;

/// What kernels do with memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::opencl) enum Access {
    /// They read it.
    Read,
    /// They read and write it.
    ReadWrite,
}

impl Context {
    /// A context of one device.
    pub(in crate::opencl) fn new(device: DeviceId) -> ClResult<Context> {
        let (functions, devices) = (device.functions, &raw const device.raw);
        let raw = created(|status| {
            // SAFETY: there is one device, no property, and no function to call.
            unsafe {
                call!(functions, clCreateContext(ptr::null(), 1, devices, None, ptr::null_mut(), status))
            }
        })?;
        Ok(Context { functions, raw })
    }
}

impl CommandQueue {
    /// A queue for `device` that tells how long commands take.
    pub(in crate::opencl) fn new(context: &Context, device: DeviceId) -> ClResult<CommandQueue> {
        let (functions, properties) = (context.functions, CL_QUEUE_PROFILING_ENABLE);
        let raw = created(|status| {
            // Not `clCreateCommandQueueWithProperties`: drivers of OpenCL 1.2 lack it.
            // SAFETY: the driver looks whether the device is one of the context.
            unsafe { call!(functions, clCreateCommandQueue(context.raw, device.raw, properties, status)) }
        })?;
        Ok(CommandQueue { functions, raw })
    }

    /// Puts `kernel` into the queue.
    ///
    /// # Safety
    /// Every argument is set, and the kernel may run on them over `range`; buffers among them live until it has run.
    pub(in crate::opencl) unsafe fn run(&self, kernel: &Kernel, range: &NdRange) -> ClResult<Event> {
        let [offset, global, local] =
            [range.offset(), range.global(), range.local()].map(|sizes| sizes.map(|size| size as usize));
        let (dimensions, offset, global, local) =
            (range.dimensions(), offset.as_ptr(), global.as_ptr(), local.as_ptr());
        let mut event = ptr::null_mut();
        // SAFETY: each array has at least as many sizes as there are dimensions; the caller answers for the rest.
        check(unsafe {
            let (queue, kernel, no_events) = (self.raw, kernel.raw, ptr::null());
            call!(
                self.functions,
                clEnqueueNDRangeKernel(
                    queue,
                    kernel,
                    dimensions,
                    offset,
                    global,
                    local,
                    0,
                    no_events,
                    &raw mut event
                )
            )?
        })?;
        Ok(Event { functions: self.functions, raw: event })
    }

    /// Waits for what is in the queue, and copies the start of `buffer` into all of `bytes`.
    pub(in crate::opencl) fn read(&self, buffer: &Buffer, bytes: &mut [u8]) -> ClResult<()> {
        let (size, into, no_events) = (bytes.len(), bytes.as_mut_ptr().cast(), ptr::null());
        // SAFETY: the driver compares the size with the buffer's, and the copy is finished on return.
        check(unsafe {
            let (queue, buffer, no_event) = (self.raw, buffer.raw, ptr::null_mut());
            call!(
                self.functions,
                clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, into, 0, no_events, no_event)
            )?
        })
    }
}

impl Buffer {
    /// Memory with a copy of `bytes`, of which there is at least one: OpenCL has no empty buffers.
    pub(in crate::opencl) fn copied(context: &Context, access: Access, bytes: &[u8]) -> ClResult<Buffer> {
        let flags = CL_MEM_COPY_HOST_PTR
            | match access {
                Access::Read => CL_MEM_READ_ONLY,
                Access::ReadWrite => CL_MEM_READ_WRITE,
            };
        let (functions, size, from) = (context.functions, bytes.len(), bytes.as_ptr().cast_mut().cast());
        let raw = created(|status| {
            // SAFETY: with COPY_HOST_PTR the driver reads this many bytes during the call and keeps no pointer.
            unsafe { call!(functions, clCreateBuffer(context.raw, flags, size, from, status)) }
        })?;
        Ok(Buffer { functions, raw })
    }
}

impl Event {
    /// Waits for the command.
    pub(in crate::opencl) fn wait(&self) -> ClResult<()> {
        // SAFETY: there is one event.
        check(unsafe { call!(self.functions, clWaitForEvents(1, &raw const self.raw))? })
    }

    /// How long a command ran that has ended.
    pub(in crate::opencl) fn duration(&self) -> ClResult<Duration> {
        let (start, end) = (self.time(CL_PROFILING_COMMAND_START)?, self.time(CL_PROFILING_COMMAND_END)?);
        Ok(Duration::from_nanos(end.saturating_sub(start)))
    }

    /// A time of the device's clock, in nanoseconds.
    fn time(&self, parameter: cl_profiling_info) -> ClResult<u64> {
        let mut time = 0u64;
        let (capacity, value) = (size_of_val(&time), (&raw mut time).cast());
        // SAFETY: there is space for the number.
        check(unsafe {
            call!(
                self.functions,
                clGetEventProfilingInfo(self.raw, parameter, capacity, value, ptr::null_mut())
            )?
        })?;
        Ok(time)
    }
}
