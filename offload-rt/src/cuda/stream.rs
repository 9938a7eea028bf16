//! Streams of CUDA's driver.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use super::api::{
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE, CUdeviceptr,
    CUstream, CuResult, call,
};
use super::context::{Context, Entered};
use super::driver::{failed, problem};
use super::event::CudaEvent;
use super::memory::{CudaMemory, start};
use crate::backend::{
    BackendEvent, BackendMemory, BackendStream, ContextId, FillPattern, MemoryRange, Owner, downcast,
};
use crate::error::Problem;

/// Work for the device, in order.
#[derive(Debug)]
pub(super) struct CudaStream {
    pub(super) raw: CUstream,
    context: Arc<Context>,
    /// Of a stream that is the caller's.
    owner: Option<Owner>,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for CudaStream {}
// SAFETY: as above.
unsafe impl Sync for CudaStream {}

impl CudaStream {
    pub(super) fn new(context: Arc<Context>) -> CuResult<CudaStream> {
        let mut raw = ptr::null_mut();
        let entered = context.enter()?;
        // Non-blocking: not ordered with the default stream that other code of the process may use.
        // SAFETY: a context is current; the function writes one handle.
        unsafe { call!(entered.functions(), cuStreamCreate(&raw mut raw, CU_STREAM_NON_BLOCKING)) }?;
        drop(entered);
        Ok(CudaStream { raw, context, owner: None })
    }

    /// The caller's stream `raw`; `None` if it is of another context.
    ///
    /// # Safety
    /// `raw` is a stream of this driver, and `owner` keeps it.
    pub(super) unsafe fn adopt(
        context: Arc<Context>,
        raw: CUstream,
        owner: Owner,
    ) -> CuResult<Option<CudaStream>> {
        let mut own = ptr::null_mut();
        let entered = context.enter()?;
        // SAFETY: by the contract; the function writes one handle.
        unsafe { call!(entered.functions(), cuStreamGetCtx(raw, &raw mut own)) }?;
        drop(entered);
        Ok((own == context.raw()).then_some(CudaStream { raw, context, owner: Some(owner) }))
    }

    /// Copies `bytes`, which are the caller's again on return, to `to`, which has room for them.
    pub(super) fn copy_in(&self, to: CUdeviceptr, bytes: &[u8]) -> CuResult<()> {
        let entered = self.context.enter()?;
        let from = bytes.as_ptr().cast();
        let size = bytes.len();
        // SAFETY: the memory has room for `bytes`, which lives until the driver has read it: see below.
        unsafe { call!(entered.functions(), cuMemcpyHtoDAsync_v2(to, from, size, self.raw)) }?;
        if is_read_later(&entered, bytes) { self.wait(&entered) } else { Ok(()) }
    }

    /// Records `event` at the present end; after an error no queued work is in flight.
    fn end(&self, event: CudaEvent, entered: &Entered<'_>) -> Result<Box<dyn BackendEvent>, Problem> {
        match event.record(self.raw, entered) {
            Ok(()) => Ok(Box::new(event)),
            Err(problem) => {
                let _ = self.wait(entered);
                Err(problem)
            }
        }
    }

    pub(super) fn wait(&self, entered: &Entered<'_>) -> CuResult<()> {
        // SAFETY: the stream lives.
        unsafe { call!(entered.functions(), cuStreamSynchronize(self.raw)) }
    }
}

/// Whether the driver may read `bytes` after a call to copy them. It stages ordinary memory during the call, but not
/// memory that it has locked, nor any where the device reads ordinary memory by itself
/// (<https://docs.nvidia.com/cuda/cuda-driver-api/api-sync-behavior.html>).
fn is_read_later(entered: &Entered<'_>, bytes: &[u8]) -> bool {
    if entered.limits().reads_pageable_memory {
        return true;
    }
    let mut kind = 0u32;
    let address = bytes.as_ptr().addr() as CUdeviceptr;
    let place = (&raw mut kind).cast();
    let attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    // SAFETY: the attribute's value is one number of this size; the driver looks whether it knows the address.
    match unsafe { call!(entered.functions(), cuPointerGetAttribute(place, attribute, address)) } {
        Ok(()) => true,
        // "CUDA_ERROR_INVALID_VALUE if the pointer was not allocated with, mapped by, or registered with CUDA".
        Err(error) => error.code() != Some(CUDA_ERROR_INVALID_VALUE),
    }
}

impl BackendStream for CudaStream {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn handle(&self) -> *mut c_void {
        self.raw.cast()
    }

    fn allocate(&self, size: usize) -> Result<Box<dyn BackendMemory>, Problem> {
        Ok(Box::new(CudaMemory::allocate(&self.context, size).map_err(problem)?))
    }

    fn write(&self, to: MemoryRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        self.copy_in(start(to, self.raw)?, bytes).map_err(failed("cannot copy to a buffer"))
    }

    fn read(&self, from: MemoryRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        let failed = failed("cannot copy from a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let from = start(from, self.raw)?;
        let into = bytes.as_mut_ptr().cast();
        let size = bytes.len();
        // SAFETY: the range has this size, and `bytes` lives until the stream has been waited for.
        unsafe { call!(entered.functions(), cuMemcpyDtoHAsync_v2(into, from, size, self.raw)) }
            .map_err(&failed)?;
        self.wait(&entered).map_err(failed)
    }

    unsafe fn write_later(
        &self,
        to: MemoryRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let failed = failed("cannot copy to a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let size = to.size;
        let to = start(to, self.raw)?;
        let event = CudaEvent::new(&self.context, &entered)?;
        // SAFETY: the range has this size; by the contract the bytes stay until the event.
        unsafe { call!(entered.functions(), cuMemcpyHtoDAsync_v2(to, bytes.cast(), size, self.raw)) }
            .map_err(failed)?;
        self.end(event, &entered)
    }

    unsafe fn read_later(
        &self,
        from: MemoryRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let failed = failed("cannot copy from a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let size = from.size;
        let from = start(from, self.raw)?;
        let event = CudaEvent::new(&self.context, &entered)?;
        // SAFETY: as above.
        unsafe { call!(entered.functions(), cuMemcpyDtoHAsync_v2(bytes.cast(), from, size, self.raw)) }
            .map_err(failed)?;
        self.end(event, &entered)
    }

    fn copy_from(
        &self,
        source: &dyn BackendStream,
        from: MemoryRange<'_>,
        to: MemoryRange<'_>,
    ) -> Result<bool, Problem> {
        let Ok(source) = downcast::<CudaStream>(source) else { return Ok(false) };
        let failed = failed("cannot copy between devices");
        let size = to.size;
        let from = start(from, source.raw)?;
        let to = start(to, self.raw)?;
        self.wait_for(&*source.record()?)?;
        let entered = self.context.enter().map_err(&failed)?;
        let to_context = self.context.raw();
        let from_context = source.context.raw();
        // SAFETY: both ranges have this size, and are of these contexts.
        unsafe {
            let functions = entered.functions();
            call!(functions, cuMemcpyPeerAsync(to, to_context, from, from_context, size, self.raw))
        }
        .map_err(failed)?;
        drop(entered);
        // Releasing the memory waits for work of its own context alone.
        source.wait_for(&*self.record()?)?;
        Ok(true)
    }

    fn copy(&self, from: MemoryRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        let failed = failed("cannot copy between buffers");
        let entered = self.context.enter().map_err(&failed)?;
        let size = to.size;
        let from = start(from, self.raw)?;
        let to = start(to, self.raw)?;
        // SAFETY: both ranges have this size, and do not overlap.
        unsafe { call!(entered.functions(), cuMemcpyDtoDAsync_v2(to, from, size, self.raw)) }.map_err(failed)
    }

    fn fill(&self, to: MemoryRange<'_>, pattern: FillPattern) -> Result<(), Problem> {
        let failed = failed("cannot fill a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let size = to.size;
        let functions = entered.functions();
        let to = start(to, self.raw)?;
        let stream = self.raw;
        // SAFETY: the range has this size, a multiple of the pattern's, and starts at one.
        let filled = unsafe {
            match pattern {
                FillPattern::Bytes1(value) => call!(functions, cuMemsetD8Async(to, value, size, stream)),
                FillPattern::Bytes2(value) => call!(functions, cuMemsetD16Async(to, value, size / 2, stream)),
                FillPattern::Bytes4(value) => call!(functions, cuMemsetD32Async(to, value, size / 4, stream)),
            }
        };
        filled.map_err(failed)
    }

    fn record(&self) -> Result<Box<dyn BackendEvent>, Problem> {
        let entered = self.context.enter().map_err(failed("cannot make an event"))?;
        self.end(CudaEvent::new(&self.context, &entered)?, &entered)
    }

    fn wait_for(&self, event: &dyn BackendEvent) -> Result<(), Problem> {
        let failed = failed("cannot wait for an event");
        let entered = self.context.enter().map_err(&failed)?;
        let event = downcast::<CudaEvent>(event)?;
        // SAFETY: the stream is of the current context, and the event may be of another; 0 is the only flag of old drivers.
        unsafe { call!(entered.functions(), cuStreamWaitEvent(self.raw, event.raw, 0)) }.map_err(failed)
    }

    fn synchronize(&self) -> Result<(), Problem> {
        let failed = failed("the work of the stream failed");
        let entered = self.context.enter().map_err(&failed)?;
        self.wait(&entered).map_err(failed)
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        if self.owner.is_some() {
            return;
        }
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was created once; the driver keeps it until its work is done.
            let _ = unsafe { call!(entered.functions(), cuStreamDestroy_v2(self.raw)) };
        }
    }
}
