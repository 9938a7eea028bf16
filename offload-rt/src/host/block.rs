//! Allocations of the host CPU's device.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use crate::error::Problem;

/// OpenCL's largest vectors, `double16` and `long16`, have this alignment.
pub(super) const ALIGN: usize = 128;

/// The alignment of the C library's `calloc`, which leaves new pages as they are. For a larger alignment the standard library
/// writes zeros over all of them.
const CALLOC_ALIGN: usize = 16;

/// Zeroed memory, which is aligned to [`ALIGN`] from [`HostBlock::start`] on.
#[derive(Debug)]
pub(super) struct HostBlock {
    allocation: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is this value's own.
unsafe impl Send for HostBlock {}
// SAFETY: it gives an address alone.
unsafe impl Sync for HostBlock {}

impl HostBlock {
    /// Allocates `size` bytes, or 1 if that is 0, so that empty memory has an address too.
    pub(super) fn zeroed(size: usize) -> Result<HostBlock, Problem> {
        let whole = size.max(1).checked_add(ALIGN - CALLOC_ALIGN).ok_or_else(out_of_memory)?;
        let layout = Layout::from_size_align(whole, CALLOC_ALIGN).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not 0.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(out_of_memory)?;
        Ok(HostBlock { allocation, layout })
    }

    /// The first aligned byte.
    pub(super) fn start(&self) -> NonNull<u8> {
        let padding = self.allocation.as_ptr().align_offset(ALIGN);
        // SAFETY: the allocation is larger by the most that the padding can be.
        unsafe { self.allocation.add(padding) }
    }

    /// The size of the allocation in bytes.
    pub(super) fn size(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for HostBlock {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.allocation.as_ptr(), self.layout) };
    }
}

pub(super) fn out_of_memory() -> Problem {
    Problem::from("there is not so much memory".to_string())
}
