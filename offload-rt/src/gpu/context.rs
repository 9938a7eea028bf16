//! A context of a device, and making it the calling thread's.

use std::ffi::{c_int, c_uint, c_void};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::error::{ApiResult, ResultTexts};
use super::limits::Limits;
use super::pool::{KEPT, PoolHandle, PoolProperties, RELEASE_THRESHOLD, RawPool};
use super::retired_list::{Retired, RetiredObjects};
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

    /// The ordinal of the context's device.
    fn ordinal(context: &Self::ContextHandle) -> c_int;

    /// Whether the library has all functions for memory pools.
    fn has_pools(&self) -> bool;

    /// # Safety
    /// `properties` can be read, and `pool` written.
    unsafe fn create_pool(
        &'static self,
        pool: *mut RawPool,
        properties: *const PoolProperties,
    ) -> ApiResult<(), Self>;

    /// # Safety
    /// The pool lives, and `value` has the attribute's type.
    unsafe fn set_pool_attribute(
        &'static self,
        pool: RawPool,
        attribute: c_uint,
        value: *mut c_void,
    ) -> ApiResult<(), Self>;

    /// Releases objects of the current context after all of its work.
    fn release_retired(&'static self, retired: Vec<Retired>);

    /// # Safety
    /// The pool lives, and all its memory is released.
    unsafe fn destroy_pool(&'static self, pool: RawPool) -> ApiResult<(), Self>;
}

/// A context that stays valid as long as this lives, with the limits of its device.
#[derive(Debug)]
pub(crate) struct Context<A: ContextApi> {
    pool: OnceLock<Option<PoolHandle>>,
    /// Contexts that it was connected with.
    peers: Mutex<Vec<ContextId>>,
    retired: RetiredObjects,
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
        let retired = RetiredObjects::default();
        Context { pool: OnceLock::new(), peers: Mutex::default(), retired, api, handle, limits }
    }

    pub(super) fn api(&self) -> &'static A {
        self.api
    }

    /// What was dropped and waits for work.
    pub(super) fn retired(&self) -> &RetiredObjects {
        &self.retired
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

    /// The pool of its memory, made when it is first needed, so that its limits touch no other code of the process;
    /// `None` if library or device have none. The context is current.
    pub(super) fn pool(&self) -> Option<RawPool> {
        self.pool.get_or_init(|| self.new_pool()).as_ref().map(|pool| pool.0)
    }

    fn new_pool(&self) -> Option<PoolHandle> {
        if !self.api.has_pools() {
            return None;
        }
        let properties = PoolProperties::for_device(A::ordinal(&self.handle));
        let mut pool = ptr::null_mut();
        let mut kept = KEPT;
        // SAFETY: the properties are whole, and the function writes one handle; the attribute is a number of this size.
        unsafe {
            self.api.create_pool(&raw mut pool, &raw const properties).ok()?;
            let _ = self.api.set_pool_attribute(pool, RELEASE_THRESHOLD, (&raw mut kept).cast());
        }
        Some(PoolHandle(pool))
    }

    /// Notes that it is connected with `other`; `false` if it was before.
    pub(super) fn add_peer(&self, other: ContextId) -> bool {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !peers.contains(&other);
        if is_new {
            peers.push(other);
        }
        is_new
    }

    pub(crate) fn id(&self) -> ContextId {
        A::context_id(&self.handle)
    }
}

impl<A: ContextApi> Drop for Context<A> {
    fn drop(&mut self) {
        let retired = self.retired.take();
        if !retired.is_empty()
            && let Ok(entered) = self.enter()
        {
            entered.api().release_retired(retired);
        }
        if let Some(Some(pool)) = self.pool.get() {
            // SAFETY: it was made once; memory of it keeps the context.
            let _ = unsafe { self.api.destroy_pool(pool.0) };
        }
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
