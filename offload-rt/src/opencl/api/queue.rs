//! Contexts, queues, memory and what becomes of commands.

use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use opencl_sys::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_COMPLETE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_FALSE, CL_MAP_READ,
    CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, CL_PROFILING_COMMAND_END, CL_QUEUE_PRIORITY_KHR,
    CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES, CL_TRUE, cl_buffer_region, cl_command_queue_properties,
    cl_event, cl_int, cl_mem_flags, cl_queue_priority_khr, cl_queue_properties, cl_ulong,
};

use super::device::DeviceId;
use super::error::{ClError, ClResult};
use super::info::check;
use super::library::call;
use super::object::{Buffer, CommandQueue, Context, Event, created};
use crate::backend::{HostFunction, WorkBefore};

/// A part of a buffer, in bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::opencl) struct Region<'a> {
    pub(in crate::opencl) buffer: &'a Buffer,
    pub(in crate::opencl) offset: usize,
    pub(in crate::opencl) size: usize,
}

impl Context {
    /// A context of one device.
    pub(in crate::opencl) fn new(device: DeviceId) -> ClResult<Context> {
        let functions = device.functions;
        let devices = &raw const device.raw;
        let raw = created(|status| {
            // SAFETY: there is one device, no property, and no function to call.
            unsafe {
                call!(functions, clCreateContext(ptr::null(), 1, devices, None, ptr::null_mut(), status))
            }
        })?;
        Ok(Context { functions, raw })
    }

    /// The driver's handle, as a number to compare.
    pub(in crate::opencl) fn handle(&self) -> usize {
        self.raw.addr()
    }
}

impl CommandQueue {
    /// A queue for `device`, in order, of this priority; its device has `cl_khr_priority_hints` if there is one.
    pub(in crate::opencl) fn new(
        context: &Context,
        device: DeviceId,
        priority: Option<cl_queue_priority_khr>,
    ) -> ClResult<CommandQueue> {
        CommandQueue::with_properties(context, device, 0, priority)
    }

    /// One that tells how long commands take; each of them takes longer for it.
    pub(in crate::opencl) fn timed(
        context: &Context,
        device: DeviceId,
        priority: Option<cl_queue_priority_khr>,
    ) -> ClResult<CommandQueue> {
        CommandQueue::with_properties(context, device, CL_QUEUE_PROFILING_ENABLE, priority)
    }

    fn with_properties(
        context: &Context,
        device: DeviceId,
        properties: cl_command_queue_properties,
        priority: Option<cl_queue_priority_khr>,
    ) -> ClResult<CommandQueue> {
        let functions = context.functions;
        let raw = created(|status| match priority {
            // Not `clCreateCommandQueueWithProperties`: drivers of OpenCL 1.2 lack it.
            // SAFETY: the driver looks whether the device is one of the context.
            None => unsafe {
                call!(functions, clCreateCommandQueue(context.raw, device.raw, properties, status))
            },
            Some(priority) => {
                let list = [
                    cl_queue_properties::from(CL_QUEUE_PROPERTIES),
                    properties,
                    CL_QUEUE_PRIORITY_KHR,
                    priority.into(),
                    0,
                ];
                let list = list.as_ptr();
                // SAFETY: the list ends with a zero and is read during the call.
                unsafe {
                    call!(
                        functions,
                        clCreateCommandQueueWithProperties(context.raw, device.raw, list, status)
                    )
                }
            }
        })?;
        Ok(CommandQueue { functions, raw })
    }

    /// Waits for what is in the queue, and copies a region to `bytes`, of the same size.
    pub(in crate::opencl) fn read(&self, from: Region<'_>, bytes: &mut [u8]) -> ClResult<()> {
        let size = bytes.len();
        let into = bytes.as_mut_ptr().cast();
        let none = ptr::null();
        // SAFETY: the driver compares the region with the buffer, and the copy is finished on return.
        check(unsafe {
            let queue = self.raw;
            let buffer = from.buffer.raw;
            let offset = from.offset;
            let no_event = ptr::null_mut();
            call!(
                self.functions,
                clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, size, into, 0, none, no_event)
            )?
        })
    }

    /// Copies `bytes` to a region of the same size, when what is in the queue has run, and waits for it.
    pub(in crate::opencl) fn write(&self, to: Region<'_>, bytes: &[u8]) -> ClResult<()> {
        let size = bytes.len();
        let from = bytes.as_ptr().cast();
        let none = ptr::null();
        // SAFETY: as for `read`.
        check(unsafe {
            let queue = self.raw;
            let buffer = to.buffer.raw;
            let offset = to.offset;
            let no_event = ptr::null_mut();
            call!(
                self.functions,
                clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, size, from, 0, none, no_event)
            )?
        })
    }

    /// Puts a copy from a region to `bytes` into the queue, and hands it to the device. After an error none is under way.
    ///
    /// # Safety
    /// There is room for as many bytes as the region has, which are not accessed before the copy is done.
    pub(in crate::opencl) unsafe fn read_later(&self, from: Region<'_>, bytes: *mut u8) -> ClResult<Event> {
        let into = bytes.cast();
        let none = ptr::null();
        let mut raw = ptr::null_mut();
        // SAFETY: the driver compares the region with the buffer; the caller answers for the bytes.
        check(unsafe {
            let queue = self.raw;
            let buffer = from.buffer.raw;
            let offset = from.offset;
            let size = from.size;
            call!(
                self.functions,
                clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset, size, into, 0, none, &raw mut raw)
            )?
        })?;
        self.begun(Event { functions: self.functions, raw })
    }

    /// Puts a copy of `bytes` to a region into the queue, and hands it to the device. After an error none is under way.
    ///
    /// # Safety
    /// There are as many bytes as the region has, which are neither written nor released before the copy is done.
    pub(in crate::opencl) unsafe fn write_later(&self, to: Region<'_>, bytes: *const u8) -> ClResult<Event> {
        let from = bytes.cast();
        let none = ptr::null();
        let mut raw = ptr::null_mut();
        // SAFETY: as for `read_later`.
        check(unsafe {
            let queue = self.raw;
            let buffer = to.buffer.raw;
            let offset = to.offset;
            let size = to.size;
            call!(
                self.functions,
                clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, size, from, 0, none, &raw mut raw)
            )?
        })?;
        self.begun(Event { functions: self.functions, raw })
    }

    /// Submits the queued commands to the device.
    pub(super) fn begun(&self, event: Event) -> ClResult<Event> {
        // SAFETY: the queue lives.
        let flushed = check(unsafe { call!(self.functions, clFlush(self.raw))? });
        if flushed.is_err() {
            let _ = event.wait();
        }
        flushed.map(|()| event)
    }

    /// Makes the first `size` bytes of `buffer` memory of the program, to read and write; it waits.
    pub(in crate::opencl) fn map(&self, buffer: &Buffer, size: usize) -> ClResult<*mut c_void> {
        created(|status| {
            let queue = self.raw;
            let memory = buffer.raw;
            let flags = CL_MAP_READ | CL_MAP_WRITE;
            let none = ptr::null();
            let no_event = ptr::null_mut();
            // SAFETY: the driver compares the size with the buffer.
            unsafe {
                call!(
                    self.functions,
                    clEnqueueMapBuffer(queue, memory, CL_TRUE, flags, 0, size, 0, none, no_event, status)
                )
            }
        })
    }

    /// Ends a mapping of [`CommandQueue::map`], whose address must not be used afterwards.
    pub(in crate::opencl) fn unmap(&self, buffer: &Buffer, address: *mut c_void) -> ClResult<()> {
        // SAFETY: there is no list of events; the driver looks whether the address is the buffer's.
        check(unsafe {
            let none = ptr::null();
            let no_event = ptr::null_mut();
            call!(self.functions, clEnqueueUnmapMemObject(self.raw, buffer.raw, address, 0, none, no_event))?
        })
    }

    /// Puts a copy to a region of the same size into the queue.
    pub(in crate::opencl) fn copy(&self, from: Region<'_>, to: Region<'_>) -> ClResult<()> {
        let source = from.buffer.raw;
        let target = to.buffer.raw;
        let none = ptr::null();
        // SAFETY: the driver compares the regions with the buffers.
        check(unsafe {
            let queue = self.raw;
            let no_event = ptr::null_mut();
            call!(
                self.functions,
                clEnqueueCopyBuffer(
                    queue,
                    source,
                    target,
                    from.offset,
                    to.offset,
                    to.size,
                    0,
                    none,
                    no_event
                )
            )?
        })
    }

    /// Puts filling a region into the queue. `pattern` has 1, 2 or 4 bytes, of which the region's offset and size are
    /// multiples.
    pub(in crate::opencl) fn fill(&self, to: Region<'_>, pattern: &[u8]) -> ClResult<()> {
        let size = pattern.len();
        let value = pattern.as_ptr().cast();
        let none = ptr::null();
        // SAFETY: the pattern has this size and is read during the call; the driver compares the region.
        check(unsafe {
            let queue = self.raw;
            let buffer = to.buffer.raw;
            let no_event = ptr::null_mut();
            call!(
                self.functions,
                clEnqueueFillBuffer(queue, buffer, value, size, to.offset, to.size, 0, none, no_event)
            )?
        })
    }

    /// An event for the end of all queued commands.
    pub(in crate::opencl) fn mark(&self) -> ClResult<Event> {
        let mut raw = ptr::null_mut();
        // SAFETY: there is no list of events, and space for one.
        check(unsafe {
            call!(self.functions, clEnqueueMarkerWithWaitList(self.raw, 0, ptr::null(), &raw mut raw))?
        })?;
        let event = Event { functions: self.functions, raw };
        // Other queues wait for ever for a command that was not handed to the device.
        // SAFETY: the queue lives.
        check(unsafe { call!(self.functions, clFlush(self.raw))? })?;
        Ok(event)
    }

    /// Queues a call of `function`: later commands wait for its return. After an error it is not called.
    pub(in crate::opencl) fn call(&self, context: &Context, function: HostFunction) -> ClResult<()> {
        let functions = self.functions;
        // SAFETY: the context lives.
        let raw = created(|status| unsafe { call!(functions, clCreateUserEvent(context.raw, status)) })?;
        let returned = Event { functions, raw };
        let before = self.mark()?;
        self.wait_for(&returned)?;
        let data = Box::into_raw(Box::new(QueuedCall { function, returned }));
        // SAFETY: the event lives, and the driver hands `data` to one call of the function.
        let set = check(unsafe {
            call!(functions, clSetEventCallback(before.raw, CL_COMPLETE, Some(run_call), data.cast()))?
        });
        if set.is_err() {
            // SAFETY: the driver refused, and it is this function's again.
            let refused = unsafe { Box::from_raw(data) };
            // What is queued goes on.
            refused.returned.complete();
            return set;
        }
        // SAFETY: the queue lives.
        check(unsafe { call!(functions, clFlush(self.raw))? })
    }

    /// Makes later commands wait for `event`.
    pub(in crate::opencl) fn wait_for(&self, event: &Event) -> ClResult<()> {
        // SAFETY: there is one event.
        check(unsafe {
            let events = &raw const event.raw;
            let no_event = ptr::null_mut();
            call!(self.functions, clEnqueueBarrierWithWaitList(self.raw, 1, events, no_event))?
        })
    }

    /// Waits for all commands.
    pub(in crate::opencl) fn finish(&self) -> ClResult<()> {
        // SAFETY: the queue lives.
        check(unsafe { call!(self.functions, clFinish(self.raw))? })
    }
}

impl Buffer {
    /// Memory of `size` bytes, of which there is at least one: OpenCL has no empty buffers.
    pub(in crate::opencl) fn new(context: &Context, size: usize) -> ClResult<Buffer> {
        Buffer::with_flags(context, size, CL_MEM_READ_WRITE)
    }

    /// As [`Buffer::new`], in memory that the program can reach.
    pub(in crate::opencl) fn host_accessible(context: &Context, size: usize) -> ClResult<Buffer> {
        Buffer::with_flags(context, size, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR)
    }

    fn with_flags(context: &Context, size: usize, flags: cl_mem_flags) -> ClResult<Buffer> {
        let functions = context.functions;
        let raw = created(|status| {
            let no_pointer = ptr::null_mut();
            // SAFETY: there is no memory of the host.
            unsafe { call!(functions, clCreateBuffer(context.raw, flags, size, no_pointer, status)) }
        })?;
        Ok(Buffer { functions, raw })
    }

    /// A part as a buffer of its own, which keeps this.
    pub(in crate::opencl) fn part(&self, offset: usize, size: usize) -> ClResult<Buffer> {
        let functions = self.functions;
        let region = cl_buffer_region { origin: offset, size };
        let raw = created(|status| {
            let kind = CL_BUFFER_CREATE_TYPE_REGION;
            let region = (&raw const region).cast();
            // SAFETY: the region is of the type that the kind says, and is read during the call.
            unsafe { call!(functions, clCreateSubBuffer(self.raw, 0, kind, region, status)) }
        })?;
        Ok(Buffer { functions, raw })
    }
}

/// A call of a host function in a queue.
struct QueuedCall {
    function: HostFunction,
    /// An event of the program's, which later commands wait for.
    returned: Event,
}

unsafe extern "C" fn run_call(_: cl_event, status: cl_int, data: *mut c_void) {
    // SAFETY: `data` is of `CommandQueue::call`, and the driver calls once for each.
    let QueuedCall { function, returned } = *unsafe { Box::from_raw(data.cast::<QueuedCall>()) };
    // A negative status is the error of a command.
    function(if status == CL_COMPLETE { WorkBefore::Done } else { WorkBefore::Failed });
    returned.complete();
}

impl Event {
    /// Completes an event of the program's.
    fn complete(&self) {
        // SAFETY: the event lives. A failure leaves nothing to be done.
        let _ = unsafe { call!(self.functions, clSetUserEventStatus(self.raw, CL_COMPLETE)) };
    }

    /// Waits for the command.
    pub(in crate::opencl) fn wait(&self) -> ClResult<()> {
        // SAFETY: there is one event.
        check(unsafe { call!(self.functions, clWaitForEvents(1, &raw const self.raw))? })
    }

    /// Whether the command has run.
    pub(in crate::opencl) fn is_done(&self) -> ClResult<bool> {
        let mut status: cl_int = 0;
        let capacity = size_of_val(&status);
        let value = (&raw mut status).cast();
        // SAFETY: there is space for the number.
        check(unsafe {
            let parameter = CL_EVENT_COMMAND_EXECUTION_STATUS;
            let no_size = ptr::null_mut();
            call!(self.functions, clGetEventInfo(self.raw, parameter, capacity, value, no_size))?
        })?;
        // "A negative integer value" says that the command ended with this error.
        if status < 0 { Err(ClError::Code(status)) } else { Ok(status == CL_COMPLETE) }
    }

    /// The time from `earlier` to the end of this by the device's clock; both have run.
    pub(in crate::opencl) fn since(&self, earlier: &Event) -> ClResult<Duration> {
        Ok(Duration::from_nanos(self.end()?.saturating_sub(earlier.end()?)))
    }

    /// When the command ended, in nanoseconds of the device's clock.
    fn end(&self) -> ClResult<u64> {
        let mut time: cl_ulong = 0;
        let capacity = size_of_val(&time);
        let value = (&raw mut time).cast();
        // SAFETY: there is space for the number.
        check(unsafe {
            let parameter = CL_PROFILING_COMMAND_END;
            let no_size = ptr::null_mut();
            call!(self.functions, clGetEventProfilingInfo(self.raw, parameter, capacity, value, no_size))?
        })?;
        Ok(time)
    }
}
