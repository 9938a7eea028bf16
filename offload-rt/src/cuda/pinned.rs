//! Memory of the program that the driver has locked (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__MEM.html>).

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use super::api::{CU_MEMHOSTALLOC_PORTABLE, CuResult, call};
use super::context::Context;
use crate::backend::BackendHostMemory;

#[derive(Debug)]
pub(super) struct CudaHostMemory {
    address: *mut c_void,
    context: Arc<Context>,
}

// SAFETY: the memory is this value's own, and the driver's functions may be called from any thread.
unsafe impl Send for CudaHostMemory {}
// SAFETY: as above; who reads and writes it at the same time is decided by borrows of `Pinned`.
unsafe impl Sync for CudaHostMemory {}

impl CudaHostMemory {
    /// Of `size` bytes, of which there is at least one, for all devices of the process.
    pub(super) fn new(context: Arc<Context>, size: usize) -> CuResult<CudaHostMemory> {
        let entered = context.enter()?;
        let mut address = ptr::null_mut();
        // SAFETY: a context is current; the function writes one address.
        unsafe {
            call!(entered.functions(), cuMemHostAlloc(&raw mut address, size, CU_MEMHOSTALLOC_PORTABLE))
        }?;
        drop(entered);
        Ok(CudaHostMemory { address, context })
    }
}

impl BackendHostMemory for CudaHostMemory {
    fn address(&self) -> *mut u8 {
        self.address.cast()
    }
}

impl Drop for CudaHostMemory {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was allocated once. Who copies from and to it waits, or keeps it until the copy is done.
            let _ = unsafe { call!(entered.functions(), cuMemFreeHost(self.address)) };
        }
    }
}
