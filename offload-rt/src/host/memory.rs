//! Memory of the host CPU's device: the program's own, aligned for every OpenCL type.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::block::{HostBlock, out_of_memory};
use super::checks::{self, RED_ZONE, RegisteredBuffer};
#[cfg(feature = "dlpack")]
use crate::backend::Owner;
use crate::backend::{Backend, BackendMemory, ContextId, MemoryRange, downcast};
use crate::block_pool::{BlockPool, QueueId, size_class};
use crate::error::Problem;

/// The one context of this process.
pub(super) const CONTEXT: ContextId = ContextId { backend: Backend::Host, handle: 0 };

/// The pool of all devices of the host CPU that are in use: buffers go from one to the other.
static IN_USE: Mutex<Weak<HostPool>> = Mutex::new(Weak::new());

/// Memory that has been zeroed once.
#[derive(Debug)]
pub(crate) struct HostMemory {
    /// The first byte of a buffer or a value.
    start: NonNull<u8>,
    storage: Storage,
}

/// The owner of memory.
#[derive(Debug)]
enum Storage {
    Block {
        _block: HostBlock,
    },
    Pooled {
        _block: PooledBlock,
    },
    /// A buffer whose accesses are checked.
    Registered {
        /// Both are there until the memory is dropped.
        parts: Option<(HostBlock, RegisteredBuffer)>,
    },
    /// The caller's memory.
    #[cfg(feature = "dlpack")]
    Adopted {
        _owner: Owner,
        _registered: Option<RegisteredBuffer>,
    },
}

/// A block that goes back to its pool.
#[derive(Debug)]
struct PooledBlock {
    block: Arc<HostBlock>,
    size: u64,
    pool: Arc<HostPool>,
}

/// The pool that buffers of the host CPU come from. All streams share one queue: their work is done when a call returns.
#[derive(Debug)]
pub(super) struct HostPool {
    pub(super) blocks: Arc<BlockPool<Arc<HostBlock>>>,
    queue: QueueId,
}

// SAFETY: the memory is this value's own. Concurrent reads and writes are excluded by borrows of `Buffer`,
// and for kernels by the caller of a launch.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Allocates `size` bytes, or 1 if that is 0, so that empty memory has an address too.
    pub(crate) fn zeroed(size: usize) -> Result<HostMemory, Problem> {
        let block = HostBlock::zeroed(size)?;
        Ok(HostMemory { start: block.start(), storage: Storage::Block { _block: block } })
    }

    /// The caller's memory of `size` bytes, which `owner` keeps.
    #[cfg(feature = "dlpack")]
    pub(super) fn adopted(start: NonNull<u8>, size: usize, owner: Owner) -> HostMemory {
        let address = start.as_ptr().expose_provenance();
        let registered = checks::are_enabled().then(|| RegisteredBuffer::new(address, size));
        HostMemory { start, storage: Storage::Adopted { _owner: owner, _registered: registered } }
    }

    /// Allocates memory between two red zones, which instrumented kernels must not access.
    pub(super) fn with_red_zones(size: usize) -> Result<HostMemory, Problem> {
        let (block, start) = between_red_zones(size)?;
        Ok(HostMemory { start, storage: Storage::Block { _block: block } })
    }

    /// Allocates a buffer between two red zones, and registers it: every kernel may have its address.
    pub(super) fn registered(size: usize) -> Result<HostMemory, Problem> {
        let (block, start) = between_red_zones(size)?;
        let registered = RegisteredBuffer::new(start.as_ptr().expose_provenance(), size);
        Ok(HostMemory { start, storage: Storage::Registered { parts: Some((block, registered)) } })
    }

    /// Memory for a buffer of the program, which the sanitizer knows if it is enabled.
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(crate) fn for_buffer(size: usize) -> Result<HostMemory, Problem> {
        if checks::are_enabled() { HostMemory::registered(size) } else { HostMemory::zeroed(size) }
    }

    pub(crate) fn address(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

fn between_red_zones(size: usize) -> Result<(HostBlock, NonNull<u8>), Problem> {
    let block = HostBlock::zeroed(RED_ZONE.saturating_mul(2).saturating_add(size))?;
    // SAFETY: the allocation is larger by two zones.
    let start = unsafe { block.start().add(RED_ZONE) };
    Ok((block, start))
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let Storage::Registered { parts } = &mut self.storage
            && let Some((block, registered)) = parts.take()
        {
            registered.free(block);
        }
    }
}

impl HostPool {
    /// The pool of the devices that are in use, or a new one.
    pub(super) fn shared() -> Arc<HostPool> {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = in_use.upgrade() {
            return pool;
        }
        let blocks = Arc::new(BlockPool::new());
        let queue = blocks.add_queue();
        let pool = Arc::new(HostPool { blocks, queue });
        *in_use = Arc::downgrade(&pool);
        pool
    }

    /// Memory for a buffer, which the sanitizer knows if it is enabled: that takes no block of a dropped buffer, whose
    /// accesses are errors.
    pub(super) fn allocate(self: &Arc<Self>, size: usize) -> Result<HostMemory, Problem> {
        if checks::are_enabled() {
            return HostMemory::registered(size);
        }
        let class = size_class(size as u64);
        let block = match self.blocks.take(self.queue, class) {
            Some(block) => block,
            None => self.allocate_block(class)?,
        };
        let start = block.start();
        let pooled = PooledBlock { block, size: class, pool: self.clone() };
        Ok(HostMemory { start, storage: Storage::Pooled { _block: pooled } })
    }

    fn allocate_block(&self, class: u64) -> Result<Arc<HostBlock>, Problem> {
        let size = usize::try_from(class).map_err(|_| out_of_memory())?;
        let block = HostBlock::zeroed(size).or_else(|_| {
            self.blocks.release_unused(0);
            HostBlock::zeroed(size)
        })?;
        self.blocks.add(class);
        Ok(Arc::new(block))
    }
}

impl Drop for PooledBlock {
    fn drop(&mut self) {
        self.pool.blocks.give_back(self.pool.queue, self.size, self.block.clone());
    }
}

impl BackendMemory for HostMemory {
    fn context(&self) -> ContextId {
        CONTEXT
    }

    /// Work is done when a call returns.
    fn begin_program_access(&self) -> Result<*mut u8, Problem> {
        Ok(self.address())
    }

    fn in_program(&self) -> Option<*mut u8> {
        Some(self.address())
    }
}

/// The start of `range`. The launch layer has checked that it lies within its memory.
pub(super) fn start(range: MemoryRange<'_>) -> Result<*mut u8, Problem> {
    Ok(downcast::<HostMemory>(range.memory.get())?.address().wrapping_add(range.offset))
}
