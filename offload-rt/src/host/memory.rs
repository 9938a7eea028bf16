//! Memory of the host CPU's device: the program's own, aligned for every OpenCL type.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use super::checks::{self, RED_ZONE, RegisteredBuffer};
#[cfg(feature = "dlpack")]
use crate::backend::Owner;
use crate::backend::{Backend, BackendMemory, ContextId, MemoryRange, downcast};
use crate::error::Problem;

/// OpenCL's largest vectors, `double16` and `long16`, have this alignment.
pub(super) const ALIGN: usize = 128;

/// The one context of this process.
pub(super) const CONTEXT: ContextId = ContextId { backend: Backend::Host, handle: 0 };

/// Zeroed memory.
#[derive(Debug)]
pub(crate) struct HostMemory {
    /// Where the allocation starts.
    start: NonNull<u8>,
    layout: Layout,
    /// The size of the red zones before and behind the usable memory.
    zone: usize,
    /// The registration of a buffer whose accesses are checked.
    registered: Option<RegisteredBuffer>,
    /// It is the caller's memory.
    #[cfg(feature = "dlpack")]
    owner: Option<Owner>,
}

// SAFETY: the memory is this value's own. Concurrent reads and writes are excluded by borrows of `Buffer`,
// and for kernels by the caller of a launch.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Allocates `size` bytes, or 1 if that is 0, so that empty memory has an address too.
    pub(crate) fn zeroed(size: usize) -> Result<HostMemory, Problem> {
        let layout = Layout::from_size_align(size.max(1), ALIGN).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(out_of_memory)?;
        Ok(HostMemory {
            start,
            layout,
            zone: 0,
            registered: None,
            #[cfg(feature = "dlpack")]
            owner: None,
        })
    }

    /// The caller's memory of `size` bytes, which `owner` keeps.
    #[cfg(feature = "dlpack")]
    pub(super) fn adopted(start: NonNull<u8>, size: usize, owner: Owner) -> Result<HostMemory, Problem> {
        let layout = Layout::from_size_align(size, 1).map_err(|_| out_of_memory())?;
        let address = start.as_ptr().expose_provenance();
        let registered = checks::are_enabled().then(|| RegisteredBuffer::new(address, size));
        Ok(HostMemory { start, layout, zone: 0, registered, owner: Some(owner) })
    }

    /// Allocates memory between two red zones, which instrumented kernels must not access.
    pub(super) fn with_red_zones(size: usize) -> Result<HostMemory, Problem> {
        let mut memory = HostMemory::zeroed(RED_ZONE.saturating_mul(2).saturating_add(size))?;
        memory.zone = RED_ZONE;
        Ok(memory)
    }

    /// Allocates a buffer between two red zones, and registers it: every kernel may have its address.
    pub(super) fn registered(size: usize) -> Result<HostMemory, Problem> {
        let mut memory = HostMemory::with_red_zones(size)?;
        memory.registered = Some(RegisteredBuffer::new(memory.address().expose_provenance(), size));
        Ok(memory)
    }

    /// Memory for a buffer of the program, which the sanitizer knows if it is enabled.
    pub(crate) fn for_buffer(size: usize) -> Result<HostMemory, Problem> {
        if checks::are_enabled() { HostMemory::registered(size) } else { HostMemory::zeroed(size) }
    }

    pub(crate) fn address(&self) -> *mut u8 {
        self.start.as_ptr().wrapping_add(self.zone)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        #[cfg(feature = "dlpack")]
        if self.owner.is_some() {
            return;
        }
        match self.registered.take() {
            Some(registered) => registered.free(self.start, self.layout),
            // SAFETY: it was allocated with this layout.
            None => unsafe { dealloc(self.start.as_ptr(), self.layout) },
        }
    }
}

impl BackendMemory for HostMemory {
    fn context(&self) -> ContextId {
        CONTEXT
    }

    fn in_program(&self) -> Option<*mut u8> {
        Some(self.address())
    }
}

pub(super) fn out_of_memory() -> Problem {
    Problem::from("there is not so much memory".to_string())
}

/// The start of `range`. The launch layer has checked that it lies within its memory.
pub(super) fn start(range: MemoryRange<'_>) -> Result<*mut u8, Problem> {
    Ok(downcast::<HostMemory>(range.memory.get())?.address().wrapping_add(range.offset))
}
