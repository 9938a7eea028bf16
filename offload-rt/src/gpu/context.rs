//! A context of a device, and making it the calling thread's.

use std::marker::PhantomData;

use super::api::DriverApi;
use super::error::ApiResult;
use super::limits::Limits;
use crate::backend::ContextId;

/// A context that stays valid as long as this lives, with the limits of its device.
#[derive(Debug)]
pub(crate) struct Context<A: DriverApi> {
    api: &'static A,
    handle: A::ContextHandle,
    limits: Limits,
}

/// The context is the current one of the thread while this lives.
pub(crate) struct Entered<'c, A: DriverApi> {
    context: &'c Context<A>,
    /// What the thread had, if it was another.
    previous: Option<A::Previous>,
    /// A context is current in one thread: this must not go to another.
    _thread: PhantomData<*mut ()>,
}

impl<A: DriverApi> Context<A> {
    pub(crate) fn new(api: &'static A, handle: A::ContextHandle, limits: Limits) -> Context<A> {
        Context { api, handle, limits }
    }

    pub(super) fn api(&self) -> &'static A {
        self.api
    }

    pub(crate) fn handle(&self) -> &A::ContextHandle {
        &self.handle
    }

    /// Makes the context the thread's until the result is dropped. Other code of the process may have set another one
    /// since the last call, so this asks each time: libraries keep it in the thread's own memory.
    #[inline]
    pub(crate) fn enter(&self) -> ApiResult<Entered<'_, A>, A> {
        let previous = self.api.enter(&self.handle)?;
        Ok(Entered { context: self, previous, _thread: PhantomData })
    }

    pub(crate) fn id(&self) -> ContextId {
        A::context_id(&self.handle)
    }
}

impl<A: DriverApi> Entered<'_, A> {
    pub(crate) fn api(&self) -> &'static A {
        self.context.api
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.context.limits
    }
}

impl<A: DriverApi> Drop for Entered<'_, A> {
    #[inline]
    fn drop(&mut self) {
        if let Some(previous) = self.previous.take() {
            self.context.api.leave(previous);
        }
    }
}
