//! Streams are command queues in order, memory is buffers, and events are markers.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use opencl_sys::{
    CL_DEVICE_EXTENSIONS, CL_QUEUE_PRIORITY_HIGH_KHR, CL_QUEUE_PRIORITY_LOW_KHR, CL_QUEUE_PRIORITY_MED_KHR,
    cl_queue_priority_khr,
};

use super::answers::{has, text};
use super::api::{ClError, ClResult, CommandQueue, DeviceId, Event, Image, Region};
use super::context::ClContext;
use super::current_queue::{Current, StreamQueue};
#[cfg(unix)]
use super::external::ClSemaphore;
use super::external::with_external;
use super::image::ClImage;
use super::memory::ClMemory;
#[cfg(unix)]
use crate::backend::BackendSemaphore;
use crate::backend::{
    BackendEvent, BackendMemory, BackendStream, ContextId, FillPattern, HostFunction, ImageRange,
    MemoryPlace, MemoryRange, StreamPriority, downcast,
};
use crate::block_pool::QueueId;
use crate::error::Problem;
use crate::images::FillColor;

/// A queue. What is in it keeps buffers and kernels until it has run, by OpenCL's own counts.
#[derive(Debug)]
pub(super) struct ClStream {
    // Released in this order.
    current: Arc<RwLock<Current>>,
    context: Arc<ClContext>,
    priority: Option<cl_queue_priority_khr>,
    pool_queue: QueueId,
}

#[derive(Debug)]
struct ClEvent {
    // Released in this order.
    event: Event,
    context: Arc<ClContext>,
}

impl ClStream {
    pub(super) fn new(context: Arc<ClContext>) -> Result<ClStream, Problem> {
        ClStream::with_queue_priority(context, None)
    }

    /// A stream of this priority; `None` if the driver has none.
    pub(super) fn with_priority(
        context: Arc<ClContext>,
        priority: StreamPriority,
    ) -> Result<Option<ClStream>, Problem> {
        if !has(&text(context.device(), CL_DEVICE_EXTENSIONS), "cl_khr_priority_hints") {
            return Ok(None);
        }
        let priority = match priority {
            StreamPriority::Low => CL_QUEUE_PRIORITY_LOW_KHR,
            StreamPriority::Normal => CL_QUEUE_PRIORITY_MED_KHR,
            StreamPriority::High => CL_QUEUE_PRIORITY_HIGH_KHR,
        };
        ClStream::with_queue_priority(context, Some(priority)).map(Some)
    }

    fn with_queue_priority(
        context: Arc<ClContext>,
        priority: Option<cl_queue_priority_khr>,
    ) -> Result<ClStream, Problem> {
        let queue = CommandQueue::new(&context.context, context.device(), priority);
        let queue = Arc::new(queue.map_err(|error| format!("cannot make a queue: {error}"))?);
        Ok(ClStream::with_current(Current { queue, is_last: false }, context, priority))
    }

    /// The caller's queue.
    pub(super) fn from_queue(queue: CommandQueue, context: Arc<ClContext>) -> Result<ClStream, Problem> {
        let failed = failed("cannot use the queue");
        if queue.context_handle().map_err(&failed)? != context.context.handle() {
            return Err("the queue is of another context".to_string().into());
        }
        if queue.is_out_of_order().map_err(failed)? {
            let problem = "commands may overtake each other in the queue".to_string();
            return Err(Problem::with_hint(
                problem,
                "make it without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE",
            ));
        }
        let queue = Arc::new(queue);
        Ok(ClStream::with_current(Current { queue, is_last: true }, context, None))
    }

    fn with_current(
        current: Current,
        context: Arc<ClContext>,
        priority: Option<cl_queue_priority_khr>,
    ) -> ClStream {
        let pool_queue = context.pool.add_queue();
        ClStream { current: Arc::new(RwLock::new(current)), context, priority, pool_queue }
    }

    /// Bytes of local memory that a work-group has, if the driver tells.
    pub(super) fn local_memory(&self) -> Option<u64> {
        self.context.local_memory
    }

    /// Whether the last work-groups of a range may be smaller.
    pub(super) fn has_uneven_ranges(&self) -> bool {
        self.context.has_uneven_ranges
    }

    pub(super) fn device(&self) -> DeviceId {
        self.context.device()
    }

    /// The queue for a command that is not waited for, which stays the stream's until it has it.
    pub(super) fn current(&self) -> RwLockReadGuard<'_, Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The queue for blocking commands, without the lock: other threads do not wait meanwhile.
    fn waiting(&self) -> Arc<CommandQueue> {
        self.current().queue.clone()
    }

    /// The queue that stays; it goes on when the one before is done.
    pub(super) fn last(&self) -> ClResult<Arc<CommandQueue>> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if !current.is_last {
            let queue = CommandQueue::timed(&self.context.context, self.context.device(), self.priority)?;
            queue.wait_for(&current.queue.mark()?)?;
            *current = Current { queue: Arc::new(queue), is_last: true };
        }
        Ok(current.queue.clone())
    }

    /// Its queue now and later, for memory that waits for the work of the stream.
    pub(super) fn queue(&self) -> StreamQueue<'_> {
        StreamQueue { current: &self.current, id: self.pool_queue }
    }

    fn region<'m>(&self, range: MemoryRange<'m>) -> Result<Region<'m>, Problem> {
        let buffer = downcast::<ClMemory>(range.memory.get())?.for_stream(self.queue());
        Ok(Region { buffer, offset: range.offset, size: range.size })
    }

    fn event(&self, event: Event) -> Box<dyn BackendEvent> {
        Box::new(ClEvent { event, context: self.context.clone() })
    }
}

impl Drop for ClStream {
    fn drop(&mut self) {
        self.context.pool.remove_queue(self.pool_queue);
    }
}

fn image(range: ImageRange<'_>) -> Result<&Image, Problem> {
    Ok(&downcast::<ClImage>(&**range.image)?.image)
}

fn failed(what: &'static str) -> impl Fn(ClError) -> Problem {
    move |error| format!("{what}: {error}").into()
}

impl BackendStream for ClStream {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn allocate(&self, size: usize) -> Result<Arc<dyn BackendMemory>, Problem> {
        let memory = ClMemory::allocate(&self.context, self.pool_queue, size);
        Ok(Arc::new(memory.map_err(|error| error.to_string())?))
    }

    fn write(&self, to: MemoryRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        let queue = self.waiting();
        with_external(&queue, [to], || {
            queue.write(self.region(to)?, bytes).map_err(failed("cannot copy to a buffer"))
        })
    }

    fn read(&self, from: MemoryRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        let queue = self.waiting();
        with_external(&queue, [from], || {
            queue.read(self.region(from)?, bytes).map_err(failed("cannot copy from a buffer"))
        })
    }

    unsafe fn write_later(
        &self,
        to: MemoryRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let current = self.current();
        with_external(&current.queue, [to], || {
            // SAFETY: the contract is the same, and the caller's to keep.
            let begun = unsafe { current.queue.write_later(self.region(to)?, bytes) };
            Ok(self.event(begun.map_err(failed("cannot copy to a buffer"))?))
        })
    }

    unsafe fn read_later(
        &self,
        from: MemoryRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let current = self.current();
        with_external(&current.queue, [from], || {
            // SAFETY: the contract is the same, and the caller's to keep.
            let begun = unsafe { current.queue.read_later(self.region(from)?, bytes) };
            Ok(self.event(begun.map_err(failed("cannot copy from a buffer"))?))
        })
    }

    fn copy(&self, from: MemoryRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        let current = self.current();
        with_external(&current.queue, [from, to], || {
            let copied = current.queue.copy(self.region(from)?, self.region(to)?);
            copied.map_err(failed("cannot copy between buffers"))
        })
    }

    fn prefetch(&self, range: MemoryRange<'_>, place: MemoryPlace) -> Result<(), Problem> {
        let region = self.region(range)?;
        let moved = self.current().queue.migrate(region.buffer, place == MemoryPlace::Program);
        moved.map_err(failed("cannot prefetch managed memory"))
    }

    fn fill(&self, to: MemoryRange<'_>, pattern: FillPattern) -> Result<(), Problem> {
        let region = self.region(to)?;
        let current = self.current();
        let queue = &current.queue;
        with_external(queue, [to], || {
            let filled = match pattern {
                FillPattern::Bytes1(value) => queue.fill(region, &value.to_ne_bytes()),
                FillPattern::Bytes2(value) => queue.fill(region, &value.to_ne_bytes()),
                FillPattern::Bytes4(value) => queue.fill(region, &value.to_ne_bytes()),
            };
            filled.map_err(failed("cannot fill a buffer"))
        })
    }

    fn write_image(&self, to: ImageRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        let written = self.waiting().write_image(image(to)?, &to.region, bytes);
        written.map_err(failed("cannot copy to an image"))
    }

    fn read_image(&self, from: ImageRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        let read = self.waiting().read_image(image(from)?, &from.region, bytes);
        read.map_err(failed("cannot copy from an image"))
    }

    unsafe fn write_image_later(
        &self,
        to: ImageRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        // SAFETY: the contract is the same, and the caller's to keep.
        let begun = unsafe { self.current().queue.write_image_later(image(to)?, &to.region, bytes) };
        Ok(self.event(begun.map_err(failed("cannot copy to an image"))?))
    }

    unsafe fn read_image_later(
        &self,
        from: ImageRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        // SAFETY: the contract is the same, and the caller's to keep.
        let begun = unsafe { self.current().queue.read_image_later(image(from)?, &from.region, bytes) };
        Ok(self.event(begun.map_err(failed("cannot copy from an image"))?))
    }

    fn copy_to_image(&self, from: MemoryRange<'_>, to: ImageRange<'_>) -> Result<(), Problem> {
        let current = self.current();
        with_external(&current.queue, [from], || {
            let copied = current.queue.copy_to_image(self.region(from)?, image(to)?, &to.region);
            copied.map_err(failed("cannot copy to an image"))
        })
    }

    fn copy_from_image(&self, from: ImageRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        let current = self.current();
        with_external(&current.queue, [to], || {
            let copied = current.queue.copy_from_image(image(from)?, &from.region, self.region(to)?);
            copied.map_err(failed("cannot copy from an image"))
        })
    }

    fn copy_image(&self, from: ImageRange<'_>, to: ImageRange<'_>) -> Result<(), Problem> {
        let copied = self.current().queue.copy_image((image(from)?, &from.region), (image(to)?, &to.region));
        copied.map_err(failed("cannot copy between images"))
    }

    fn fill_image(&self, to: ImageRange<'_>, color: FillColor) -> Result<(), Problem> {
        let words = match color {
            FillColor::Float(color) => color.map(f32::to_bits),
            FillColor::Signed(color) => color.map(i32::cast_unsigned),
            FillColor::Unsigned(color) => color,
        };
        let filled = self.current().queue.fill_image(image(to)?, &to.region, words);
        filled.map_err(failed("cannot fill an image"))
    }

    fn call(&self, function: HostFunction) -> Result<(), Problem> {
        let called = self.current().queue.call(&self.context.context, function);
        called.map_err(failed("cannot call a host function"))
    }

    fn mark(&self) -> Result<Box<dyn BackendEvent>, Problem> {
        let marked = self.current().queue.mark();
        Ok(self.event(marked.map_err(failed("cannot make an event"))?))
    }

    fn record(&self) -> Result<Box<dyn BackendEvent>, Problem> {
        let marked = self.last().and_then(|queue| queue.mark());
        Ok(self.event(marked.map_err(failed("cannot make an event"))?))
    }

    fn wait_for(&self, event: &dyn BackendEvent) -> Result<(), Problem> {
        self.current()
            .queue
            .wait_for(&downcast::<ClEvent>(event)?.event)
            .map_err(failed("cannot wait for an event"))
    }

    #[cfg(unix)]
    fn wait_external(&self, semaphore: &dyn BackendSemaphore, _: u64) -> Result<(), Problem> {
        let semaphore = &downcast::<ClSemaphore>(semaphore)?.semaphore;
        self.current().queue.wait_for_semaphore(semaphore).map_err(failed("cannot wait for a semaphore"))
    }

    #[cfg(unix)]
    fn signal_external(&self, semaphore: &dyn BackendSemaphore, _: u64) -> Result<(), Problem> {
        let semaphore = &downcast::<ClSemaphore>(semaphore)?.semaphore;
        self.current().queue.signal_semaphore(semaphore).map_err(failed("cannot signal a semaphore"))
    }

    fn synchronize(&self) -> Result<(), Problem> {
        self.waiting().finish().map_err(failed("the work of the stream failed"))
    }
}

impl BackendEvent for ClEvent {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn wait(&self) -> Result<(), Problem> {
        self.event.wait().map_err(failed("the work before an event failed"))
    }

    fn is_done(&self) -> Result<bool, Problem> {
        self.event.is_done().map_err(failed("the work before an event failed"))
    }

    fn since(&self, earlier: &dyn BackendEvent) -> Result<Duration, Problem> {
        let since = self.event.since(&downcast::<ClEvent>(earlier)?.event);
        since.map_err(failed("the driver does not tell times"))
    }
}
