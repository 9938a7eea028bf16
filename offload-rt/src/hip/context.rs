//! The device that is current in a thread.

use std::ffi::{c_int, c_uint, c_void};

use super::api::{HipApi, HipResult};
use crate::backend::{Backend, ContextId};
use crate::gpu::{ContextApi, PoolProperties, RawPool, Retired, call, operations, release_all};

impl ContextApi for HipApi {
    /// A device's ordinal: the runtime makes its primary context when it is first needed, and keeps it.
    type ContextHandle = c_int;
    type Previous = c_int;

    fn context_id(device: &c_int) -> ContextId {
        ContextId { backend: Backend::Hip, handle: usize::try_from(*device).unwrap_or(usize::MAX) }
    }

    #[inline]
    fn enter(&'static self, device: &c_int) -> HipResult<Option<c_int>> {
        let mut current = 0;
        // SAFETY: the function writes one number.
        unsafe { call!(self, hipGetDevice(&raw mut current)) }?;
        if current == *device {
            return Ok(None);
        }
        // SAFETY: the runtime has listed this device.
        unsafe { call!(self, hipSetDevice(*device)) }?;
        Ok(Some(current))
    }

    #[inline]
    fn leave(&'static self, previous: c_int) {
        // SAFETY: it was the thread's device.
        let _ = unsafe { call!(self, hipSetDevice(previous)) };
    }
    fn ordinal(context: &c_int) -> c_int {
        *context
    }

    fn release_retired(&'static self, retired: Vec<Retired>) {
        release_all(self, retired);
    }

    fn has_pools(&self) -> bool {
        self.hipMemPoolCreate.is_some() && self.hipMallocFromPoolAsync.is_some()
    }

    operations! {
        create_pool(pool: *mut RawPool, properties: *const PoolProperties) => hipMemPoolCreate(pool, properties);
        set_pool_attribute(pool: RawPool, attribute: c_uint, value: *mut c_void) =>
            hipMemPoolSetAttribute(pool, attribute, value);
        destroy_pool(pool: RawPool) => hipMemPoolDestroy(pool);
    }
}
