//! Shared virtual memory: an address that the program and the device's kernels have alike.

use std::ffi::c_void;
use std::fmt;
use std::ptr;

use opencl_sys::{
    CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_MIGRATE_MEM_OBJECT_HOST,
};

use super::error::{ClError, ClResult};
use super::info::check;
use super::library::{Functions, call};
use super::object::{Buffer, CommandQueue, Context, created};

/// Memory of `clSVMAlloc`, which lives as long as this.
pub(in crate::opencl) struct SharedMemory {
    functions: &'static Functions,
    context: *mut c_void,
    address: *mut c_void,
}

impl fmt::Debug for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedMemory({:p})", self.address)
    }
}

// SAFETY: OpenCL's functions may be called from any thread; the address is only handed out.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Memory of `size` bytes, at least 1, aligned for every type of OpenCL C.
    ///
    /// # Safety
    /// The context outlives it.
    pub(in crate::opencl) unsafe fn new(context: &Context, size: usize) -> ClResult<SharedMemory> {
        let functions = context.functions;
        // SAFETY: the context lives.
        let address = unsafe { call!(functions, clSVMAlloc(context.raw, CL_MEM_READ_WRITE, size, 0)) }?;
        if address.is_null() {
            return Err(ClError::Code(CL_MEM_OBJECT_ALLOCATION_FAILURE));
        }
        Ok(SharedMemory { functions, context: context.raw, address })
    }

    /// A buffer of its first `size` bytes, which it has.
    ///
    /// # Safety
    /// The memory outlives the commands that use the buffer.
    pub(in crate::opencl) unsafe fn buffer(&self, size: usize) -> ClResult<Buffer> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        let raw = created(|status| {
            // SAFETY: the context lives, and the memory has this size.
            unsafe { call!(self.functions, clCreateBuffer(self.context, flags, size, self.address, status)) }
        })?;
        Ok(Buffer { functions: self.functions, raw })
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: it was allocated once, in this context, and no command uses it any more.
        let _ = unsafe { call!(self.functions, clSVMFree(self.context, self.address)) };
    }
}

impl CommandQueue {
    /// Queues moving a buffer to the queue's device, or to the program's memory.
    pub(in crate::opencl) fn migrate(&self, buffer: &Buffer, to_program: bool) -> ClResult<()> {
        let flags = if to_program { CL_MIGRATE_MEM_OBJECT_HOST } else { 0 };
        // SAFETY: there is one buffer, and no list of events.
        check(unsafe {
            let objects = &raw const buffer.raw;
            let none = ptr::null();
            let no_event = ptr::null_mut();
            call!(self.functions, clEnqueueMigrateMemObjects(self.raw, 1, objects, flags, 0, none, no_event))?
        })
    }
}
