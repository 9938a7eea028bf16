//! Memory of the host CPU's device: the program's own, aligned for every OpenCL type.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use super::checks::{RED_ZONE, Registered};
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
    /// Bytes before what may be used, and behind it.
    zone: usize,
    /// Of a buffer whose accesses are looked at.
    registered: Option<Registered>,
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
        Ok(HostMemory { start, layout, zone: 0, registered: None })
    }

    /// The same between two red zones, which kernels that tell of their accesses must not touch.
    pub(super) fn apart(size: usize) -> Result<HostMemory, Problem> {
        let mut memory = HostMemory::zeroed(RED_ZONE.saturating_mul(2).saturating_add(size))?;
        memory.zone = RED_ZONE;
        Ok(memory)
    }

    /// The same for a buffer, of which every kernel may have the address.
    pub(super) fn between_red_zones(size: usize) -> Result<HostMemory, Problem> {
        let mut memory = HostMemory::apart(size)?;
        memory.registered = Some(Registered::new(memory.address().expose_provenance(), size));
        Ok(memory)
    }

    pub(super) fn address(&self) -> *mut u8 {
        self.start.as_ptr().wrapping_add(self.zone)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        match self.registered.take() {
            Some(registered) => registered.free(self.start, self.layout),
            // SAFETY: it was allocated with this layout.
            None => unsafe { dealloc(self.start.as_ptr(), self.layout) },
        }
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
