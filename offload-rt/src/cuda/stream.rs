//! A stream of its own for each call, so that threads do not wait for each other, and timing on it.

use std::ptr;
use std::time::Duration;

use super::api::{CU_EVENT_DEFAULT, CU_STREAM_NON_BLOCKING, CUevent, CUstream, CuResult, Functions, call};
use super::context::Entered;

/// Work for the device, in order.
pub(super) struct Stream<'c> {
    raw: CUstream,
    entered: &'c Entered<'c>,
}

/// A point in a stream.
pub(super) struct Event<'s> {
    raw: CUevent,
    stream: &'s Stream<'s>,
}

impl<'c> Stream<'c> {
    /// A stream of the current context.
    pub(super) fn new(entered: &'c Entered<'c>) -> CuResult<Stream<'c>> {
        let mut raw = ptr::null_mut();
        // Non-blocking: not ordered with the default stream that other code of the process may use.
        // SAFETY: a context is current; the function writes one handle.
        unsafe { call!(entered.functions(), cuStreamCreate(&raw mut raw, CU_STREAM_NON_BLOCKING)) }?;
        Ok(Stream { raw, entered })
    }

    pub(super) fn functions(&self) -> &'static Functions {
        self.entered.functions()
    }

    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Waits for all that was put into it.
    pub(super) fn wait(&self) -> CuResult<()> {
        // SAFETY: the stream lives.
        unsafe { call!(self.functions(), cuStreamSynchronize(self.raw)) }
    }

    /// Marks the present end of the stream.
    pub(super) fn mark(&self) -> CuResult<Event<'_>> {
        let mut raw = ptr::null_mut();
        // SAFETY: a context is current; the function writes one handle.
        unsafe { call!(self.functions(), cuEventCreate(&raw mut raw, CU_EVENT_DEFAULT)) }?;
        let event = Event { raw, stream: self };
        // SAFETY: both are of the current context.
        unsafe { call!(self.functions(), cuEventRecord(event.raw, self.raw)) }?;
        Ok(event)
    }
}

impl Event<'_> {
    /// How long the device took from `earlier` to here; zero if the driver does not tell. The stream has been waited
    /// for.
    pub(super) fn since(&self, earlier: &Event<'_>) -> Duration {
        let (functions, mut milliseconds) = (self.stream.functions(), 0f32);
        // SAFETY: both were recorded in this stream; the function writes one number.
        let told =
            unsafe { call!(functions, cuEventElapsedTime(&raw mut milliseconds, earlier.raw, self.raw)) };
        let seconds = told.map_or(0.0, |()| f64::from(milliseconds) / 1000.0);
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: it was created once; the driver waits for what uses it.
        let _ = unsafe { call!(self.stream.functions(), cuEventDestroy_v2(self.raw)) };
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // SAFETY: it was created once. Work that a failed call left in it may still use buffers: wait for that first.
        unsafe {
            let _ = call!(self.functions(), cuStreamSynchronize(self.raw));
            let _ = call!(self.functions(), cuStreamDestroy_v2(self.raw));
        }
    }
}
