//! Events: points in streams.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use super::api::{DriverApi, RawEvent, RawStream};
use super::context::{Context, Entered};
use super::error::{NOT_READY, failed};
use crate::backend::{BackendEvent, ContextId, downcast};
use crate::error::Problem;

/// The end of work in a stream, recorded once.
#[derive(Debug)]
pub(crate) struct GpuEvent<A: DriverApi> {
    pub(crate) raw: RawEvent,
    context: Arc<Context<A>>,
}

// SAFETY: the library's functions may be called from any thread.
unsafe impl<A: DriverApi> Send for GpuEvent<A> {}
// SAFETY: as above; an event is recorded once, when it is made.
unsafe impl<A: DriverApi> Sync for GpuEvent<A> {}

impl<A: DriverApi> GpuEvent<A> {
    /// An event that is not recorded yet.
    pub(crate) fn new(context: &Arc<Context<A>>, entered: &Entered<'_, A>) -> Result<GpuEvent<A>, Problem> {
        let mut raw = ptr::null_mut();
        // SAFETY: the context is current; the function writes one handle.
        unsafe { entered.api().create_event(&raw mut raw) }.map_err(failed("cannot make an event"))?;
        Ok(GpuEvent { raw, context: context.clone() })
    }

    /// An event that tells no times, which is cheaper; not recorded yet.
    pub(super) fn for_order(
        context: &Arc<Context<A>>,
        entered: &Entered<'_, A>,
    ) -> Result<GpuEvent<A>, Problem> {
        let mut raw = ptr::null_mut();
        // SAFETY: the context is current; the function writes one handle.
        unsafe { entered.api().create_ordering_event(&raw mut raw) }
            .map_err(failed("cannot make an event"))?;
        Ok(GpuEvent { raw, context: context.clone() })
    }

    /// Records it at the present end of `stream`.
    pub(crate) fn record(&self, stream: RawStream, entered: &Entered<'_, A>) -> Result<(), Problem> {
        // SAFETY: both are of the current context.
        unsafe { entered.api().record_event(self.raw, stream) }.map_err(failed("cannot make an event"))
    }
}

impl<A: DriverApi> BackendEvent for GpuEvent<A> {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn wait(&self) -> Result<(), Problem> {
        let failed = failed("the work before an event failed");
        let entered = self.context.enter().map_err(&failed)?;
        // SAFETY: the event lives.
        unsafe { entered.api().synchronize_event(self.raw) }.map_err(failed)
    }

    fn is_done(&self) -> Result<bool, Problem> {
        let failed = failed("the work before an event failed");
        let entered = self.context.enter().map_err(&failed)?;
        // SAFETY: the event lives.
        match unsafe { entered.api().query_event(self.raw) } {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(NOT_READY) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    fn since(&self, earlier: &dyn BackendEvent) -> Result<Duration, Problem> {
        let failed = failed("cannot measure the time between events");
        let entered = self.context.enter().map_err(&failed)?;
        let earlier = downcast::<GpuEvent<A>>(earlier)?;
        let mut milliseconds = 0f32;
        // SAFETY: both events were recorded, and the work before them is done; the function writes one number.
        unsafe { entered.api().elapsed_time(&raw mut milliseconds, earlier.raw, self.raw) }
            .map_err(failed)?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1000.0).unwrap_or_default())
    }
}

impl<A: DriverApi> Drop for GpuEvent<A> {
    fn drop(&mut self) {
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was created once; the library keeps what work in a stream needs of it.
            let _ = unsafe { entered.api().destroy_event(self.raw) };
        }
    }
}
