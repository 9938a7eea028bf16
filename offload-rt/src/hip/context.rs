//! A device's primary context, and making the device the calling thread's.

use std::ffi::c_int;
use std::marker::PhantomData;

use super::api::{DeviceId, Functions, HipResult, call};
use super::limits::Limits;
use crate::backend::{Backend, ContextId};

/// The primary context of a device, which the runtime makes when it is first needed and keeps.
#[derive(Debug)]
pub(super) struct Context {
    device: DeviceId,
    limits: Limits,
}

/// While it lives, its device is the current one of the thread.
pub(super) struct Entered<'c> {
    context: &'c Context,
    /// The device that the thread had, if it was another.
    before: Option<c_int>,
    /// A device is current in one thread: this must not go to another.
    _thread: PhantomData<*mut ()>,
}

impl Context {
    pub(super) fn new(device: DeviceId, limits: Limits) -> Context {
        Context { device, limits }
    }

    pub(super) fn ordinal(&self) -> c_int {
        self.device.ordinal
    }

    /// Makes the device the thread's until the result is dropped. Other code of the process may have set another one
    /// since the last call, so this asks each time: the runtime keeps the number in the thread's own memory.
    pub(super) fn enter(&self) -> HipResult<Entered<'_>> {
        let functions = self.device.functions;
        let mut current = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(functions, hipGetDevice(&raw mut current)) }?;
        let before = (current != self.device.ordinal).then_some(current);
        if before.is_some() {
            // SAFETY: the runtime has listed this device.
            unsafe { call!(functions, hipSetDevice(self.device.ordinal)) }?;
        }
        Ok(Entered { context: self, before, _thread: PhantomData })
    }

    pub(super) fn id(&self) -> ContextId {
        ContextId {
            backend: Backend::Hip,
            handle: usize::try_from(self.device.ordinal).unwrap_or(usize::MAX),
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
        let Some(before) = self.before else { return };
        // SAFETY: it was the thread's device. A failure leaves nothing to be done.
        let _ = unsafe { call!(self.functions(), hipSetDevice(before)) };
    }
}
