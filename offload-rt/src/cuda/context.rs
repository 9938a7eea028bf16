//! A context of a device: its primary one, or the caller's.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use super::api::{CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, CUcontext, CuResult, CudaApi, DeviceId};
use super::limits::limits;
use crate::backend::{Backend, ContextId, Owner};
use crate::gpu::{Context, ContextApi, PoolProperties, RawPool, Retired, call, operations, release_all};

/// A context that stays valid as long as this lives.
#[derive(Debug)]
pub(crate) struct CudaContext {
    raw: CUcontext,
    device: DeviceId,
    reads_pageable_memory: bool,
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
unsafe impl Send for CudaContext {}
// SAFETY: as above.
unsafe impl Sync for CudaContext {}

impl CudaContext {
    /// Takes a reference to the primary context of `device`; the driver makes it if this is the first.
    pub(crate) fn retain(device: DeviceId) -> CuResult<Context<CudaApi>> {
        let limits = limits(device)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the device was found by the driver; the function writes one handle.
        unsafe { call!(device.api, cuDevicePrimaryCtxRetain(&raw mut raw, device.raw)) }?;
        Ok(Context::new(device.api, CudaContext::new(raw, device, Held::Primary), limits))
    }

    /// The caller's context `raw`.
    ///
    /// # Safety
    /// `raw` is a context of this driver, and `owner` keeps it.
    pub(crate) unsafe fn adopt(
        api: &'static CudaApi,
        raw: CUcontext,
        owner: Owner,
    ) -> CuResult<Context<CudaApi>> {
        let mut device = 0;
        let mut popped = ptr::null_mut();
        // SAFETY: by the contract; each function writes one value, and the stack is left as it was.
        unsafe {
            call!(api, cuCtxPushCurrent_v2(raw))?;
            let queried = call!(api, cuCtxGetDevice(&raw mut device));
            call!(api, cuCtxPopCurrent_v2(&raw mut popped))?;
            queried?;
        }
        let device = DeviceId { api, raw: device };
        let handle = CudaContext::new(raw, device, Held::Owned { _owner: owner });
        Ok(Context::new(api, handle, limits(device)?))
    }

    fn new(raw: CUcontext, device: DeviceId, held: Held) -> CudaContext {
        // A driver that does not know the question is asked to wait: that is right on every device.
        let reads_pageable_memory =
            device.attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS).unwrap_or(1) != 0;
        CudaContext { raw, device, reads_pageable_memory, held }
    }

    pub(crate) fn raw(&self) -> CUcontext {
        self.raw
    }

    pub(super) fn device(&self) -> DeviceId {
        self.device
    }

    /// The device reads the program's ordinary memory by itself.
    pub(super) fn reads_pageable_memory(&self) -> bool {
        self.reads_pageable_memory
    }
}

/// The context with this handle.
pub(super) fn id_of(context: CUcontext) -> ContextId {
    ContextId { backend: Backend::Cuda, handle: context.addr() }
}

impl Drop for CudaContext {
    fn drop(&mut self) {
        match self.held {
            // SAFETY: it was retained once. A failure leaves nothing to be done.
            Held::Primary => unsafe {
                let _ = call!(self.device.api, cuDevicePrimaryCtxRelease_v2(self.device.raw));
            },
            Held::Owned { .. } => {}
        }
    }
}

impl ContextApi for CudaApi {
    type ContextHandle = CudaContext;
    /// The thread's stack of contexts keeps the one before.
    type Previous = ();

    fn context_id(context: &CudaContext) -> ContextId {
        id_of(context.raw())
    }

    #[inline]
    fn enter(&'static self, context: &CudaContext) -> CuResult<Option<()>> {
        let mut current = ptr::null_mut();
        // SAFETY: the function writes one handle.
        unsafe { call!(self, cuCtxGetCurrent(&raw mut current)) }?;
        if current == context.raw() {
            return Ok(None);
        }
        // SAFETY: the context is kept.
        unsafe { call!(self, cuCtxPushCurrent_v2(context.raw())) }?;
        Ok(Some(()))
    }

    #[inline]
    fn leave(&'static self, (): ()) {
        let mut popped = ptr::null_mut();
        // SAFETY: this thread pushed the context, and calls between push and pop leave the stack as they found it.
        let _ = unsafe { call!(self, cuCtxPopCurrent_v2(&raw mut popped)) };
    }
    fn ordinal(context: &CudaContext) -> c_int {
        context.device().raw
    }

    fn release_retired(&'static self, retired: Vec<Retired>) {
        release_all(self, retired);
    }

    fn has_pools(&self) -> bool {
        self.cuMemPoolCreate.is_some() && self.cuMemAllocFromPoolAsync.is_some()
    }

    operations! {
        create_pool(pool: *mut RawPool, properties: *const PoolProperties) => cuMemPoolCreate(pool, properties);
        set_pool_attribute(pool: RawPool, attribute: c_uint, value: *mut c_void) =>
            cuMemPoolSetAttribute(pool, attribute, value);
        destroy_pool(pool: RawPool) => cuMemPoolDestroy(pool);
    }
}
