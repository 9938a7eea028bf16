//! Memory of the program that a driver has allocated: a buffer that stays mapped as long as it lives.
//!
//! Whether its pages are locked is up to the driver, as `CL_MEM_ALLOC_HOST_PTR` says
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#memory-flags-table>).

use std::ffi::c_void;
use std::sync::Arc;

use super::api::{Buffer, ClResult, CommandQueue};
use super::context::ClContext;
use crate::backend::BackendHostMemory;

#[derive(Debug)]
pub(super) struct ClHostMemory {
    address: *mut c_void,
    // Released in this order.
    buffer: Buffer,
    queue: CommandQueue,
    _context: Arc<ClContext>,
}

// SAFETY: the memory is this value's own, and OpenCL's functions may be called from any thread.
unsafe impl Send for ClHostMemory {}
// SAFETY: as above; who reads and writes it at the same time is decided by borrows of `Pinned`.
unsafe impl Sync for ClHostMemory {}

impl ClHostMemory {
    /// Of `size` bytes, of which there is at least one.
    pub(super) fn new(context: Arc<ClContext>, size: usize) -> ClResult<ClHostMemory> {
        let buffer = Buffer::host_accessible(&context.context, size)?;
        let queue = CommandQueue::new(&context.context, context.device(), None)?;
        let address = queue.map(&buffer, size)?;
        Ok(ClHostMemory { address, buffer, queue, _context: context })
    }
}

impl BackendHostMemory for ClHostMemory {
    fn address(&self) -> *mut u8 {
        self.address.cast()
    }
}

impl Drop for ClHostMemory {
    fn drop(&mut self) {
        // A failure leaves nothing to be done; the queue keeps the buffer until it has run.
        let _ = self.queue.unmap(&self.buffer, self.address);
        let _ = self.queue.finish();
    }
}
