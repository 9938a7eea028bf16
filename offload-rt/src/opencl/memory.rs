//! Buffers of OpenCL devices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use super::api::ExternalBuffer;
use super::api::{Buffer, ClResult};
use super::context::{ClContext, id_of};
use super::current_queue::StreamQueue;
use super::managed::ManagedMemory;
use crate::backend::{BackendMemory, ContextId};
use crate::block_pool::{QueueId, size_class};
use crate::error::Problem;

#[derive(Debug)]
pub(super) struct ClMemory {
    context: ContextId,
    held: MemoryHeld,
}

#[derive(Debug)]
enum MemoryHeld {
    Pooled(Arc<Buffer>, Pooled),
    /// It is the caller's.
    Own(Buffer),
    /// The program uses it too.
    Managed(ManagedMemory),
    /// It is of another programming interface.
    #[cfg(unix)]
    External(ExternalBuffer),
}

/// A buffer that goes back to its queue.
#[derive(Debug)]
struct Pooled {
    context: Arc<ClContext>,
    queue: QueueId,
    /// Whether more than the queue may use the buffer: it cannot be taken again without a wait then.
    is_shared: AtomicBool,
    size: u64,
}

impl ClMemory {
    /// A buffer of at least `size` bytes for `queue`, of its pool if that has one.
    pub(super) fn allocate(context: &Arc<ClContext>, queue: QueueId, size: usize) -> ClResult<ClMemory> {
        let class = size_class(size as u64);
        let (buffer, size) = match context.pool.take(queue, class) {
            Some(buffer) => (buffer, class),
            None => create(context, size, class)?,
        };
        let pooled = Pooled { context: context.clone(), queue, is_shared: AtomicBool::new(false), size };
        Ok(ClMemory { context: context.id(), held: MemoryHeld::Pooled(buffer, pooled) })
    }

    /// Memory that the program uses too; `None` if the device has none.
    pub(super) fn managed(context: &Arc<ClContext>, size: usize) -> ClResult<Option<ClMemory>> {
        let managed = ManagedMemory::new(context.clone(), size)?;
        Ok(managed.map(|managed| ClMemory { context: context.id(), held: MemoryHeld::Managed(managed) }))
    }

    /// The caller's memory.
    pub(super) fn from_buffer(buffer: Buffer) -> ClResult<ClMemory> {
        let context = id_of(buffer.context_handle()?);
        Ok(ClMemory { context, held: MemoryHeld::Own(buffer) })
    }

    /// Memory of another programming interface.
    #[cfg(unix)]
    pub(super) fn external(context: ContextId, buffer: ExternalBuffer) -> ClMemory {
        ClMemory { context, held: MemoryHeld::External(buffer) }
    }

    /// The memory of another programming interface, if it is some.
    #[cfg(unix)]
    pub(super) fn external_buffer(&self) -> Option<&ExternalBuffer> {
        match &self.held {
            MemoryHeld::External(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// The buffer for a command of a stream with this queue.
    pub(super) fn for_stream(&self, queue: StreamQueue<'_>) -> &Buffer {
        match &self.held {
            MemoryHeld::Pooled(buffer, pooled) if pooled.queue == queue.id => buffer,
            MemoryHeld::Managed(managed) => {
                managed.use_in(queue.current);
                &managed.buffer
            }
            _ => self.shared(),
        }
    }

    /// The buffer for users that no queue orders.
    pub(super) fn shared(&self) -> &Buffer {
        match &self.held {
            MemoryHeld::Pooled(buffer, pooled) => {
                // The drop of the memory comes after all uses.
                pooled.is_shared.store(true, Ordering::Relaxed);
                buffer
            }
            MemoryHeld::Own(buffer) => buffer,
            MemoryHeld::Managed(managed) => &managed.buffer,
            #[cfg(unix)]
            MemoryHeld::External(external) => external.buffer(),
        }
    }
}

/// A buffer and its size: that of its class, or `size` itself if the driver refuses so much.
fn create(context: &ClContext, size: usize, class: u64) -> ClResult<(Arc<Buffer>, u64)> {
    let rounded = usize::try_from(class).unwrap_or(size);
    let (buffer, size) = match Buffer::new(&context.context, rounded) {
        Ok(buffer) => (buffer, class),
        Err(_) => {
            context.pool.release_unused(0);
            (Buffer::new(&context.context, size)?, size as u64)
        }
    };
    context.pool.add(size);
    Ok((Arc::new(buffer), size))
}

impl Drop for ClMemory {
    fn drop(&mut self) {
        let MemoryHeld::Pooled(buffer, pooled) = &self.held else { return };
        let pool = &pooled.context.pool;
        if pooled.is_shared.load(Ordering::Relaxed) {
            // The driver releases it after the work of all queues.
            pool.forget(pooled.size);
        } else {
            pool.give_back(pooled.queue, pooled.size, buffer.clone());
        }
    }
}

impl BackendMemory for ClMemory {
    fn context(&self) -> ContextId {
        self.context
    }

    fn begin_program_access(&self) -> Result<*mut u8, Problem> {
        match &self.held {
            MemoryHeld::Managed(managed) => managed.map(),
            _ => Err("it is not managed memory".to_string().into()),
        }
    }

    fn end_program_access(&self) -> Result<(), Problem> {
        match &self.held {
            MemoryHeld::Managed(managed) => managed.unmap(),
            _ => Ok(()),
        }
    }
}
