//! Buffers of OpenCL devices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::api::{Buffer, ClResult};
use super::context::{ClContext, id_of};
use crate::backend::{BackendMemory, ContextId};
use crate::block_pool::{QueueId, size_class};

#[derive(Debug)]
pub(super) struct ClMemory {
    buffer: Arc<Buffer>,
    context: ContextId,
    pooled: Option<Pooled>,
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
        Ok(ClMemory { buffer, context: context.id(), pooled: Some(pooled) })
    }

    /// The caller's memory.
    pub(super) fn from_buffer(buffer: Buffer) -> ClResult<ClMemory> {
        let context = id_of(buffer.context_handle()?);
        Ok(ClMemory { buffer: Arc::new(buffer), context, pooled: None })
    }

    /// The buffer for a command of `queue`.
    pub(super) fn for_queue(&self, queue: QueueId) -> &Buffer {
        if self.pooled.as_ref().is_some_and(|pooled| pooled.queue != queue) {
            return self.shared();
        }
        &self.buffer
    }

    /// The buffer for users that no queue orders.
    pub(super) fn shared(&self) -> &Buffer {
        if let Some(pooled) = &self.pooled {
            // The drop of the memory comes after all uses.
            pooled.is_shared.store(true, Ordering::Relaxed);
        }
        &self.buffer
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
        let Some(pooled) = &self.pooled else { return };
        let pool = &pooled.context.pool;
        if pooled.is_shared.load(Ordering::Relaxed) {
            // The driver releases it after the work of all queues.
            pool.forget(pooled.size);
        } else {
            pool.give_back(pooled.queue, pooled.size, self.buffer.clone());
        }
    }
}

impl BackendMemory for ClMemory {
    fn context(&self) -> ContextId {
        self.context
    }
}
