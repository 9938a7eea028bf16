//! Handles of streams, which memory keeps too.

use std::sync::{Arc, Mutex};

use super::api::{DriverApi, RawStream};
use super::context::Context;
use super::event::GpuEvent;
use crate::backend::{BackendMemory, Owner};
use crate::error::Problem;

/// What keeps a stream of the library: memory that it allocated or used needs it.
#[derive(Debug)]
pub(super) struct StreamHandle<A: DriverApi> {
    pub(super) raw: RawStream,
    pub(super) context: Arc<Context<A>>,
    pub(super) role: StreamRole,
}

/// Memory of the graph's own, which its launches copy from.
#[derive(Debug)]
pub(super) struct GraphMemory(pub(super) Mutex<Vec<Arc<dyn BackendMemory>>>);

#[derive(Debug)]
pub(super) enum StreamRole {
    Own,
    /// It takes the work of a graph, which does not run.
    Capturing(Arc<GraphMemory>),
    /// It is the caller's.
    Adopted {
        _owner: Owner,
    },
}

impl<A: DriverApi> StreamHandle<A> {
    /// Makes later work wait for what `earlier` has, which may be of another context.
    pub(super) fn wait_for(&self, earlier: &StreamHandle<A>) -> Result<(), Problem> {
        let entered = earlier.context.enter()?;
        let event = GpuEvent::for_order(&earlier.context, &entered)?;
        event.record(earlier.raw, &entered)?;
        drop(entered);
        let entered = self.context.enter()?;
        // SAFETY: the stream is of the current context.
        Ok(unsafe { entered.api().wait_event(self.raw, event.raw) }?)
    }

    /// It takes the work of a graph.
    pub(super) fn is_capturing(&self) -> bool {
        matches!(self.role, StreamRole::Capturing(_))
    }

    /// It is the caller's.
    pub(super) fn is_adopted(&self) -> bool {
        matches!(self.role, StreamRole::Adopted { .. })
    }
}

// SAFETY: the library's functions may be called from any thread.
unsafe impl<A: DriverApi> Send for StreamHandle<A> {}
// SAFETY: as above.
unsafe impl<A: DriverApi> Sync for StreamHandle<A> {}

impl<A: DriverApi> Drop for StreamHandle<A> {
    fn drop(&mut self) {
        if self.is_adopted() {
            return;
        }
        if let Ok(entered) = self.context.enter() {
            // SAFETY: it was created once; its work is done all the same.
            let _ = unsafe { entered.api().destroy_stream(self.raw) };
        }
    }
}
