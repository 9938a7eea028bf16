//! A stream of its own for each call, so that threads do not wait for each other, and timing on it.

use std::time::Duration;

use cudarc::driver::result::{DriverError, event, stream};
use cudarc::driver::sys::{CUevent, CUevent_flags, CUstream};

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
    pub(super) fn new(entered: &'c Entered<'c>) -> Result<Stream<'c>, DriverError> {
        // Non-blocking: not ordered with the default stream that other code of the process may use.
        let raw = stream::create(stream::StreamKind::NonBlocking)?;
        Ok(Stream { raw, entered })
    }

    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Waits for all that was put into it.
    pub(super) fn wait(&self) -> Result<(), DriverError> {
        // SAFETY: the stream lives.
        unsafe { stream::synchronize(self.raw) }
    }

    /// Marks the present end of the stream.
    pub(super) fn mark(&self) -> Result<Event<'_>, DriverError> {
        let event = Event { raw: event::create(CUevent_flags::CU_EVENT_DEFAULT)?, stream: self };
        // SAFETY: both are of the current context.
        unsafe { event::record(event.raw, self.raw)? };
        Ok(event)
    }
}

impl Event<'_> {
    /// How long the device took from `earlier` to here; zero if the driver does not tell. The stream has been waited
    /// for.
    pub(super) fn since(&self, earlier: &Event<'_>) -> Duration {
        // SAFETY: both were recorded in this stream.
        let milliseconds = unsafe { self.stream.entered.driver().elapsed(earlier.raw, self.raw) };
        let seconds = f64::from(milliseconds.unwrap_or(0.0)) / 1000.0;
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: it was created once; the driver waits for what uses it.
        let _ = unsafe { event::destroy(self.raw) };
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // SAFETY: it was created once. Work that a failed call left in it may still use buffers: wait for that first.
        unsafe {
            let _ = stream::synchronize(self.raw);
            let _ = stream::destroy(self.raw);
        }
    }
}
