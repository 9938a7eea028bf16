//! Pinned memory: memory of the program that the library has locked.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use super::api::DriverApi;
use super::context::Context;
use super::error::ApiResult;
use crate::backend::BackendHostMemory;

#[derive(Debug)]
pub(crate) struct GpuHostMemory<A: DriverApi> {
    address: *mut c_void,
    context: Arc<Context<A>>,
}

// SAFETY: the memory is this value's own, and the library's functions may be called from any thread.
unsafe impl<A: DriverApi> Send for GpuHostMemory<A> {}
// SAFETY: as above; who reads and writes it at the same time is decided by borrows of `Pinned`.
unsafe impl<A: DriverApi> Sync for GpuHostMemory<A> {}

impl<A: DriverApi> GpuHostMemory<A> {
    /// Of `size` bytes, of which there is at least one, for all devices of the process.
    pub(crate) fn new(context: Arc<Context<A>>, size: usize) -> ApiResult<GpuHostMemory<A>, A> {
        let entered = context.enter()?;
        let mut address = ptr::null_mut();
        // SAFETY: the context is current; the function writes one address.
        unsafe { entered.api().allocate_host(&raw mut address, size) }?;
        drop(entered);
        Ok(GpuHostMemory { address, context })
    }
}

impl<A: DriverApi> BackendHostMemory for GpuHostMemory<A> {
    fn address(&self) -> *mut u8 {
        self.address.cast()
    }
}

impl<A: DriverApi> Drop for GpuHostMemory<A> {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was allocated once. Copies from and to it are waited for, or keep it until they are done.
            let _ = unsafe { entered.api().free_host(self.address) };
        }
    }
}
