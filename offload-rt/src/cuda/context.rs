//! A device's primary context, and making it the calling thread's.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::result::{DriverError, primary_ctx};
use cudarc::driver::sys::{self, CUcontext, CUdevice};

use super::driver::Driver;
use super::limits::Limits;

/// A reference to the primary context of a device.
#[derive(Debug)]
pub(super) struct Context {
    raw: CUcontext,
    device: CUdevice,
    driver: Arc<Driver>,
    limits: Limits,
}

// SAFETY: the driver's functions may be called from any thread, and a context may be current in several.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// While it lives, its context is the current one of the thread.
pub(super) struct Entered<'c> {
    context: &'c Context,
    /// A context is current in one thread: this must not go to another.
    _thread: PhantomData<*mut ()>,
}

impl Context {
    /// Takes a reference to the context of `device`; the driver makes it if this is the first.
    pub(super) fn retain(driver: &Arc<Driver>, device: CUdevice) -> Result<Context, DriverError> {
        let limits = Limits::of(device)?;
        // SAFETY: the device was found by the driver.
        let raw = unsafe { primary_ctx::retain(device)? };
        Ok(Context { raw, device, driver: driver.clone(), limits })
    }

    /// Makes the context the thread's until the result is dropped.
    pub(super) fn enter(&self) -> Result<Entered<'_>, DriverError> {
        // SAFETY: the context is retained.
        unsafe { sys::cuCtxPushCurrent_v2(self.raw) }.result()?;
        Ok(Entered { context: self, _thread: PhantomData })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was retained once. A failure leaves nothing to be done.
        let _ = unsafe { primary_ctx::release(self.device) };
    }
}

impl Entered<'_> {
    pub(super) fn driver(&self) -> &Driver {
        &self.context.driver
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.context.limits
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut popped = std::ptr::null_mut();
        // SAFETY: this thread pushed the context, and calls between push and pop leave the stack as they found it.
        let _ = unsafe { sys::cuCtxPopCurrent_v2(&raw mut popped) };
    }
}
