//! Memory of the program that the runtime has locked (<https://rocm.docs.amd.com/projects/HIP/en/latest/reference/hip_runtime_api/modules/memory_management.html>).

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use super::api::{HipResult, call, hipHostMallocPortable};
use super::context::Context;
use crate::backend::BackendHostMemory;

#[derive(Debug)]
pub(super) struct HipHostMemory {
    address: *mut c_void,
    context: Arc<Context>,
}

// SAFETY: the memory is this value's own, and the runtime's functions may be called from any thread.
unsafe impl Send for HipHostMemory {}
// SAFETY: as above; who reads and writes it at the same time is decided by borrows of `Pinned`.
unsafe impl Sync for HipHostMemory {}

impl HipHostMemory {
    /// Of `size` bytes, of which there is at least one, for all devices of the process.
    pub(super) fn new(context: Arc<Context>, size: usize) -> HipResult<HipHostMemory> {
        let entered = context.enter()?;
        let mut address = ptr::null_mut();
        // SAFETY: the device is current; the function writes one address.
        unsafe { call!(entered.functions(), hipHostMalloc(&raw mut address, size, hipHostMallocPortable)) }?;
        drop(entered);
        Ok(HipHostMemory { address, context })
    }
}

impl BackendHostMemory for HipHostMemory {
    fn address(&self) -> *mut u8 {
        self.address.cast()
    }
}

impl Drop for HipHostMemory {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was allocated once. Who copies from and to it waits, or keeps it until the copy is done.
            let _ = unsafe { call!(entered.functions(), hipHostFree(self.address)) };
        }
    }
}
