//! The context that a call works in: that of its stream, the thread's, or the primary one of a device.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use super::failure::{Failure, INVALID_DEVICE, Outcome};
use crate::cuda::api::{CUcontext, CUdevice, CUstream, CudaApi, DeviceId};
use crate::cuda::driver::CudaDriver;
use crate::gpu::call;

/// Handles up to this one stand for the default streams of the current context (`CU_STREAM_LEGACY`,
/// `CU_STREAM_PER_THREAD`).
const LAST_DEFAULT_STREAM: usize = 2;

/// The current context of the thread while this lives.
pub(super) struct Current {
    pub(super) driver: CudaDriver,
    pub(super) raw: CUcontext,
    /// Whether the thread had another one.
    pushed: bool,
    /// A context is current in one thread.
    _thread: PhantomData<*mut ()>,
}

impl Current {
    /// The thread's context. If it has none, the primary one of device 0 becomes its own, as CUDA's runtime has it.
    pub(super) fn for_thread() -> Outcome<Current> {
        let driver = CudaDriver::open()?;
        let api = driver.functions();
        let mut raw = ptr::null_mut();
        // SAFETY: the function writes one handle.
        unsafe { call!(api, cuCtxGetCurrent(&raw mut raw)) }?;
        if raw.is_null() {
            raw = primary(api, device(api, 0)?)?;
            // SAFETY: primary contexts that are taken here are never released.
            unsafe { call!(api, cuCtxPushCurrent_v2(raw)) }?;
        }
        Ok(Current { driver, raw, pushed: false, _thread: PhantomData })
    }

    /// The context of `stream`; for a default stream that of [`Current::for_thread`].
    ///
    /// # Safety
    /// `stream` is a stream of CUDA.
    pub(super) unsafe fn for_stream(stream: CUstream) -> Outcome<Current> {
        let driver = CudaDriver::open()?;
        let api = driver.functions();
        if stream.addr() <= LAST_DEFAULT_STREAM || api.cuStreamGetCtx.is_none() {
            return Current::for_thread();
        }
        let mut raw = ptr::null_mut();
        let mut current = ptr::null_mut();
        // SAFETY: by the contract; each function writes one handle.
        unsafe {
            call!(api, cuStreamGetCtx(stream, &raw mut raw))?;
            call!(api, cuCtxGetCurrent(&raw mut current))?;
        }
        let pushed = current != raw;
        if pushed {
            // SAFETY: a stream's context lives as long as the stream.
            unsafe { call!(api, cuCtxPushCurrent_v2(raw)) }?;
        }
        Ok(Current { driver, raw, pushed, _thread: PhantomData })
    }

    pub(super) fn api(&self) -> &'static CudaApi {
        self.driver.functions()
    }

    pub(super) fn device(&self) -> Outcome<DeviceId> {
        let api = self.api();
        let mut raw = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(api, cuCtxGetDevice(&raw mut raw)) }?;
        Ok(DeviceId { api, raw })
    }

    /// Keeps the primary context of the device if it is active, as it is where this one is it: modules are loaded in it.
    pub(super) fn retain_primary(&self) -> Outcome {
        let device = self.device()?;
        let mut flags: c_uint = 0;
        let mut active: c_int = 0;
        // SAFETY: the function writes two numbers. Where it is lacking, any context is taken as it is.
        let asked = unsafe {
            call!(self.api(), cuDevicePrimaryCtxGetState(device.raw, &raw mut flags, &raw mut active))
        };
        if asked.is_ok() && active != 0 {
            primary(self.api(), device)?;
        }
        Ok(())
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        if self.pushed {
            let mut popped = ptr::null_mut();
            // SAFETY: this thread pushed the context, and the calls since have left the stack as they found it.
            let _ = unsafe { call!(self.api(), cuCtxPopCurrent_v2(&raw mut popped)) };
        }
    }
}

/// Makes the primary context of the device with this number the thread's own.
pub(super) fn set_device(number: c_int) -> Outcome {
    let driver = CudaDriver::open()?;
    let api = driver.functions();
    let raw = primary(api, device(api, number)?)?;
    // SAFETY: primary contexts that are taken here are never released.
    Ok(unsafe { call!(api, cuCtxSetCurrent(raw)) }?)
}

/// The device with this number.
pub(super) fn device(api: &'static CudaApi, number: c_int) -> Outcome<DeviceId> {
    let devices = DeviceId::all(api)?;
    let found = usize::try_from(number).ok().and_then(|number| devices.get(number));
    found.copied().ok_or_else(|| {
        Failure::new(
            INVALID_DEVICE,
            format!("there is no device {number}: the driver shows {}", devices.len()),
        )
    })
}

/// The primary context of `device`, which is kept from the first call on: modules are loaded in it.
fn primary(api: &'static CudaApi, device: DeviceId) -> Outcome<CUcontext> {
    /// Addresses of contexts by device. The thread that takes one is not the only one that uses it.
    static TAKEN: Mutex<BTreeMap<CUdevice, usize>> = Mutex::new(BTreeMap::new());
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = taken.get(&device.raw) {
        return Ok(ptr::with_exposed_provenance_mut(*context));
    }
    let mut raw = ptr::null_mut();
    // SAFETY: the function writes one handle.
    unsafe { call!(api, cuDevicePrimaryCtxRetain(&raw mut raw, device.raw)) }?;
    taken.insert(device.raw, raw.expose_provenance());
    Ok(raw)
}
