//! A context of a device, its primary one or the caller's, and making it the calling thread's.

use std::marker::PhantomData;
use std::ptr;

use super::api::{CUcontext, CuResult, DeviceId, Functions, call};
use super::limits::Limits;
use crate::backend::{Backend, ContextId, Owner};

/// A context that stays valid as long as this lives.
#[derive(Debug)]
pub(super) struct Context {
    raw: CUcontext,
    device: DeviceId,
    limits: Limits,
    held: Held,
}

#[derive(Debug)]
enum Held {
    /// A reference to the device's primary context.
    Primary,
    /// The caller's context.
    Owned { _owner: Owner },
}

// SAFETY: the driver's functions may be called from any thread, and a context may be current in several.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// While it lives, its context is the current one of the thread.
pub(super) struct Entered<'c> {
    context: &'c Context,
    /// The thread had another context, or none.
    is_pushed: bool,
    /// A context is current in one thread: this must not go to another.
    _thread: PhantomData<*mut ()>,
}

impl Context {
    /// Takes a reference to the context of `device`; the driver makes it if this is the first.
    pub(super) fn retain(device: DeviceId) -> CuResult<Context> {
        let limits = Limits::new(device)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the device was found by the driver; the function writes one handle.
        unsafe { call!(device.functions, cuDevicePrimaryCtxRetain(&raw mut raw, device.raw)) }?;
        Ok(Context { raw, device, limits, held: Held::Primary })
    }

    /// The caller's context `raw`.
    ///
    /// # Safety
    /// `raw` is a context of this driver, and `owner` keeps it.
    pub(super) unsafe fn adopt(
        functions: &'static Functions,
        raw: CUcontext,
        owner: Owner,
    ) -> CuResult<Context> {
        let mut device = 0;
        let mut popped = ptr::null_mut();
        // SAFETY: by the contract; each function writes one value, and the stack is left as it was.
        unsafe {
            call!(functions, cuCtxPushCurrent_v2(raw))?;
            let queried = call!(functions, cuCtxGetDevice(&raw mut device));
            call!(functions, cuCtxPopCurrent_v2(&raw mut popped))?;
            queried?;
        }
        let device = DeviceId { functions, raw: device };
        Ok(Context { raw, device, limits: Limits::new(device)?, held: Held::Owned { _owner: owner } })
    }

    pub(super) fn raw(&self) -> CUcontext {
        self.raw
    }

    pub(super) fn device(&self) -> DeviceId {
        self.device
    }

    /// Makes the context the thread's until the result is dropped.
    pub(super) fn enter(&self) -> CuResult<Entered<'_>> {
        let functions = self.device.functions;
        let mut current = ptr::null_mut();
        // SAFETY: the function writes one handle.
        unsafe { call!(functions, cuCtxGetCurrent(&raw mut current)) }?;
        let is_pushed = current != self.raw;
        if is_pushed {
            // SAFETY: the context is retained.
            unsafe { call!(functions, cuCtxPushCurrent_v2(self.raw)) }?;
        }
        Ok(Entered { context: self, is_pushed, _thread: PhantomData })
    }

    pub(super) fn id(&self) -> ContextId {
        id_of(self.raw)
    }
}

/// The context with this handle.
pub(super) fn id_of(context: CUcontext) -> ContextId {
    ContextId { backend: Backend::Cuda, handle: context.addr() }
}

impl Drop for Context {
    fn drop(&mut self) {
        match self.held {
            // SAFETY: it was retained once. A failure leaves nothing to be done.
            Held::Primary => unsafe {
                let _ = call!(self.device.functions, cuDevicePrimaryCtxRelease_v2(self.device.raw));
            },
            Held::Owned { .. } => {}
        }
    }
}

impl Entered<'_> {
    pub(super) fn functions(&self) -> &'static Functions {
        self.context.device.functions
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.context.limits
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if !self.is_pushed {
            return;
        }
        let mut popped = ptr::null_mut();
        // SAFETY: this thread pushed the context, and calls between push and pop leave the stack as they found it.
        let _ = unsafe { call!(self.functions(), cuCtxPopCurrent_v2(&raw mut popped)) };
    }
}
