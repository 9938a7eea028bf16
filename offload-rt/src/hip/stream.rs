//! Streams of HIP's runtime.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

use super::api::{
    HipResult, call, hipDeviceptr_t, hipErrorInvalidValue, hipMemoryTypeUnregistered, hipPointerAttribute_t,
    hipStream_t, hipStreamNonBlocking,
};
use super::context::{Context, Entered};
use super::event::HipEvent;
use super::memory::{HipMemory, start};
use super::runtime::{failed, problem};
use crate::backend::{
    BackendEvent, BackendMemory, BackendStream, ContextId, FillPattern, MemoryRange, Owner, downcast,
};
use crate::error::Problem;

/// Work for the device, in order.
#[derive(Debug)]
pub(super) struct HipStream {
    pub(super) raw: hipStream_t,
    context: Arc<Context>,
    /// Of a stream that is the caller's.
    owner: Option<Owner>,
}

// SAFETY: the runtime's functions may be called from any thread.
unsafe impl Send for HipStream {}
// SAFETY: as above.
unsafe impl Sync for HipStream {}

impl HipStream {
    pub(super) fn new(context: Arc<Context>) -> HipResult<HipStream> {
        let mut raw = ptr::null_mut();
        let entered = context.enter()?;
        // Non-blocking: not ordered with the default stream that other code of the process may use.
        // SAFETY: the device is current; the function writes one handle.
        unsafe { call!(entered.functions(), hipStreamCreateWithFlags(&raw mut raw, hipStreamNonBlocking)) }?;
        drop(entered);
        Ok(HipStream { raw, context, owner: None })
    }

    /// The caller's stream `raw`; `None` if it is of another device, as far as the runtime tells.
    ///
    /// # Safety
    /// `raw` is a stream of this runtime and of the context's device, and `owner` keeps it.
    pub(super) unsafe fn adopt(
        context: Arc<Context>,
        raw: hipStream_t,
        owner: Owner,
    ) -> HipResult<Option<HipStream>> {
        let entered = context.enter()?;
        let mut device = context.ordinal();
        if entered.functions().hipStreamGetDevice.is_some() {
            // SAFETY: by the contract; the function writes one number.
            unsafe { call!(entered.functions(), hipStreamGetDevice(raw, &raw mut device)) }?;
        }
        drop(entered);
        let is_own = device == context.ordinal();
        Ok(is_own.then_some(HipStream { raw, context, owner: Some(owner) }))
    }

    /// Copies `bytes`, which are the caller's again on return, to `to`, which has room for them.
    pub(super) fn copy_in(&self, to: hipDeviceptr_t, bytes: &[u8]) -> HipResult<()> {
        let entered = self.context.enter()?;
        let from = bytes.as_ptr().cast_mut().cast();
        let size = bytes.len();
        // SAFETY: the memory has room for `bytes`, which lives until the runtime has read it: see below.
        unsafe { call!(entered.functions(), hipMemcpyHtoDAsync(to, from, size, self.raw)) }?;
        if is_read_later(&entered, bytes) { self.wait(&entered) } else { Ok(()) }
    }

    /// Records `event` at the present end; after an error no queued work is in flight.
    fn end(&self, event: HipEvent, entered: &Entered<'_>) -> Result<Box<dyn BackendEvent>, Problem> {
        match event.record(self.raw, entered) {
            Ok(()) => Ok(Box::new(event)),
            Err(problem) => {
                let _ = self.wait(entered);
                Err(problem)
            }
        }
    }

    pub(super) fn wait(&self, entered: &Entered<'_>) -> HipResult<()> {
        // SAFETY: the stream lives.
        unsafe { call!(entered.functions(), hipStreamSynchronize(self.raw)) }
    }
}

/// Whether the runtime may read `bytes` after a call to copy them: "If host or dest are not pinned, the memory copy will be
/// performed synchronously" (the documentation of `hipMemcpyAsync`). What it does not know is not pinned.
fn is_read_later(entered: &Entered<'_>, bytes: &[u8]) -> bool {
    let mut attributes = hipPointerAttribute_t {
        kind: hipMemoryTypeUnregistered,
        device: 0,
        device_pointer: ptr::null_mut(),
        host_pointer: ptr::null_mut(),
        is_managed: 0,
        allocation_flags: 0,
    };
    let address = bytes.as_ptr().cast();
    // SAFETY: the function fills the structure, and looks whether it knows the address.
    match unsafe { call!(entered.functions(), hipPointerGetAttributes(&raw mut attributes, address)) } {
        Ok(()) => attributes.kind != hipMemoryTypeUnregistered,
        Err(error) => error.code() != Some(hipErrorInvalidValue),
    }
}

impl BackendStream for HipStream {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn handle(&self) -> *mut c_void {
        self.raw.cast()
    }

    fn allocate(&self, size: usize) -> Result<Box<dyn BackendMemory>, Problem> {
        Ok(Box::new(HipMemory::allocate(&self.context, size).map_err(problem)?))
    }

    fn write(&self, to: MemoryRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        self.copy_in(start(to)?, bytes).map_err(failed("cannot copy to a buffer"))
    }

    fn read(&self, from: MemoryRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        let failed = failed("cannot copy from a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let from = start(from)?;
        let into = bytes.as_mut_ptr().cast();
        let size = bytes.len();
        // SAFETY: the range has this size, and `bytes` lives until the stream has been waited for.
        unsafe { call!(entered.functions(), hipMemcpyDtoHAsync(into, from, size, self.raw)) }
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
        let to = start(to)?;
        let event = HipEvent::new(&self.context, &entered)?;
        // SAFETY: the range has this size; by the contract the bytes stay until the event.
        unsafe {
            let bytes = bytes.cast_mut().cast();
            call!(entered.functions(), hipMemcpyHtoDAsync(to, bytes, size, self.raw))
        }
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
        let from = start(from)?;
        let event = HipEvent::new(&self.context, &entered)?;
        // SAFETY: as above.
        unsafe { call!(entered.functions(), hipMemcpyDtoHAsync(bytes.cast(), from, size, self.raw)) }
            .map_err(failed)?;
        self.end(event, &entered)
    }

    fn copy_from(
        &self,
        source: &dyn BackendStream,
        from: MemoryRange<'_>,
        to: MemoryRange<'_>,
    ) -> Result<bool, Problem> {
        let Ok(source) = downcast::<HipStream>(source) else { return Ok(false) };
        let failed = failed("cannot copy between devices");
        if self.context.enter().map_err(&failed)?.functions().hipMemcpyPeerAsync.is_none() {
            return Ok(false);
        }
        let size = to.size;
        let from = start(from)?;
        let to = start(to)?;
        self.wait_for(&*source.record()?)?;
        let entered = self.context.enter().map_err(&failed)?;
        let [to_device, from_device] = [&self.context, &source.context].map(|context| context.ordinal());
        // SAFETY: both ranges have this size, and are of these devices.
        unsafe {
            let functions = entered.functions();
            call!(functions, hipMemcpyPeerAsync(to, to_device, from, from_device, size, self.raw))
        }
        .map_err(failed)?;
        drop(entered);
        // Releasing the memory waits for work of its own device alone.
        source.wait_for(&*self.record()?)?;
        Ok(true)
    }

    fn copy(&self, from: MemoryRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        let failed = failed("cannot copy between buffers");
        let entered = self.context.enter().map_err(&failed)?;
        let size = to.size;
        let from = start(from)?;
        let to = start(to)?;
        // SAFETY: both ranges have this size, and do not overlap.
        unsafe { call!(entered.functions(), hipMemcpyDtoDAsync(to, from, size, self.raw)) }.map_err(failed)
    }

    fn fill(&self, to: MemoryRange<'_>, pattern: FillPattern) -> Result<(), Problem> {
        let failed = failed("cannot fill a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let size = to.size;
        let functions = entered.functions();
        let to = start(to)?;
        let stream = self.raw;
        // SAFETY: the range has this size, a multiple of the pattern's, and starts at one.
        let filled = unsafe {
            match pattern {
                FillPattern::Bytes1(value) => call!(functions, hipMemsetD8Async(to, value, size, stream)),
                FillPattern::Bytes2(value) => {
                    call!(functions, hipMemsetD16Async(to, value, size / 2, stream))
                }
                FillPattern::Bytes4(value) => {
                    let value: c_int = value.cast_signed();
                    call!(functions, hipMemsetD32Async(to, value, size / 4, stream))
                }
            }
        };
        filled.map_err(failed)
    }

    fn record(&self) -> Result<Box<dyn BackendEvent>, Problem> {
        let entered = self.context.enter().map_err(failed("cannot make an event"))?;
        self.end(HipEvent::new(&self.context, &entered)?, &entered)
    }

    fn wait_for(&self, event: &dyn BackendEvent) -> Result<(), Problem> {
        let failed = failed("cannot wait for an event");
        let entered = self.context.enter().map_err(&failed)?;
        let event = downcast::<HipEvent>(event)?;
        // SAFETY: the stream is of the current device, and the event may be of another; there are no flags.
        unsafe { call!(entered.functions(), hipStreamWaitEvent(self.raw, event.raw, 0)) }.map_err(failed)
    }

    fn synchronize(&self) -> Result<(), Problem> {
        let failed = failed("the work of the stream failed");
        let entered = self.context.enter().map_err(&failed)?;
        self.wait(&entered).map_err(failed)
    }
}

impl Drop for HipStream {
    fn drop(&mut self) {
        if self.owner.is_some() {
            return;
        }
        if let Ok(entered) = self.context.enter() {
            // "If commands are still executing on the specified stream, some may complete execution before the queue is
            // deleted": the others would be lost.
            let _ = self.wait(&entered);
            // SAFETY: it was created once.
            let _ = unsafe { call!(entered.functions(), hipStreamDestroy(self.raw)) };
        }
    }
}
