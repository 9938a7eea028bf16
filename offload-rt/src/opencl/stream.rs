//! Streams are command queues in order, memory is buffers, and events are markers.

use std::sync::Arc;
use std::time::Duration;

use super::api::{Buffer, ClError, ClResult, CommandQueue, Event, Region};
use super::context::{ClContext, id_of};
use crate::driver::{ContextId, DriverEvent, DriverMemory, DriverStream, FillPattern, MemoryRange, own};
use crate::error::Problem;

/// A queue. What is in it keeps buffers and kernels until it has run, by OpenCL's own counts.
#[derive(Debug)]
pub(super) struct ClStream {
    // Released in this order.
    pub(super) queue: CommandQueue,
    context: Arc<ClContext>,
}

#[derive(Debug)]
pub(super) struct ClMemory {
    pub(super) buffer: Buffer,
    context: ContextId,
}

#[derive(Debug)]
struct ClEvent {
    // Released in this order.
    event: Event,
    context: Arc<ClContext>,
}

impl ClStream {
    pub(super) fn new(context: Arc<ClContext>) -> Result<ClStream, Problem> {
        let queue = CommandQueue::new(&context.context, context.device());
        let queue = queue.map_err(|error| format!("cannot make a queue: {error}"))?;
        Ok(ClStream { queue, context })
    }

    /// The caller's queue.
    pub(super) fn adopted(queue: CommandQueue, context: Arc<ClContext>) -> Result<ClStream, Problem> {
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
        Ok(ClStream { queue, context })
    }

    fn event(&self, event: Event) -> Box<dyn DriverEvent> {
        Box::new(ClEvent { event, context: self.context.clone() })
    }
}

fn region(range: MemoryRange<'_>) -> Result<Region<'_>, Problem> {
    let buffer = &own::<ClMemory>(range.memory)?.buffer;
    Ok(Region { buffer, offset: range.offset, size: range.size })
}

fn failed(what: &'static str) -> impl Fn(ClError) -> Problem {
    move |error| format!("{what}: {error}").into()
}

impl DriverStream for ClStream {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn allocate(&self, size: usize) -> Result<Box<dyn DriverMemory>, Problem> {
        let buffer = Buffer::new(&self.context.context, size).map_err(|error| error.to_string())?;
        Ok(Box::new(ClMemory { buffer, context: self.context.id() }))
    }

    fn write(&self, to: MemoryRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        self.queue.write(region(to)?, bytes).map_err(failed("cannot copy to a buffer"))
    }

    fn read(&self, from: MemoryRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        self.queue.read(region(from)?, bytes).map_err(failed("cannot copy from a buffer"))
    }

    unsafe fn write_later(
        &self,
        to: MemoryRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn DriverEvent>, Problem> {
        // SAFETY: the contract is the same, and the caller's to keep.
        let begun = unsafe { self.queue.write_later(region(to)?, bytes) };
        Ok(self.event(begun.map_err(failed("cannot copy to a buffer"))?))
    }

    unsafe fn read_later(
        &self,
        from: MemoryRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn DriverEvent>, Problem> {
        // SAFETY: the contract is the same, and the caller's to keep.
        let begun = unsafe { self.queue.read_later(region(from)?, bytes) };
        Ok(self.event(begun.map_err(failed("cannot copy from a buffer"))?))
    }

    fn copy(&self, from: MemoryRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        self.queue.copy(region(from)?, region(to)?).map_err(failed("cannot copy between buffers"))
    }

    fn fill(&self, to: MemoryRange<'_>, pattern: FillPattern) -> Result<(), Problem> {
        let region = region(to)?;
        let filled = match pattern {
            FillPattern::Bytes1(value) => self.queue.fill(region, &value.to_ne_bytes()),
            FillPattern::Bytes2(value) => self.queue.fill(region, &value.to_ne_bytes()),
            FillPattern::Bytes4(value) => self.queue.fill(region, &value.to_ne_bytes()),
        };
        filled.map_err(failed("cannot fill a buffer"))
    }

    fn record(&self) -> Result<Box<dyn DriverEvent>, Problem> {
        Ok(self.event(self.queue.mark().map_err(failed("cannot make an event"))?))
    }

    fn wait_for(&self, event: &dyn DriverEvent) -> Result<(), Problem> {
        self.queue.wait_for(&own::<ClEvent>(event)?.event).map_err(failed("cannot wait for an event"))
    }

    fn synchronize(&self) -> Result<(), Problem> {
        self.queue.finish().map_err(failed("the work of the stream failed"))
    }
}

impl ClMemory {
    /// The caller's memory.
    pub(super) fn adopted(buffer: Buffer) -> ClResult<ClMemory> {
        let context = id_of(buffer.context_handle()?);
        Ok(ClMemory { buffer, context })
    }
}

impl DriverMemory for ClMemory {
    fn context(&self) -> ContextId {
        self.context
    }
}

impl DriverEvent for ClEvent {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn wait(&self) -> Result<(), Problem> {
        self.event.wait().map_err(failed("the work before an event failed"))
    }

    fn is_done(&self) -> Result<bool, Problem> {
        self.event.is_done().map_err(failed("the work before an event failed"))
    }

    fn since(&self, earlier: &dyn DriverEvent) -> Result<Duration, Problem> {
        let since = self.event.since(&own::<ClEvent>(earlier)?.event);
        since.map_err(failed("the driver does not tell times"))
    }
}
