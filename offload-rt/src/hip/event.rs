//! Events of HIP's runtime.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use super::api::{call, hipErrorNotReady, hipEvent_t, hipEventDefault, hipStream_t};
use super::context::{Context, Entered};
use super::runtime::failed;
use crate::backend::{BackendEvent, ContextId, downcast};
use crate::error::Problem;

/// The end of work in a stream, recorded once.
#[derive(Debug)]
pub(super) struct HipEvent {
    pub(super) raw: hipEvent_t,
    context: Arc<Context>,
}

// SAFETY: the runtime's functions may be called from any thread.
unsafe impl Send for HipEvent {}
// SAFETY: as above; an event is recorded once, when it is made.
unsafe impl Sync for HipEvent {}

impl HipEvent {
    /// An event that is not recorded yet.
    pub(super) fn new(context: &Arc<Context>, entered: &Entered<'_>) -> Result<HipEvent, Problem> {
        let mut raw = ptr::null_mut();
        // SAFETY: the device is current; the function writes one handle.
        unsafe { call!(entered.functions(), hipEventCreateWithFlags(&raw mut raw, hipEventDefault)) }
            .map_err(failed("cannot make an event"))?;
        Ok(HipEvent { raw, context: context.clone() })
    }

    /// Records it at the present end of `stream`.
    pub(super) fn record(&self, stream: hipStream_t, entered: &Entered<'_>) -> Result<(), Problem> {
        // SAFETY: both are of the current device.
        unsafe { call!(entered.functions(), hipEventRecord(self.raw, stream)) }
            .map_err(failed("cannot make an event"))
    }
}

impl BackendEvent for HipEvent {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn wait(&self) -> Result<(), Problem> {
        let failed = failed("the work before an event failed");
        let entered = self.context.enter().map_err(&failed)?;
        // SAFETY: the event lives.
        unsafe { call!(entered.functions(), hipEventSynchronize(self.raw)) }.map_err(failed)
    }

    fn is_done(&self) -> Result<bool, Problem> {
        let failed = failed("the work before an event failed");
        let entered = self.context.enter().map_err(&failed)?;
        // SAFETY: the event lives.
        match unsafe { call!(entered.functions(), hipEventQuery(self.raw)) } {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(hipErrorNotReady) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    fn since(&self, earlier: &dyn BackendEvent) -> Result<Duration, Problem> {
        let failed = failed("the runtime does not tell times");
        let entered = self.context.enter().map_err(&failed)?;
        let earlier = downcast::<HipEvent>(earlier)?;
        let mut milliseconds = 0f32;
        // SAFETY: both events were recorded, and the work before them is done; the function writes one number.
        unsafe {
            call!(entered.functions(), hipEventElapsedTime(&raw mut milliseconds, earlier.raw, self.raw))
        }
        .map_err(failed)?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1000.0).unwrap_or_default())
    }
}

impl Drop for HipEvent {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was created once; the runtime keeps what work in a stream needs of it.
            let _ = unsafe { call!(entered.functions(), hipEventDestroy(self.raw)) };
        }
    }
}
