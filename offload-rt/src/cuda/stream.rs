//! Streams, device memory and events of CUDA's driver.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use super::api::{
    CU_EVENT_DEFAULT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE,
    CUDA_ERROR_NOT_READY, CUdeviceptr, CUevent, CUstream, CuError, CuResult, call,
};
use super::context::{Context, Entered};
use super::driver::problem;
use crate::driver::{
    ContextId, DeviceAddress, DriverEvent, DriverMemory, DriverStream, FillPattern, MemoryRange, Owner, own,
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

#[derive(Debug)]
pub(super) struct CudaMemory {
    address: CUdeviceptr,
    context: ContextId,
    /// The stream that it was borrowed for.
    only_in: Option<CUstream>,
    held: MemoryHeld,
}

#[derive(Debug)]
enum MemoryHeld {
    /// It was allocated here, and is released in this context.
    Own(Arc<Context>),
    /// It is the caller's.
    Owned { _owner: Owner },
    /// It is the caller's, who outlives this.
    #[cfg(feature = "cudarc-0_19")]
    Borrowed,
}

#[derive(Debug)]
struct CudaEvent {
    raw: CUevent,
    context: Arc<Context>,
}

// SAFETY: the driver's functions may be called from any thread; the handle of a stream is only compared.
unsafe impl Send for CudaMemory {}
// SAFETY: as above.
unsafe impl Sync for CudaMemory {}
// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for CudaStream {}
// SAFETY: as above.
unsafe impl Sync for CudaStream {}
// SAFETY: as above.
unsafe impl Send for CudaEvent {}
// SAFETY: as above; an event is recorded once, when it is made.
unsafe impl Sync for CudaEvent {}

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
        let (from, size) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: the memory has room for `bytes`, which lives until the driver has read it: see below.
        unsafe { call!(entered.functions(), cuMemcpyHtoDAsync_v2(to, from, size, self.raw)) }?;
        match is_read_later(&entered, bytes) {
            true => self.wait(&entered),
            false => Ok(()),
        }
    }

    /// An event that is not recorded yet.
    fn event(&self, entered: &Entered<'_>) -> Result<CudaEvent, Problem> {
        let mut raw = ptr::null_mut();
        // SAFETY: a context is current; the function writes one handle.
        unsafe { call!(entered.functions(), cuEventCreate(&raw mut raw, CU_EVENT_DEFAULT)) }
            .map_err(failed("cannot make an event"))?;
        Ok(CudaEvent { raw, context: self.context.clone() })
    }

    /// Records `event` at the present end; after an error nothing that was queued is under way.
    fn end(&self, event: CudaEvent, entered: &Entered<'_>) -> Result<Box<dyn DriverEvent>, Problem> {
        // SAFETY: both are of the current context.
        match unsafe { call!(entered.functions(), cuEventRecord(event.raw, self.raw)) } {
            Ok(()) => Ok(Box::new(event)),
            Err(error) => {
                let _ = self.wait(entered);
                Err(failed("cannot make an event")(error))
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
    let (mut kind, address) = (0u32, bytes.as_ptr().addr() as CUdeviceptr);
    let (place, attribute) = ((&raw mut kind).cast(), CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
    // SAFETY: the attribute's value is one number of this size; the driver looks whether it knows the address.
    let told = unsafe { call!(entered.functions(), cuPointerGetAttribute(place, attribute, address)) };
    // "CUDA_ERROR_INVALID_VALUE if the pointer was not allocated with, mapped by, or registered with CUDA".
    told.map_or_else(|error| error.code() != Some(CUDA_ERROR_INVALID_VALUE), |()| true)
}

fn failed(what: &'static str) -> impl Fn(CuError) -> Problem {
    move |error| problem(error).during(what)
}

/// Where `range` starts, for work in `stream`.
pub(super) fn start(range: MemoryRange<'_>, stream: CUstream) -> Result<CUdeviceptr, Problem> {
    range.memory.device_address().at(range.offset, stream.cast())
}

impl DriverStream for CudaStream {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn handle(&self) -> *mut c_void {
        self.raw.cast()
    }

    fn allocate(&self, size: usize) -> Result<Box<dyn DriverMemory>, Problem> {
        let (entered, mut address) = (self.context.enter().map_err(problem)?, 0);
        // SAFETY: a context is current; the function writes one address.
        unsafe { call!(entered.functions(), cuMemAlloc_v2(&raw mut address, size)) }.map_err(problem)?;
        let held = MemoryHeld::Own(self.context.clone());
        Ok(Box::new(CudaMemory { address, context: self.context.id(), only_in: None, held }))
    }

    fn write(&self, to: MemoryRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        self.copy_in(start(to, self.raw)?, bytes).map_err(failed("cannot copy to a buffer"))
    }

    fn read(&self, from: MemoryRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        let failed = failed("cannot copy from a buffer");
        let (entered, from) = (self.context.enter().map_err(&failed)?, start(from, self.raw)?);
        let (into, size) = (bytes.as_mut_ptr().cast(), bytes.len());
        // SAFETY: the range has this size, and `bytes` lives until the stream has been waited for.
        unsafe { call!(entered.functions(), cuMemcpyDtoHAsync_v2(into, from, size, self.raw)) }
            .map_err(&failed)?;
        self.wait(&entered).map_err(failed)
    }

    unsafe fn write_later(
        &self,
        to: MemoryRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn DriverEvent>, Problem> {
        let failed = failed("cannot copy to a buffer");
        let (entered, size) = (self.context.enter().map_err(&failed)?, to.size);
        let (to, event) = (start(to, self.raw)?, self.event(&entered)?);
        // SAFETY: the range has this size; by the contract the bytes stay until the event.
        unsafe { call!(entered.functions(), cuMemcpyHtoDAsync_v2(to, bytes.cast(), size, self.raw)) }
            .map_err(failed)?;
        self.end(event, &entered)
    }

    unsafe fn read_later(
        &self,
        from: MemoryRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn DriverEvent>, Problem> {
        let failed = failed("cannot copy from a buffer");
        let (entered, size) = (self.context.enter().map_err(&failed)?, from.size);
        let (from, event) = (start(from, self.raw)?, self.event(&entered)?);
        // SAFETY: as above.
        unsafe { call!(entered.functions(), cuMemcpyDtoHAsync_v2(bytes.cast(), from, size, self.raw)) }
            .map_err(failed)?;
        self.end(event, &entered)
    }

    fn copy_from(
        &self,
        source: &dyn DriverStream,
        from: MemoryRange<'_>,
        to: MemoryRange<'_>,
    ) -> Result<bool, Problem> {
        let Ok(source) = own::<CudaStream>(source) else { return Ok(false) };
        let failed = failed("cannot copy between devices");
        let (from, to, size) = (start(from, source.raw)?, start(to, self.raw)?, to.size);
        self.wait_for(&*source.record()?)?;
        let entered = self.context.enter().map_err(&failed)?;
        let (to_context, from_context) = (self.context.raw(), source.context.raw());
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
        let (entered, size) = (self.context.enter().map_err(&failed)?, to.size);
        let (from, to) = (start(from, self.raw)?, start(to, self.raw)?);
        // SAFETY: both ranges have this size, and do not overlap.
        unsafe { call!(entered.functions(), cuMemcpyDtoDAsync_v2(to, from, size, self.raw)) }.map_err(failed)
    }

    fn fill(&self, to: MemoryRange<'_>, pattern: FillPattern) -> Result<(), Problem> {
        let failed = failed("cannot fill a buffer");
        let (entered, size) = (self.context.enter().map_err(&failed)?, to.size);
        let (functions, to, stream) = (entered.functions(), start(to, self.raw)?, self.raw);
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

    fn record(&self) -> Result<Box<dyn DriverEvent>, Problem> {
        let entered = self.context.enter().map_err(failed("cannot make an event"))?;
        self.end(self.event(&entered)?, &entered)
    }

    fn wait_for(&self, event: &dyn DriverEvent) -> Result<(), Problem> {
        let failed = failed("cannot wait for an event");
        let (entered, event) = (self.context.enter().map_err(&failed)?, own::<CudaEvent>(event)?);
        // SAFETY: the stream is of the current context, and the event may be of another; 0 is the only flag of old drivers.
        unsafe { call!(entered.functions(), cuStreamWaitEvent(self.raw, event.raw, 0)) }.map_err(failed)
    }

    fn synchronize(&self) -> Result<(), Problem> {
        let failed = failed("the work of the stream failed");
        let entered = self.context.enter().map_err(&failed)?;
        self.wait(&entered).map_err(failed)
    }
}

impl CudaMemory {
    /// The caller's memory, which `owner` keeps.
    pub(super) fn owned(address: CUdeviceptr, context: ContextId, owner: Owner) -> CudaMemory {
        CudaMemory { address, context, only_in: None, held: MemoryHeld::Owned { _owner: owner } }
    }

    /// The caller's memory, who outlives the result, for work in `stream`.
    #[cfg(feature = "cudarc-0_19")]
    pub(super) fn borrowed(address: CUdeviceptr, context: ContextId, stream: CUstream) -> CudaMemory {
        CudaMemory { address, context, only_in: Some(stream), held: MemoryHeld::Borrowed }
    }

    pub(super) fn address(&self) -> CUdeviceptr {
        self.address
    }
}

impl DriverMemory for CudaMemory {
    fn context(&self) -> ContextId {
        self.context
    }

    fn device_address(&self) -> DeviceAddress {
        DeviceAddress { start: self.address, only_in: self.only_in.map_or(0, |stream| stream.addr()) }
    }
}

impl DriverEvent for CudaEvent {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn wait(&self) -> Result<(), Problem> {
        let failed = failed("the work before an event failed");
        let entered = self.context.enter().map_err(&failed)?;
        // SAFETY: the event lives.
        unsafe { call!(entered.functions(), cuEventSynchronize(self.raw)) }.map_err(failed)
    }

    fn is_done(&self) -> Result<bool, Problem> {
        let failed = failed("the work before an event failed");
        let entered = self.context.enter().map_err(&failed)?;
        // SAFETY: the event lives.
        match unsafe { call!(entered.functions(), cuEventQuery(self.raw)) } {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(CUDA_ERROR_NOT_READY) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    fn since(&self, earlier: &dyn DriverEvent) -> Result<Duration, Problem> {
        let failed = failed("the driver does not tell times");
        let (entered, earlier) = (self.context.enter().map_err(&failed)?, own::<CudaEvent>(earlier)?);
        let mut milliseconds = 0f32;
        // SAFETY: both events were recorded, and the work before them is done; the function writes one number.
        unsafe {
            call!(entered.functions(), cuEventElapsedTime(&raw mut milliseconds, earlier.raw, self.raw))
        }
        .map_err(failed)?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1000.0).unwrap_or_default())
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

impl Drop for CudaMemory {
    fn drop(&mut self) {
        let MemoryHeld::Own(context) = &self.held else { return };
        if let Ok(entered) = context.enter() {
            // SAFETY: it was allocated once; the driver waits for kernels that use memory of `cuMemAlloc`.
            let _ = unsafe { call!(entered.functions(), cuMemFree_v2(self.address)) };
        }
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was created once; the driver waits for what uses it.
            let _ = unsafe { call!(entered.functions(), cuEventDestroy_v2(self.raw)) };
        }
    }
}
