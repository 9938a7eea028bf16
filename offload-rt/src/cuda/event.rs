//! Events of CUDA's driver.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use super::api::{CU_EVENT_DEFAULT, CUDA_ERROR_NOT_READY, CUevent, CUstream, call};
use super::context::{Context, Entered};
use super::driver::failed;
use crate::backend::{BackendEvent, ContextId, downcast};
use crate::error::Problem;

/// The end of work in a stream, recorded once.
#[derive(Debug)]
pub(super) struct CudaEvent {
    pub(super) raw: CUevent,
    context: Arc<Context>,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for CudaEvent {}
// SAFETY: as above; an event is recorded once, when it is made.
unsafe impl Sync for CudaEvent {}

impl CudaEvent {
    /// An event that is not recorded yet.
    pub(super) fn new(context: &Arc<Context>, entered: &Entered<'_>) -> Result<CudaEvent, Problem> {
        let mut raw = ptr::null_mut();
        // SAFETY: a context is current; the function writes one handle.
        unsafe { call!(entered.functions(), cuEventCreate(&raw mut raw, CU_EVENT_DEFAULT)) }
            .map_err(failed("cannot make an event"))?;
        Ok(CudaEvent { raw, context: context.clone() })
    }

    /// Records it at the present end of `stream`.
    pub(super) fn record(&self, stream: CUstream, entered: &Entered<'_>) -> Result<(), Problem> {
        // SAFETY: both are of the current context.
        unsafe { call!(entered.functions(), cuEventRecord(self.raw, stream)) }
            .map_err(failed("cannot make an event"))
    }
}

impl BackendEvent for CudaEvent {
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

    fn since(&self, earlier: &dyn BackendEvent) -> Result<Duration, Problem> {
        let failed = failed("the driver does not tell times");
        let entered = self.context.enter().map_err(&failed)?;
        let earlier = downcast::<CudaEvent>(earlier)?;
        let mut milliseconds = 0f32;
        // SAFETY: both events were recorded, and the work before them is done; the function writes one number.
        unsafe {
            call!(entered.functions(), cuEventElapsedTime(&raw mut milliseconds, earlier.raw, self.raw))
        }
        .map_err(failed)?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1000.0).unwrap_or_default())
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
