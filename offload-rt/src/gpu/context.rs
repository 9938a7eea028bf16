//! A context of a device, and making it the calling thread's.

use std::fmt::Debug;
use std::marker::PhantomData;

use super::error::{ApiResult, ResultTexts};
use super::limits::Limits;
use crate::backend::ContextId;

/// What a library makes current in a thread.
pub(crate) trait ContextApi: ResultTexts {
    /// A device's context, and what keeps it valid.
    type ContextHandle: Debug + Send + Sync;
    /// What a thread had as its current context.
    type Previous;

    fn context_id(context: &Self::ContextHandle) -> ContextId;

    /// Makes `context` the thread's; returns what [`leave`](ContextApi::leave) restores, if it was another.
    fn enter(&'static self, context: &Self::ContextHandle) -> ApiResult<Option<Self::Previous>, Self>;

    /// Restores what the thread had. A failure leaves nothing to be done.
    fn leave(&'static self, previous: Self::Previous);
}

/// A context that stays valid as long as this lives, with the limits of its device.
#[derive(Debug)]
pub(crate) struct Context<A: ContextApi> {
    api: &'static A,
    handle: A::ContextHandle,
    limits: Limits,
}

/// The context is the current one of the thread while this lives.
pub(crate) struct Entered<'c, A: ContextApi> {
    context: &'c Context<A>,
    /// What the thread had, if it was another.
    previous: Option<A::Previous>,
    /// A context is current in one thread: this must not go to another.
    _thread: PhantomData<*mut ()>,
}

impl<A: ContextApi> Context<A> {
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

impl<A: ContextApi> Entered<'_, A> {
    pub(crate) fn api(&self) -> &'static A {
        self.context.api
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.context.limits
    }
}

impl<A: ContextApi> Drop for Entered<'_, A> {
    #[inline]
    fn drop(&mut self) {
        if let Some(previous) = self.previous.take() {
            self.context.api.leave(previous);
        }
    }
}
