//! Memory of the host CPU's device: the program's own, aligned for every OpenCL type.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use super::red_zones::{RED_ZONE, Registered};
use crate::driver::{BackEnd, ContextId, DriverMemory, MemoryRange, own};
use crate::error::Problem;

/// OpenCL's largest vectors, `double16` and `long16`, have this alignment.
pub(super) const ALIGN: usize = 128;

/// The one context of this process.
pub(super) const CONTEXT: ContextId = ContextId { back_end: BackEnd::Host, handle: 0 };

/// Zeroed memory.
#[derive(Debug)]
pub(super) struct HostMemory {
    /// Where the allocation starts.
    start: NonNull<u8>,
    layout: Layout,
    /// Of a buffer whose accesses are looked at: it lies between two red zones.
    between: Option<Registered>,
}

// SAFETY: the memory is this value's own. Who reads and writes it at the same time is decided by borrows of `Buffer`,
// and for kernels by the caller of a launch.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Of `size` bytes, or 1 if that is 0, so that empty memory has an address too.
    pub(super) fn zeroed(size: usize) -> Result<HostMemory, Problem> {
        let none = || Problem::from("there is not so much memory".to_string());
        let layout = Layout::from_size_align(size.max(1), ALIGN).map_err(|_| none())?;
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(none)?;
        Ok(HostMemory { start, layout, between: None })
    }

    /// The same between two red zones, which kernels that tell of their accesses must not touch.
    pub(super) fn between_red_zones(size: usize) -> Result<HostMemory, Problem> {
        let mut memory = HostMemory::zeroed(RED_ZONE.saturating_mul(2).saturating_add(size))?;
        let start = memory.start.as_ptr().addr().saturating_add(RED_ZONE);
        memory.between = Some(Registered::new(start, size));
        Ok(memory)
    }

    pub(super) fn address(&self) -> *mut u8 {
        let offset = if self.between.is_some() { RED_ZONE } else { 0 };
        self.start.as_ptr().wrapping_add(offset)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // Before another thread may be given the same address.
        drop(self.between.take());
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

impl DriverMemory for HostMemory {
    fn context(&self) -> ContextId {
        CONTEXT
    }

    fn in_program(&self) -> Option<*mut u8> {
        Some(self.address())
    }
}

/// Where `range` starts. The layer has checked that it lies within its memory.
pub(super) fn start(range: MemoryRange<'_>) -> Result<*mut u8, Problem> {
    Ok(own::<HostMemory>(range.memory)?.address().wrapping_add(range.offset))
}
